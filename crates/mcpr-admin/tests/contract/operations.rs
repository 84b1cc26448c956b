//! The JSON of every operation and of its output, which is an API.

use mcpr_admin::*;
use mcpr_protocol::RawJson;

use crate::sample::running::events;
use crate::sample::toolsets::{entries, entry};
use crate::sample::{Operator, Sample, text};

/// Sends an operation as JSON and shows both texts. Operation and output must read back as they were.
async fn exchanged<O>(operation: &O) -> String
where
    O: Operation,
    Sample: Execute<O, Operator>,
{
    let sent = serde_json::to_string(operation).unwrap();
    let again: O = serde_json::from_str(&sent).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), sent);

    let path = format!("{PREFIX}{}", O::PATH);
    let answer = dispatch(&Sample, &Operator, &path, sent.as_bytes()).await;
    let got = String::from_utf8(answer.body().to_vec()).unwrap();
    if answer.status().is_success() {
        let output: O::Output = serde_json::from_str(&got).unwrap();
        assert_eq!(serde_json::to_string(&output).unwrap(), got);
    }
    format!("POST {path}\n{sent}\n\n{}\n{got}", answer.status())
}

macro_rules! ctl_03_the_json_of {
    ($($name:ident: $operation:expr;)+) => {
        $(#[tokio::test]
        async fn $name() {
            insta::assert_snapshot!(exchanged(&$operation).await);
        })+

        #[test]
        fn ctl_03_no_operation_is_forgotten_here() {
            assert_eq!([$(stringify!($name)),+].len(), ROUTES.len());
        }
    };
}

