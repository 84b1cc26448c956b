//! Files of clients as they are found, and what is taken from them.

use std::path::Path;

use super::*;
use crate::environment::tests::Fixed;

/// What a file of a client gives: each entry, with what is to be said about it.
fn taken(app: Option<ClientApp>, file: &str, text: &str) -> String {
    let env = Fixed::default().file(file, text);
    let found = read(app, Path::new(file), &env).unwrap().unwrap();
    found.iter().map(one).collect()
}

fn one(found: &Found) -> String {
    let folder = found
        .folder
        .as_ref()
        .map_or_else(String::new, |folder| format!(" ({})", folder.display()));
    match &found.server {
        Ok(server) => {
            let notes = server.notes.iter().map(|note| format!("  note: {note}\n"));
            let entry = server.entry.json_line();
            format!("{}{folder}: {entry}\n{}", found.name, notes.collect::<String>())
        }
        Err(reason) => format!("{}{folder}: not taken, {reason}\n", found.name),
    }
}

#[test]
fn cfg_02_claude_code_has_servers_of_the_user_and_of_projects() {
    let text = r#"{
      "numStartups": 7,
      "mcpServers": {
        "api": { "type": "http", "url": "${BASE:-https://api.example}/mcp", "headers": { "Authorization": "Bearer ${KEY}" }, "timeout": 600000, "alwaysLoad": true },
        "sso": { "type": "http", "url": "https://mcp.corp/mcp", "headersHelper": "/opt/hdrs.sh" },
        "events": { "type": "ws", "url": "wss://x/y" }
      },
      "projects": {
        "/home/ann/web": { "mcpServers": { "git": { "type": "stdio", "command": "uvx", "args": ["mcp-server-git"], "env": {} },
                                           "off": { "command": "./run.sh" } },
                           "disabledMcpServers": ["off"] },
        "/home/ann/empty": { "mcpServers": {} }
      }
    }"#;
    insta::assert_snapshot!(taken(Some(ClientApp::ClaudeCode), "/home/ann/.claude.json", text));
}

#[test]
fn cfg_02_a_project_s_file_runs_its_servers_in_the_project_s_folder() {
    let text = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-filesystem", "."]}}}"#;
    insta::assert_snapshot!(taken(None, "/home/ann/web/.mcp.json", text));
}

#[test]
fn cfg_02_vs_code_s_inputs_become_variables() {
    let text = r#"{
      // mine
      "inputs": [{ "type": "promptString", "id": "gh-token", "description": "GitHub token", "password": true }],
      "servers": {
        "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/", "headers": { "Authorization": "Bearer ${input:gh-token}" } },
        "here": { "type": "stdio", "command": "${workspaceFolder}/bin/x", "args": ["${userHome}", "${config:a.b}"], "envFile": "${workspaceFolder}/.env", },
      },
    }"#;
    let user = "/home/ann/.config/Code/User/mcp.json";
    insta::assert_snapshot!(taken(Some(ClientApp::VsCode), user, text));
    insta::assert_snapshot!(taken(None, "/home/ann/web/.vscode/mcp.json", text));
}

#[test]
fn cfg_02_codex_counts_in_seconds_and_names_variables() {
    let text = r#"
model = "o5"
seen = 2026-11-27T07:32:00Z
[mcp_servers.docs]
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS_TOKEN"
http_headers = { "X-Team" = "web" }
env_http_headers = { "X-User" = "DOCS_USER" }
tool_timeout_sec = 90.5
enabled = false
[mcp_servers.build]
command = "npx"
args = ["-y", "build-mcp"]
env = { LOG = "${literal}" }
env_vars = ["BUILD_KEY"]
cwd = "/srv"
startup_timeout_sec = 20
enabled_tools = ["run", "stop"]
disabled_tools = ["wipe"]
"#;
    insta::assert_snapshot!(taken(
        Some(ClientApp::Codex),
        "/home/ann/.codex/config.toml",
        text
    ));
}

