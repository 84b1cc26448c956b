//! Views that are narrower than others.

use mcpr_protocol::Era;
use mcpr_registry::{Kind, Listing, Selection, View};

use crate::common::{Lists, list, server, view};

fn listings() -> [Listing; 3] {
    let listed = |name, tools: &[&str]| {
        let prompt = r#"{"name":"p"}"#;
        server(name).tools(tools).lists(Kind::Prompts, &[prompt]).able()
    };
    [
        listed("git", &["status", "push", "hub.status"]),
        listed("git.hub", &["status", "issues"]),
        listed("docker", &["ps"]),
    ]
}

fn origins(view: &View) -> Vec<String> {
    view.tools().map(|tool| tool.origin.to_string()).collect()
}

#[test]
fn set_04_a_choice_shows_what_it_names_in_the_order_of_the_list() {
    let view = view(&listings());
    let chosen = |names: &[&str]| origins(&view.select(&Selection::new(names)));
    assert_eq!(
        chosen(&["docker.ps", "git.status", "git.status", "git.gone"]),
        ["git.status", "docker.ps"]
    );
    assert_eq!(
        chosen(&["git.hub.status"]),
        ["git.hub.status", "git.hub.status"],
        "both origins read so"
    );
    assert_eq!(chosen(&["*.ps", "git.push", "git.p*"]), ["git.push", "docker.ps"]);
    assert_eq!(
        chosen(&["git_status", "status"]),
        [""; 0],
        "only origin forms choose"
    );
    assert_eq!(chosen(&["*"]), origins(&view));
}

#[test]
fn set_08_what_is_not_chosen_is_as_good_as_absent() {
    let view = view(&listings());
    let chosen = view.select(&Selection::new(["git.push"]));
    assert_eq!((chosen.len(Kind::Tools), chosen.len(Kind::Prompts)), (1, 3));
    assert!(chosen.tool("docker_ps").is_none() && chosen.tool_by_origin("docker.ps").is_none());
    assert!(list(&chosen, Kind::Tools, Era::Session).starts_with(r#"[{"name":"git_push""#));
    assert_eq!(list(&view.without_tools(), Kind::Tools, Era::Stateless), "[]");
}

#[test]
fn set_04_a_view_is_never_widened() {
    let narrow = view(&listings()).without(|tool| &*tool.origin.name == "status");
    assert_eq!(
        origins(&narrow),
        ["git.push", "git.hub.status", "git.hub.issues", "docker.ps"]
    );
    let chosen = narrow.select(&Selection::new(["git.status", "git.*"]));
    assert_eq!(origins(&chosen), ["git.push", "git.hub.status", "git.hub.issues"]);
    let none = chosen.only_servers(|server| server.as_str() == "docker");
    assert_eq!(none.len(Kind::Tools), 0);
}

#[test]
fn agg_07_only_some_servers_means_all_kinds_and_unlisted_resources() {
    let docker = view(&listings()).only_servers(|server| server.as_str() == "docker");
    assert_eq!(origins(&docker), ["docker.ps"]);
    assert_eq!(docker.len(Kind::Prompts), 1);
    assert!(docker.prompt("git_p").is_none());
    assert_eq!(docker.resource("x:y").unwrap().server.as_str(), "docker");
    assert!(docker.only_servers(|_| false).resource("x:y").is_err());
}

#[test]
fn agg_06_an_origin_form_finds_by_no_other_name() {
    let view = view(&listings());
    let found = |name| view.tool_by_origin(name).map(|tool| tool.exposed.to_string());
    assert_eq!(found("docker.ps").as_deref(), Some("docker_ps"));
    assert_eq!(found("docker_ps").or_else(|| found("ps")), None);
    assert_eq!(
        found("git.hub.status").as_deref(),
        Some("git_hub_status"),
        "the first of two"
    );
}

#[test]
fn set_11_a_tool_costs_a_token_for_four_bytes_of_what_clients_get() {
    let view = view(&listings());
    let tool = view.tool("docker_ps").unwrap();
    let bytes = tool.rendered(Era::Session).as_str().len() as u64;
    assert_eq!(tool.tokens(), bytes.div_ceil(4));
}
