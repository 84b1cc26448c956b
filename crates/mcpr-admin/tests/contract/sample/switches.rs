//! Samples of what is turned on and off, renamed and explained.

use mcpr_admin::*;

use super::{servers, text, tool};

pub(super) fn server() -> ServerReport {
    servers().remove(0)
}

pub(super) fn off() -> ServerReport {
    ServerReport {
        state: ServerState::Disabled,
        reason: text("turned off"),
        pid: None,
        in_flight: 0,
        ..server()
    }
}

pub(super) fn detail() -> ServerDetail {
    let status = ServerTool {
        name: "status".into(),
        exposed_name: text("git_status"),
        hidden: None,
        estimated_tokens: 92,
    };
    let push = ServerTool {
        name: "push".into(),
        exposed_name: None,
        hidden: text("it is turned off"),
        estimated_tokens: 310,
    };
    ServerDetail {
        server: server(),
        place: text("/home/ann/.config/mcpr/mcpr.json:3"),
        tags: vec!["frontend".into()],
        switched: text("enabled"),
        title: text("Git"),
        instructions: text("Ask for the status first."),
        tools: vec![status, push],
        projects: vec!["web".into()],
    }
}

pub(super) fn on() -> ToolSwitch {
    ToolSwitch {
        namespaced_name: "git.push".into(),
        enabled: true,
        exposed_name: text("publish"),
        name: text("publish"),
        description: text("Publish commits"),
    }
}

pub(super) fn turned_off() -> ToolSwitch {
    ToolSwitch {
        enabled: false,
        exposed_name: None,
        name: None,
        description: None,
        ..on()
    }
}

pub(super) fn hidden() -> ToolReport {
    ToolReport {
        name: "git.push".into(),
        origin: "push".into(),
        hidden: text("it is turned off"),
        ..tool()
    }
}

pub(super) fn explanation() -> Explanation {
    let check = |what, verdict, found: &str, hint| Check {
        what,
        verdict,
        found: found.into(),
        hint,
    };
    Explanation {
        name: "git_push".into(),
        principal: "tk_7h2k9qmd".into(),
        visible: false,
        callable: false,
        tool: Some(hidden()),
        checks: vec![
            check(CheckedOf::Name, Verdict::Pass, "it is `push` of `git`", None),
            check(CheckedOf::Naming, Verdict::Note, "its name was shortened", None),
            check(
                CheckedOf::Switch,
                Verdict::Block,
                "it is turned off",
                text("mcpr-ctl tools enable git.push"),
            ),
        ],
        suggestions: vec!["git_pull".into()],
        route: text("git, ok, over stdio"),
    }
}