ctl_03_the_json_of! {
    ctl_03_status: Status {};
    ctl_03_list_servers: ListServers {};
    ctl_03_list_tools: ListTools {
        server: text("git"),
        project: text("web"),
        toolset: text("dev"),
        all: true,
    };
    ctl_03_show_tool: ShowTool { name: "git_status".into() };
    ctl_03_call_tool: CallTool {
        name: "git_status".into(),
        arguments: Some(RawJson::from_static(r#"{ "n": 123456789012345678901234567890, "x": 1E400 }"#)),
    };
    ctl_03_list_resources: ListResources { server: None };
    ctl_03_read_resource: ReadResource { uri: "resource://docs/file:///a".into() };
    ctl_03_list_prompts: ListPrompts::default();
    ctl_03_get_prompt: GetPrompt { name: "docs_p".into(), arguments: [("path".into(), "a".into())].into() };
    ctl_03_create_token: CreateToken {
        client: text("cursor"),
        project: text("web"),
        servers: Some(vec!["git".into(), "docs".into()]),
        tools: Some(vec!["git.*".into(), "docs.search".into()]),
        rate: text("600/m"),
        expires: text("2027-04-15T08:00:00Z"),
        ..CreateToken::new("laptop")
    };
    ctl_03_list_tokens: ListTokens {};
    ctl_03_rotate_token: RotateToken { which: "laptop".into(), grace_seconds: Some(86400) };
    ctl_03_revoke_token: RevokeToken { which: "laptop".into() };
    ctl_03_list_secrets: ListSecrets {};
    ctl_03_set_secret: SetSecret { name: "jira-token".into(), value: Secret::new("hunter2") };
    ctl_03_remove_secret: RemoveSecret { name: "github".into() };
    ctl_03_stop: Stop {};
    ctl_03_discover_tools: DiscoverTools {
        server: text("git"),
        query: text("repository status"),
        detail: Some(Detail::Full),
        limit: Some(1),
        cursor: text("c0"),
    };
    ctl_03_enable_tool: EnableTool { name: "git.push".into() };
    ctl_03_disable_tool: DisableTool { name: "git_push".into() };
    ctl_03_override_tool: OverrideTool {
        name: "git_push".into(),
        exposed_name: text("publish"),
        description: text("Publish commits"),
    };
    ctl_03_explain_tool: ExplainTool {
        name: "git_push".into(),
        token: text("laptop"),
        project: text("web"),
        toolset: text("dev"),
    };
    ctl_03_list_toolsets: ListToolsets {};
    ctl_03_show_toolset: ShowToolset { name: "dev".into(), owner: text("operator") };
    ctl_03_build_toolset: BuildToolset {
        name: "dev".into(),
        description: text("What I need every day"),
        tools: entries(),
    };
    ctl_03_save_toolset: SaveToolset {
        name: "dev".into(),
        description: None,
        tools: vec![entry("git.status")],
        replace: true,
        force: false,
    };
    ctl_03_equip_toolset: EquipToolset { name: "dev".into(), principal: text("tk_7h2k9qmd") };
    ctl_03_unequip_toolset: UnequipToolset { principal: text("default") };
    ctl_03_active_toolset: ActiveToolset { principal: None };
    ctl_03_delete_toolset: DeleteToolset {
        name: "dev".into(),
        owner: text("tk_7h2k9qmd"),
        force: true,
    };
    ctl_03_accept_toolset: AcceptToolset { name: "dev".into(), owner: None };
    ctl_03_list_projects: ListProjects {};
    ctl_03_show_project: ShowProject { name: "web".into() };
    ctl_03_save_project: SaveProject {
        name: "web".into(),
        description: text("The shop"),
        servers: vec!["git".into(), "jira".into()],
        tags: vec!["frontend".into()],
        toolset: text("dev"),
        replace: false,
    };
    ctl_03_delete_project: DeleteProject { name: "web".into() };
    ctl_03_show_server: ShowServer { name: "git".into() };
    ctl_03_enable_server: EnableServer { name: "git".into() };
    ctl_03_disable_server: DisableServer { name: "git".into() };
    ctl_03_restart_server: RestartServer { name: "git".into() };
    ctl_03_list_pins: ListPins { server: text("git") };
    ctl_03_diff_pins: DiffPins { name: text("git.push") };
    ctl_03_approve_pins: ApprovePins {
        approvals: vec![
            Approval { server: "git".into(), tool: "push".into(), hash: text("9f86d081") },
            Approval { server: "git".into(), tool: "pull".into(), hash: None },
        ],
    };
    ctl_03_reload: Reload {};
    ctl_03_drain: Drain { wait_ms: Some(30_000) };
    ctl_03_list_history: ListHistory {
        server: text("git"),
        tool: text("status"),
        status: Some(CallStatus::ToolError),
        principal: text("tk_7h2k9qmd"),
        since: text("2027-01-15T07:00:00Z"),
        until: text("2027-01-15T08:00:00.500Z"),
        slower_than_ms: Some(2000),
        text: text("main"),
        before: text("h_0dkn5pm80r1x2"),
        after: text("h_0dkn5pm000000"),
        limit: Some(2),
        arguments: true,
    };
    ctl_03_show_call: ShowCall { id: "h_0dkn5pm80".into() };
    ctl_03_purge_history: PurgeHistory {
        before: text("2027-01-01T00:00:00Z"),
        server: text("git"),
        tool: text("status"),
        status: Some(CallStatus::Cancelled),
        principal: text("local"),
    };
    ctl_03_show_log: ShowLog {};
    ctl_03_set_log_level: SetLogLevel { level: "debug".into() };
}

#[tokio::test]
async fn ctl_03_what_is_no_operation_is_refused_and_says_why() {
    let mut said = String::new();
    for (path, body) in [
        ("/admin/v1/nonsense", "{}"),
        ("/admin/v2/status", "{}"),
        ("/admin/v1/status", ""),
        ("/admin/v1/status", "[]"),
        ("/admin/v1/tools/show", "{}"),
        ("/admin/v1/tokens/create", r#"{"name":"a","scopes":["write"]}"#),
        (
            "/admin/v1/tokens/create",
            r#"{"name":"a","expiry":"2027-04-15T08:00:00Z"}"#,
        ),
    ] {
        let answer = dispatch(&Sample, &Operator, path, body.as_bytes()).await;
        let text = String::from_utf8(answer.body().to_vec()).unwrap();
        said += &format!("{path} {body}\n{} {text}\n\n", answer.status().as_u16());
    }
    insta::assert_snapshot!(said);
}

#[test]
fn ctl_03_the_table_of_operations() {
    let scope = |route: &Route| if route.read_only { "read" } else { "admin" };
    let rows = ROUTES
        .iter()
        .map(|route| format!("{:<18}{}\n", route.path, scope(route)));
    insta::assert_snapshot!(rows.collect::<String>());
    assert_eq!(
        route("/admin/v1/stop"),
        Some(Route {
            path: "stop",
            read_only: false
        })
    );
    assert_eq!(route("/stop"), None);
}

#[test]
fn a_client_without_wishes_may_leave_all_out() {
    let create: CreateToken = serde_json::from_str(r#"{"name":"laptop"}"#).unwrap();
    let call: CallTool = serde_json::from_str(r#"{"name":"t","arguments":null}"#).unwrap();

    let save: SaveToolset = serde_json::from_str(r#"{"name":"dev","tools":[]}"#).unwrap();
    let project: SaveProject = serde_json::from_str(r#"{"name":"web"}"#).unwrap();
    let tools: ListTools = serde_json::from_str("{}").unwrap();
    let history: ListHistory = serde_json::from_str("{}").unwrap();

    assert_eq!(create, CreateToken::new("laptop"));
    assert!(!save.replace && !save.force && !project.replace && !tools.all);
    assert_eq!((history.page_size(), history.arguments), (100, false));
    assert_eq!(create.kind(), TokenKind::Pat);
    assert_eq!(
        call,
        CallTool {
            name: "t".into(),
            arguments: None
        }
    );
}

#[test]
fn ctl_03_what_happens_is_told_one_event_per_line() {
    let watch = Watch {
        kinds: vec![EventKind::Server, EventKind::Call],
    };
    let told = events().map(|event| {
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
        line
    });

    insta::assert_snapshot!(format!(
        "{}\n\n{}",
        serde_json::to_string(&watch).unwrap(),
        told.join("\n")
    ));
}

#[test]
fn log_06_a_page_of_the_history_says_how_it_goes_on() {
    let ids = |page: &HistoryList| page.calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
    let call = |id: &str| {
        CallReport {
        id: id.into(),
        ..serde_json::from_str(
            r#"{"id":"","at":"","durationUs":0,"method":"","status":"","principal":"","requestId":"","correlationId":""}"#,
        )
        .unwrap()
    }
    };

    let first = HistoryList::page(vec![call("c"), call("b"), call("a")], 2, true);
    let last = HistoryList::page(vec![call("a")], 2, false);

    assert_eq!(
        (ids(&first), first.next),
        (vec!["c".into(), "b".into()], text("b"))
    );
    assert_eq!((ids(&last), last.next), (vec!["a".into()], None));
}

#[test]
fn log_06_arguments_that_were_cut_are_shown_as_a_text() {
    assert_eq!(
        CallReport::shown_arguments(r#"{ "n":1E400 }"#).as_str(),
        r#"{ "n":1E400 }"#
    );
    assert_eq!(
        CallReport::shown_arguments(r#"{"a":"x… (8 bytes more)"#).as_str(),
        r#""{\"a\":\"x… (8 bytes more)""#
    );
}