#[test]
fn cfg_02_gemini_has_variables_of_the_shell_and_switches_outside() {
    let text = r#"{
      "mcp": { "excluded": ["old"] },
      "mcpServers": {
        "new": { "httpUrl": "https://x.example/mcp", "headers": { "Authorization": "Bearer $X_KEY" }, "timeout": 5000, "trust": true, "includeTools": ["a"] },
        "plain": { "url": "https://y.example/sse" },
        "old": { "command": "node", "args": ["s.js"], "cwd": "/srv", "env": { "K": "${K}" } }
      }
    }"#;
    insta::assert_snapshot!(taken(None, "/home/ann/.gemini/settings.json", text));
}

#[test]
fn cfg_02_goose_has_parts_of_its_own_and_keeps_keys_elsewhere() {
    let text = "
GOOSE_PROVIDER: anthropic
extensions:
  developer: { type: builtin, name: developer, enabled: true }
  todo: { type: platform, name: todo, enabled: true }
  github:
    type: stdio
    name: github
    cmd: npx
    args: [-y, '@modelcontextprotocol/server-github']
    envs: { LOG: info }
    env_keys: [GITHUB_TOKEN]
    timeout: 300
    enabled: true
    available_tools: []
  docs:
    type: streamable_http
    uri: https://docs.example/mcp
    headers: { Authorization: Bearer $DOCS }
    enabled: false
  gone: { type: sse, uri: https://old.example/sse, enabled: false }
";
    insta::assert_snapshot!(taken(
        Some(ClientApp::Goose),
        "/home/ann/.config/goose/config.yaml",
        text
    ));
}

#[test]
fn cfg_02_zed_cline_windsurf_and_cursor_have_words_of_their_own() {
    let zed = r#"{ "theme": "One", /* x */ "context_servers": {
      "a": { "source": "custom", "command": "npx", "args": ["a"], "enabled": false },
      "b": { "command": { "path": "/opt/b", "args": ["-v"], "env": { "K": "1" } } },
      "c": { "url": "https://c.example/mcp", "headers": { "X": "y" } },
      "d": { "source": "extension", "settings": { "token": "t" } } } }"#;
    let cline = r#"{ "mcpServers": {
      "github.com/acme/servers/git": { "command": "uvx", "args": ["git"], "timeout": 120, "disabled": true, "autoApprove": ["x"] },
      "old": { "url": "https://o.example/sse" },
      "new": { "transport": { "type": "streamableHttp", "url": "https://n.example/mcp" }, "oauth": {} } } }"#;
    let windsurf = r#"{ "mcpServers": { "w": { "serverUrl": "https://w.example/mcp", "headers": { "A": "${file:/k}" }, "disabledTools": ["rm"] } } }"#;
    let cursor = r#"{ "mcpServers": { "u": { "url": "https://u.example/mcp", "headers": { "A": "${env:U_KEY}" }, "auth": { "CLIENT_ID": "i" } }, "w": { "command": "npx", "args": ["${workspaceFolder}"] } } }"#;
    let all = [
        taken(None, "/home/ann/.config/zed/settings.json", zed),
        taken(None, "/x/cline_mcp_settings.json", cline),
        taken(None, "/home/ann/.codeium/windsurf/mcp_config.json", windsurf),
        taken(None, "/home/ann/.cursor/mcp.json", cursor),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn cfg_04_what_is_no_server_is_left_out_alone() {
    let text = r#"{ "mcpServers": { "a": 5, "b": {}, "c": { "command": "x", "url": "https://y" }, "d": { "type": "odd", "url": "https://y" }, "e": { "command": "x", "args": "-y" } } }"#;
    insta::assert_snapshot!(taken(Some(ClientApp::ClaudeDesktop), "/f.json", text));
}

#[test]
fn ctl_04_a_file_that_cannot_be_read_says_where() {
    let fault = |file: &str, text: &str| {
        let env = Fixed::default().file(file, text);
        read(None, Path::new(file), &env).unwrap_err().to_string()
    };
    let all = [
        fault("/f.json", "{\n  \"mcpServers\": {\n"),
        fault("/f.toml", "a = 1\nb =\n"),
        fault("/f.yaml", "extensions:\n  a: [\n"),
    ];
    insta::assert_snapshot!(all.join("\n"));
    assert_eq!(read(None, Path::new("/none.json"), &Fixed::default()), Ok(None));
    let empty = Fixed::default()
        .file("/f.json", " \n")
        .file("/f.yaml", "")
        .file("/f.toml", "");
    for file in ["/f.json", "/f.yaml", "/f.toml"] {
        assert_eq!(
            read(None, Path::new(file), &empty),
            Ok(Some(Vec::new())),
            "{file}"
        );
    }
}

fn found(app: ClientApp, text: &str) -> Vec<Found> {
    let file = format!("/{}.json", app.id());
    let env = Fixed::default().file(&file, text);
    read(Some(app), Path::new(&file), &env).unwrap().unwrap()
}

fn planned(own: &str, force: bool) -> String {
    let cursor = r#"{ "mcpServers": {
      "git": { "command": "uvx", "args": ["mcp-server-git"] },
      "docs": { "url": "https://docs.example/mcp" },
      "mcpr": { "url": "http://localhost:3282/mcp" },
      "bridge": { "command": "/usr/bin/mcpr-gateway", "args": ["connect"] },
      "native": { "command": "x" },
      "a/b": { "command": "ab" } } }"#;
    let desktop = r#"{ "mcpServers": {
      "my-git": { "command": "uvx", "args": ["mcp-server-git"], "env": {} },
      "docs": { "command": "other" },
      "off": { "command": "off" } } }"#;
    let all = [
        found(ClientApp::Cursor, cursor),
        found(ClientApp::ClaudeDesktop, desktop),
    ]
    .concat();
    let env = Fixed::default().file("/mcpr.json", own);
    let known = Known::read(Path::new("/mcpr.json"), &env).unwrap();
    let plan = Plan::of(all, &known, force, &["http://127.0.0.1:3282/mcp".to_owned()]);
    let taken = plan.taken.iter().map(|taken| {
        let replaces = if taken.replaces { " (replaces)" } else { "" };
        format!("+ {}{replaces}: {}\n", taken.name, taken.server.shown())
    });
    let skipped = plan
        .skipped
        .iter()
        .map(|skipped| format!("- {}: {}\n", skipped.name, skipped.reason));
    taken.chain(skipped).collect()
}

