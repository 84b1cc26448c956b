//! `init`

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stage::{Ran, Stage};

/// A machine with several clients. The home of the stage is the user's and mcpr's at once.
fn machine() -> Stage {
    let stage = Stage::new();
    put(
        &stage,
        ".claude.json",
        &json!({ "mcpServers": { "git": { "type": "stdio", "command": "uvx", "args": ["mcp-server-git"], "env": {} },
                                 "mcpr": { "type": "http", "url": "http://127.0.0.1:3282/mcp" } },
                 "projects": { "/src/web": { "mcpServers": { "files": { "command": "npx", "args": ["server-filesystem", "."] } } } } })
        .to_string(),
    );
    put(
        &stage,
        ".config/Claude/claude_desktop_config.json",
        r#"{ "mcpServers": { "my-git": { "command": "uvx", "args": ["mcp-server-git"] },
                             "notes": { "command": "notes", "env": { "NOTES_KEY": "s3cret-key" } } } }"#,
    );
    put(
        &stage,
        ".config/Code/User/mcp.json",
        r#"{ // with comments
          "inputs": [{ "type": "promptString", "id": "gh", "description": "GitHub token", "password": true }],
          "servers": { "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/?key=s3cret", "headers": { "Authorization": "Bearer ${input:gh}" } } }, }"#,
    );
    put(
        &stage,
        ".codex/config.toml",
        "[mcp_servers.docs]\nurl = \"https://docs.example/mcp\"\nbearer_token_env_var = \"DOCS_TOKEN\"\ntool_timeout_sec = 90\n\
         [mcp_servers.git]\ncommand = \"other-git\"\n[mcp_servers.off]\ncommand = \"off\"\nenabled = false\n",
    );
    put(
        &stage,
        ".config/zed/settings.json",
        r#"{ "context_servers": { "ext": { "source": "extension", "settings": {} } } }"#,
    );
    put(
        &stage,
        ".config/goose/config.yaml",
        "extensions:\n  developer: { type: builtin, enabled: true }\n  jira: { type: stdio, cmd: jira, args: [], env_keys: [JIRA], enabled: true }\n",
    );
    stage
}

fn put(stage: &Stage, name: &str, text: &str) {
    fs::create_dir_all(stage.path(name).parent().unwrap()).unwrap();
    fs::write(stage.path(name), text).unwrap();
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"))
}

/// What the file says, without the folder of the test.
fn written(stage: &Stage, name: &str) -> String {
    let home = stage.path("").display().to_string();
    fs::read_to_string(stage.path(name))
        .unwrap()
        .replace(&home, "[HOME]/")
}

#[test]
fn cfg_02_the_servers_of_all_clients_are_taken_over_into_one_file() {
    let stage = machine();
    let before = fs::read(stage.path(".codex/config.toml")).unwrap();

    let ran = stage.run(&["init", "--yes"]);

    assert_eq!(ran.code, 0, "{ran}");
    assert_snapshot!(ran);
    assert_snapshot!(written(&stage, "mcpr.json"));
    assert_eq!(
        fs::read(stage.path(".codex/config.toml")).unwrap(),
        before,
        "only read"
    );
    assert_eq!(
        stage.run(&["check"]).code,
        7,
        "what it needs of the environment is not there yet"
    );
}

#[test]
fn sec_05_the_file_is_for_its_owner_s_eyes_and_secrets_are_only_in_it() {
    let stage = machine();

    let ran = stage.run(&["init", "--yes", "--output", "new/folder/mine.json"]);

    assert_eq!(ran.code, 0, "{ran}");
    let mode = |name: &str| fs::metadata(stage.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("new/folder/mine.json"), mode("new/folder")), (0o600, 0o700));
    assert!(written(&stage, "new/folder/mine.json").contains("s3cret-key"));
    assert!(
        !ran.stdout.contains("s3cret") && !ran.stderr.contains("s3cret"),
        "{ran}"
    );
    assert!(ran.stdout.contains("mcpr-gateway --config"), "{ran}");
}

#[test]
fn cfg_02_a_second_time_nothing_is_new_and_what_is_there_stays() {
    let stage = machine();
    stage.run(&["init", "--yes"]);
    let first = written(&stage, "mcpr.json");

    let again = stage.run(&["init", "--yes"]);

    assert_eq!((again.code, written(&stage, "mcpr.json")), (0, first), "{again}");
    assert!(again.stdout.contains("nothing new"), "{again}");
}

#[test]
fn cfg_02_a_file_that_is_there_gets_what_is_new_and_keeps_its_comments() {
    let stage = machine();
    let own = "{\n  // mine\n  \"mcpServers\": {\n    \"docs\": { \"command\": \"my-docs\" }, // stays\n    \"g\": { \"command\": \"uvx\", \"args\": [\"mcp-server-git\"] }\n  },\n  \"mcpr\": { \"listen\": \"127.0.0.1:4000\" }\n}\n";
    put(&stage, "mcpr.json", own);

    let kept = stage.run(&["init", "--from", "codex,vscode", "--yes"]);
    assert_snapshot!([kept.to_string(), written(&stage, "mcpr.json")].join("\n---\n"));

    let forced = stage.run(&["init", "--from", "codex", "--yes", "--force"]);
    assert_snapshot!([forced.to_string(), written(&stage, "mcpr.json")].join("\n---\n"));
}

