//! Samples of projects.

use mcpr_admin::*;

use super::text;

pub(super) fn project() -> ProjectReport {
    ProjectReport {
        name: "web".into(),
        from_file: false,
        description: text("The shop"),
        servers: vec!["git".into(), "jira".into()],
        tags: vec!["frontend".into()],
        toolset: text("dev"),
        members: vec!["git".into()],
        missing: vec!["the server `jira`".into()],
        tools: Some(12),
        estimated_tokens: Some(3100),
    }
}
