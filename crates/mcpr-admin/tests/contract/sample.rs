//! A gateway that answers every operation with a fixed sample.

mod history;
mod pins;
mod projects;
pub(crate) mod running;
mod secrets;
mod switches;
pub(crate) mod toolsets;

use mcpr_admin::*;
use mcpr_protocol::RawJson;

/// The sample gateway.
pub(crate) struct Sample;

/// Whoever asks it.
pub(crate) struct Operator;

macro_rules! samples {
    ($($operation:ident => $output:expr;)+) => {
        $(impl Execute<$operation, Operator> for Sample {
            async fn execute(
                &self,
                _: &Operator,
                _: $operation,
            ) -> Result<<$operation as Operation>::Output, Failure> {
                $output
            }
        })+
    };
}

samples! {
    Status => Ok(status());
    ListServers => Ok(ServerList { servers: servers() });
    ListTools => Ok(ToolList { tools: vec![tool(), switches::hidden()] });
    ShowTool => Ok(ToolDetail { tool: tool(), definition: definition() });
    CallTool => Ok(Relayed { result: RawJson::from_static(r#"{ "content": [], "n": 123456789012345678901234567890, "x": 1E400 }"#) });
    ListResources => Ok(resources());
    ReadResource => Ok(Relayed { result: RawJson::from_static(r#"{"contents":[{"uri":"resource://docs/file:///a","text":"hi"}]}"#) });
    ListPrompts => Ok(PromptList { prompts: vec![prompt()] });
    GetPrompt => Err(down());
    CreateToken => Ok(CreatedToken { secret: Secret::new("mcpr_pat_0123456789"), token: token() });
    ListTokens => Ok(TokenList { tokens: vec![token()] });
    RotateToken => Ok(CreatedToken { secret: Secret::new("mcpr_pat_9876543210"), token: rotated() });
    RevokeToken => Ok(TokenReport { state: TokenState::Revoked, revoked: text("2027-01-16T08:00:00Z"), ..token() });
    Stop => Ok(Stopping { pid: 8123 });
    DiscoverTools => Ok(toolsets::discovered());
    EnableTool => Ok(switches::on());
    DisableTool => Ok(switches::turned_off());
    OverrideTool => Ok(switches::on());
    ExplainTool => Ok(switches::explanation());
    ListToolsets => Ok(ToolsetList { toolsets: vec![toolsets::report(), toolsets::offline()] });
    ShowToolset => Ok(toolsets::detail());
    BuildToolset => Ok(toolsets::built());
    SaveToolset => Ok(toolsets::built());
    EquipToolset => Ok(toolsets::equipped());
    UnequipToolset => Ok(Unequipped { toolset: text("dev"), principal: "default".into() });
    ActiveToolset => Ok(Active {
        principal: "tk_7h2k9qmd".into(),
        by: ActiveBy::Equipped,
        toolset: Some(toolsets::detail()),
    });
    DeleteToolset => Ok(toolsets::report());
    AcceptToolset => Ok(toolsets::detail());
    ListProjects => Ok(ProjectList { projects: vec![projects::project()] });
    ShowProject => Ok(projects::project());
    SaveProject => Ok(projects::project());
    DeleteProject => Ok(projects::project());
    ShowServer => Ok(switches::detail());
    EnableServer => Ok(switches::server());
    DisableServer => Ok(switches::off());
    RestartServer => Ok(switches::server());
    ListPins => Ok(pins::list());
    DiffPins => Ok(pins::diff());
    ApprovePins => Ok(pins::approved());
    Reload => Ok(running::reloaded());
    Drain => Ok(running::drained());
    ListHistory => Ok(history::list());
    ShowCall => Ok(history::call());
    PurgeHistory => Ok(Purged { deleted: 412 });
    ListSecrets => Ok(SecretList { secrets: vec![secrets::unset(), secrets::set()] });
    SetSecret => Ok(secrets::set());
    RemoveSecret => Ok(secrets::unset());
    ShowLog => Ok(log("info", 0));
    SetLogLevel => Ok(log("debug", 3));
}

fn log(level: &str, shed: u64) -> LogReport {
    LogReport {
        level: level.into(),
        configured: "info".into(),
        file: text("/home/ann/.local/state/mcpr/logs/mcpr_2027-01-15T08-00-00.log"),
        shed,
        lost: 0,
        history_shed: 0,
    }
}

pub(crate) fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn down() -> Failure {
    let failure = Failure::new(
        ErrorCode::Unavailable,
        "the server `docs` is down: connection refused",
    );
    failure
        .hint("it is tried again in 4 s")
        .data(RawJson::from_static(
            r#"{"reason":"server_down","retryAfterMs":4000}"#,
        ))
}

fn status() -> StatusReport {
    StatusReport {
        version: "0.1.0".into(),
        pid: 8123,
        uptime_seconds: 273_600,
        started_at: "2027-01-15T08:00:00Z".into(),
        listen: vec!["http://127.0.0.1:3282/mcp".into()],
        config_files: vec!["/home/ann/.config/mcpr/mcpr.json".into()],
        log_file: text("/home/ann/.local/state/mcpr/logs/mcpr_2027-01-15T08-00-00.log"),
        needs_restart: vec!["mcpr.control".into()],
        sessions: 2,
        calls_total: 412,
        errors_total: 1,
        servers: servers(),
    }
}

fn servers() -> Vec<ServerReport> {
    let git = ServerReport {
        name: "git".into(),
        state: ServerState::Ok,
        via: Some(Via::Stdio),
        protocol: text("2025-11-25"),
        tools: Some(12),
        prompts: Some(0),
        resources: Some(0),
        in_flight: 1,
        reason: None,
        retry_in_ms: None,
        pid: Some(8130),
        starts: 1,
        pins: None,
        backends: Vec::new(),
    };
    let docs = ServerReport {
        name: "docs".into(),
        state: ServerState::Down,
        via: Some(Via::Http),
        protocol: None,
        tools: None,
        prompts: None,
        resources: None,
        in_flight: 0,
        reason: text("connection refused"),
        retry_in_ms: Some(4000),
        pid: None,
        starts: 7,
        pins: Some(PinCounts {
            changed: 1,
            new: 1,
            held: 2,
        }),
        backends: vec![backend("10.0.0.1:8080/mcp", 3), backend("10.0.0.2:8080/mcp", 4)],
    };
    vec![git, docs]
}

fn backend(name: &str, starts: u64) -> BackendReport {
    BackendReport {
        backend: name.into(),
        state: ServerState::Down,
        protocol: None,
        in_flight: 0,
        reason: text("connection refused"),
        retry_in_ms: Some(4000),
        shunned_for_ms: None,
        pid: None,
        starts,
        tags: vec!["eu".into()],
    }
}

fn tool() -> ToolReport {
    ToolReport {
        name: "git_status".into(),
        server: "git".into(),
        origin: "status".into(),
        title: text("Status"),
        description: text("Show repository status"),
        read_only: Some(true),
        destructive: None,
        idempotent: Some(true),
        estimated_tokens: 92,
        hidden: None,
    }
}

fn definition() -> RawJson {
    RawJson::from_static(r#"{"name":"git_status", "inputSchema":{"type":"object","maximum":1E400}}"#)
}

fn resources() -> ResourceList {
    let readme = ResourceReport {
        uri: "resource://docs/file:///README.md".into(),
        server: "docs".into(),
        origin: "file:///README.md".into(),
        name: "README".into(),
        title: None,
        description: text("Start here"),
        mime_type: text("text/markdown"),
        size: Some(1200),
    };
    let page = TemplateReport {
        uri_template: "resource://docs/file:///{page}".into(),
        server: "docs".into(),
        origin: "file:///{page}".into(),
        name: "page".into(),
        title: None,
        description: None,
        mime_type: None,
    };
    ResourceList {
        resources: vec![readme],
        templates: vec![page],
    }
}

fn prompt() -> PromptReport {
    let argument = PromptArgument {
        name: "path".into(),
        description: text("What to review"),
        required: true,
    };
    PromptReport {
        name: "git_review".into(),
        server: "git".into(),
        origin: "review".into(),
        title: None,
        description: text("Review a change"),
        arguments: vec![argument],
    }
}

fn token() -> TokenReport {
    TokenReport {
        id: "tk_7h2k9qmd".into(),
        kind: TokenKind::Pat,
        name: "laptop".into(),
        prefix: "mcpr_pat_x7Q".into(),
        state: TokenState::Active,
        client: text("cursor"),
        project: text("web"),
        toolset: None,
        scopes: vec![Scope::Read, Scope::Call],
        servers: Some(vec!["git".into(), "docs".into()]),
        tools: Some(vec!["git.*".into(), "docs.search".into()]),
        rate: text("600/m"),
        created: "2027-01-15T08:00:00Z".into(),
        expires: text("2027-04-15T08:00:00Z"),
        last_used: text("2027-01-15T09:00:00Z"),
        revoked: None,
        rotated: None,
        retiring: None,
    }
}

fn rotated() -> TokenReport {
    let retiring = RetiringText {
        prefix: token().prefix,
        until: "2027-01-17T08:00:00Z".into(),
    };
    TokenReport {
        prefix: "mcpr_pat_9kW".into(),
        rotated: text("2027-01-16T08:00:00Z"),
        retiring: Some(retiring),
        ..token()
    }
}