#[test]
fn ctl_02_off_a_terminal_without_yes_it_is_a_dry_run_that_says_so() {
    let stage = machine();

    let ran = stage.run(&["init", "--from", "cursor,claude-code"]);
    let dry = stage.run(&["init", "--dry-run"]);

    assert_eq!((ran.code, dry.code), (0, 0));
    assert_snapshot!(ran);
    assert!(dry.stdout.contains("a dry run: "), "{dry}");
    assert!(!stage.path("mcpr.json").exists());
}

#[test]
fn ctl_01_scripts_get_all_of_it_as_one_line_of_json() {
    let stage = machine();
    let ran = stage.run(&["init", "--json", "--yes"]);
    let report = json_of(&ran);
    let text = format!("{report:#}").replace(&stage.path("").display().to_string(), "[HOME]/");

    assert_eq!((ran.code, ran.stdout.lines().count(), &*ran.stderr), (0, 1, ""));
    assert_snapshot!(text);
}

#[test]
fn ctl_04_nothing_found_ends_with_3_and_says_where_it_was_looked_for() {
    let stage = Stage::new();

    let ran = stage.run(&["init", "--from", "cursor,cline"]);
    let all = stage.run(&["init", "--json"]);
    let file = stage.run(&["init", "--from-file", "none.json"]);

    assert_eq!([ran.code, all.code, file.code], [3, 3, 3]);
    assert_snapshot!([ran.to_string(), file.to_string()].join("\n\n"));
    assert!(json_of(&all)["sources"].as_array().unwrap().len() > 10, "{all}");
}

#[test]
fn cfg_04_a_client_s_broken_file_keeps_the_others_from_nothing() {
    let stage = machine();
    put(&stage, ".cursor/mcp.json", "{ \"mcpServers\": {");

    let ran = stage.run(&["init", "--from", "cursor,codex", "--yes"]);

    assert_eq!(ran.code, 6, "{ran}");
    assert_snapshot!(ran);
}

#[test]
fn cfg_04_mcpr_s_own_broken_file_is_left_alone() {
    let stage = machine();
    put(&stage, "mcpr.json", "{ \"mcpServers\": {");

    let ran = stage.run(&["init", "--yes"]);

    assert_eq!(
        (ran.code, written(&stage, "mcpr.json").as_str()),
        (7, "{ \"mcpServers\": {")
    );
    assert_snapshot!(ran);
}

#[test]
fn cfg_01_files_of_a_project_count_only_for_clients_that_are_named() {
    let stage = Stage::new();
    put(
        &stage,
        "web/.mcp.json",
        r#"{ "mcpServers": { "evil": { "command": "./evil.sh" } } }"#,
    );
    let inside = |words: &[&str]| stage.run_in("web", words);

    let unnamed = inside(&["init", "--yes"]);
    let named = inside(&["init", "--yes", "--from", "claude-code"]);

    assert_eq!((unnamed.code, named.code), (3, 0), "{unnamed}\n{named}");
    assert!(
        unnamed.stdout.contains("`--from claude-code` reads it"),
        "{unnamed}"
    );
    let config: Value = serde_json::from_str(&fs::read_to_string(stage.path("mcpr.json")).unwrap()).unwrap();
    let web = stage.path("web").canonicalize().unwrap();
    assert_eq!(
        config["mcpServers"]["evil"]["command"],
        web.join("evil.sh").display().to_string()
    );
    assert_eq!(config["mcpServers"]["evil"]["cwd"], web.display().to_string());
}

#[test]
fn cfg_02_any_file_can_be_named() {
    let stage = Stage::new();
    put(&stage, "x/some.toml", "[mcp_servers.a]\ncommand = \"a\"\n");
    put(
        &stage,
        "x/some.yaml",
        "extensions:\n  b: { type: stdio, cmd: b, args: [] }\n",
    );
    put(
        &stage,
        "x/cline_mcp_settings.json",
        r#"{ "mcpServers": { "github.com/acme/c": { "command": "c", "timeout": 60 } } }"#,
    );

    for file in ["x/some.toml", "x/some.yaml", "x/cline_mcp_settings.json"] {
        assert_eq!(
            stage.run(&["init", "--yes", "--from-file", file]).code,
            0,
            "{file}"
        );
    }

    assert_snapshot!(written(&stage, "mcpr.json"));
}

#[test]
fn ctl_04_wrong_usage_is_explained() {
    let stage = Stage::new();
    let ran = [
        &["init", "--from", "cusor"][..],
        &["init", "--from", "cursor", "--from-file", "x"],
        &["init", "--yes", "--dry-run"],
    ]
    .map(|words| stage.run(words));

    assert!(ran.iter().all(|ran| ran.code == 2));
    assert_snapshot!(ran.map(|ran| ran.to_string()).join("\n\n"));
}