#[test]
fn cfg_02_each_server_is_taken_once_and_mcpr_itself_never() {
    insta::assert_snapshot!(planned("{}", false));
}

#[test]
fn cfg_02_what_mcpr_has_already_stays_unless_it_is_forced() {
    let own = r#"{ "mcpServers": { "docs": { "type": "http", "url": "https://elsewhere.example" }, "g": { "command": "uvx", "args": ["mcp-server-git"], "mcpr": { "lazy": true } } } }"#;
    insta::assert_snapshot!([planned(own, false), planned(own, true)].join("\n"));
}

#[test]
fn log_04_a_server_s_debug_tells_no_secret() {
    let text = r#"{ "mcpServers": { "a": { "command": "x", "env": { "K": "S3CRET" } } } }"#;
    assert!(!format!("{:?}", found(ClientApp::Cursor, text)).contains("S3CRET"));
}

#[test]
fn log_04_a_server_is_told_without_the_secrets_of_its_command_line() {
    let args = r#"["--token", "S3CRET1", "-y", "--api-key=S3CRET2", "-e", "DB_PASSWORD=S3CRET3"]"#;
    let text = format!(r#"{{ "mcpServers": {{ "a": {{ "command": "npx", "args": {args} }} }} }}"#);
    let found = found(ClientApp::Cursor, &text);
    let server = found[0].server.as_ref().unwrap();
    assert_eq!(
        server.shown(),
        "npx --token ••• -y --api-key=••• -e DB_PASSWORD=•••"
    );
}
