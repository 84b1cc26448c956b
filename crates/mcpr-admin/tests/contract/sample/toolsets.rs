//! Samples of toolsets.

use mcpr_admin::*;

use super::{definition, text};

pub(crate) fn entries() -> Vec<ToolsetEntry> {
    let pinned = ToolsetEntry {
        namespaced_name: "git.status".into(),
        definition_hash: text("sha256:5c1f"),
    };
    vec![pinned, entry("docs.*")]
}

pub(crate) fn entry(name: &str) -> ToolsetEntry {
    ToolsetEntry {
        namespaced_name: name.into(),
        definition_hash: None,
    }
}

pub(super) fn report() -> ToolsetReport {
    ToolsetReport {
        name: "dev".into(),
        owner: "operator".into(),
        from_file: false,
        description: text("What I need every day"),
        entries: 2,
        tools: Some(1),
        estimated_tokens: Some(92),
        equipped: false,
        equipped_by: vec!["default".into(), "tk_7h2k9qmd".into()],
    }
}

/// One as it is known without a gateway.
pub(super) fn offline() -> ToolsetReport {
    ToolsetReport {
        name: "web".into(),
        from_file: true,
        description: None,
        tools: None,
        estimated_tokens: None,
        equipped_by: Vec::new(),
        ..report()
    }
}

pub(super) fn detail() -> ToolsetDetail {
    let status = ToolsetTool {
        namespaced_name: "git.status".into(),
        exposed_name: text("git_status"),
        state: ToolState::Registered,
        reason: None,
        definition: DefinitionState::Breaking,
        changes: vec!["`path` is required now".into()],
        estimated_tokens: Some(92),
    };
    let docs = ToolsetTool {
        namespaced_name: "docs.*".into(),
        exposed_name: None,
        state: ToolState::Unavailable,
        reason: text("the server `docs` is down"),
        definition: DefinitionState::Missing,
        changes: Vec::new(),
        estimated_tokens: None,
    };
    ToolsetDetail {
        toolset: report(),
        entries: entries(),
        tools: vec![status, docs],
    }
}

pub(super) fn built() -> Built {
    Built {
        toolset: report(),
        replaced: true,
        warnings: vec!["`docs.*` fits no tool yet".into()],
    }
}

pub(super) fn equipped() -> Equipped {
    let signature = Signature {
        name: "git_status".into(),
        namespaced_name: "git.status".into(),
        signature: "path: string, short?: boolean".into(),
        description: text("Show repository status."),
    };
    let skipped = Skipped {
        namespaced_name: "docs.*".into(),
        reason: "the server `docs` is down".into(),
    };
    Equipped {
        toolset: report(),
        principal: "tk_7h2k9qmd".into(),
        tools: vec![signature],
        skipped: vec![skipped],
        warnings: vec!["the definition of `git.status` has changed".into()],
    }
}

pub(super) fn discovered() -> Discovered {
    let status = DiscoveredTool {
        namespaced_name: "git.status".into(),
        exposed_name: "git_status".into(),
        description: text("Show repository status."),
        estimated_tokens: 92,
        registered: true,
        toolsets: vec!["dev".into()],
        definition: Some(definition()),
    };
    Discovered {
        tools: vec![status],
        total: 12,
        estimated_tokens: 3100,
        next_cursor: text("c1"),
        unavailable: [("docs".into(), "connection refused".into())].into(),
    }
}
