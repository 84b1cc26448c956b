//! Where the servers stand in the file of each client.

use std::path::{Path, PathBuf};

use super::convert::Entry;
use crate::clients::{ClientApp, Value};
use crate::environment::Environment;

/// The members that hold servers in the files of one client or another.
const ROOTS: [(&str, Option<ClientApp>); 5] = [
    ("mcpServers", None),
    ("servers", Some(ClientApp::VsCode)),
    ("context_servers", Some(ClientApp::Zed)),
    ("mcp_servers", Some(ClientApp::Codex)),
    ("extensions", Some(ClientApp::Goose)),
];

/// Whose file this is: its name tells if it is like no other's, else what is in it.
pub(super) fn whose(file: &Path, whole: &Value) -> Option<ClientApp> {
    let name = file.file_name()?.to_str()?;
    let by_name = match name {
        ".mcp.json" | ".claude.json" => Some(ClientApp::ClaudeCode),
        "claude_desktop_config.json" => Some(ClientApp::ClaudeDesktop),
        "cline_mcp_settings.json" => Some(ClientApp::Cline),
        "mcp_config.json" => Some(ClientApp::Windsurf),
        "mcp.json" if file.parent()?.ends_with(".cursor") => Some(ClientApp::Cursor),
        "settings.json" if whole.get("mcpServers").is_some() => Some(ClientApp::Gemini),
        _ => None,
    };
    let by_root = || ROOTS.into_iter().find(|(root, _)| whole.get(root).is_some());
    by_name.or_else(|| by_root()?.1)
}

/// The folder of the project whose file this is, unless it is one of the user's files.
pub(super) fn project(app: ClientApp, file: &Path, env: &dyn Environment) -> Option<PathBuf> {
    let full = env.absolute(file);
    if app.files(env).contains(&full) {
        return None;
    }
    let below = Path::new(app.project_file()?);
    let depth = below.components().count();
    full.ends_with(below)
        .then(|| full.ancestors().nth(depth).map(Path::to_owned))
        .flatten()
}

/// The entries of a file, in their order.
pub(super) fn entries<'v>(
    app: Option<ClientApp>,
    whole: &'v Value,
    folder: Option<&'v Path>,
) -> Vec<Entry<'v>> {
    let roots = ROOTS
        .into_iter()
        .map(|(root, _)| root)
        .filter(|root| app.is_none_or(|app| app.profile().root == *root));
    let inputs = whole.get("inputs").map(Value::items).unwrap_or_default();
    let own = roots
        .flat_map(|root| members(whole, root))
        .map(|(name, value)| Entry {
            app,
            folder,
            inputs,
            name,
            value,
            switched_off: is_off(app, whole, name),
        });
    let of_projects = (app == Some(ClientApp::ClaudeCode))
        .then(|| of_projects(whole))
        .into_iter()
        .flatten();
    own.chain(of_projects).collect()
}

/// The servers that Claude Code keeps for single folders in the user's file.
fn of_projects(whole: &Value) -> impl Iterator<Item = Entry<'_>> {
    let projects = members(whole, "projects").iter();
    projects.flat_map(|(folder, project)| {
        members(project, "mcpServers")
            .iter()
            .map(move |(name, value)| Entry {
                app: Some(ClientApp::ClaudeCode),
                folder: Some(Path::new(folder)),
                inputs: &[],
                name,
                value,
                switched_off: names(project, "disabledMcpServers", name),
            })
    })
}

/// Whether another member of the file switches a server off.
fn is_off(app: Option<ClientApp>, whole: &Value, name: &str) -> bool {
    let Some(switches) = whole.get("mcp").filter(|_| app == Some(ClientApp::Gemini)) else {
        return false;
    };
    let not_allowed = switches.get("allowed").is_some() && !names(switches, "allowed", name);
    not_allowed || names(switches, "excluded", name)
}

fn names(value: &Value, key: &str, name: &str) -> bool {
    let items = value.get(key).map(Value::items).unwrap_or_default();
    items.iter().any(|item| item.text() == Some(name))
}

fn members<'v>(value: &'v Value, key: &str) -> &'v [(String, Value)] {
    value.get(key).map(Value::members).unwrap_or_default()
}
