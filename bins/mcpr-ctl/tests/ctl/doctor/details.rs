//! What `doctor` says of single things.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{configured, free_port, of_kind, told};
use crate::clients::{machine, program, write};
use crate::stage::{Ran, Stage};

#[test]
fn http_02_a_port_that_is_taken_is_named_with_who_has_it() {
    let stage = machine();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = json!({ "mcpServers": {}, "mcpr": { "listen": format!("127.0.0.1:{port}") } });
    write(&stage, "mcpr.json", &config.to_string());

    let ran = stage.ctl(&["--json", "doctor"]);

    assert_eq!(ran.code, 6, "{ran}");
    let check = &of_kind(&ran, "port")[0];
    assert_eq!(check["state"], "problem");
    let message = check["message"].as_str().unwrap();
    assert!(
        message.starts_with(&format!("port {port} on 127.0.0.1 is taken by")),
        "{message}"
    );
    if cfg!(target_os = "linux") {
        assert!(
            message.contains(&format!("(process {})", std::process::id())),
            "{message}"
        );
        assert!(check["fix"].as_str().unwrap().contains("--port N"));
    }
}

#[test]
fn cfg_03_each_server_that_cannot_be_used_is_named_with_its_place() {
    let stage = machine();
    fs::create_dir_all(stage.path("home/.nvm/versions/node/v22.1.0/bin")).unwrap();
    let npx = stage.path("home/.nvm/versions/node/v22.1.0/bin/npx-of-the-test");
    fs::write(&npx, "").unwrap();
    fs::set_permissions(&npx, fs::Permissions::from_mode(0o755)).unwrap();
    program(&stage, "uvx");
    let port = configured(
        &stage,
        &json!({
            "env": { "type": "http", "url": "https://x.example/mcp", "headers": { "A": "${NOT_SET}" } },
            "nowhere": { "command": "no-such-program-at-all" },
            "nvm": { "command": "npx-of-the-test" },
            "spaced": { "command": "npx -y server" },
            "folder": { "command": "uvx", "cwd": "/no/such/folder" },
            "url": { "type": "http", "url": "notaurl" },
            "typo": { "command": "uvx", "mcpr": { "prefx": "t" } },
            "off": { "command": "no-such-program-either", "disabled": true },
        }),
    );

    let ran = stage.ctl(&["doctor"]);

    assert_eq!(ran.code, 6, "{ran}");
    assert_snapshot!(told(&ran, port));
}

#[test]
fn b04_names_that_flatten_alike_are_told_of_without_a_gateway() {
    let stage = machine();
    program(&stage, "uvx");
    configured(
        &stage,
        &json!({ "a.b": { "command": "uvx" }, "a_b": { "command": "uvx", "args": ["x"] } }),
    );

    let ran = stage.ctl(&["--json", "doctor"]);

    let names = of_kind(&ran, "names");
    assert_eq!((names.len(), &names[0]["state"]), (1, &json!("warning")), "{ran}");
    assert_eq!(names[0]["server"], "a_b");
}

#[test]
fn b04_names_of_earlier_listings_are_judged_without_a_gateway() {
    let stage = machine();
    program(&stage, "uvx");
    configured(&stage, &json!({ "git": { "command": "uvx" } }));
    let long = "a_tool_with_a_name_that_no_client_would_ever_take_as_it_is";
    remember(
        &stage,
        "git",
        &json!({ "name": long, "inputSchema": { "type": "object" } }),
    );

    let ran = stage.ctl(&["--json", "doctor"]);

    let names = &of_kind(&ran, "names")[0];
    assert_eq!(
        (&names["state"], &names["server"]),
        (&json!("warning"), &json!("git")),
        "{ran}"
    );
    assert!(
        names["message"]
            .as_str()
            .unwrap()
            .contains("too long for clients"),
        "{ran}"
    );
    assert_eq!(names["fix"], "mcpr-ctl servers set git mcpr.prefix=SHORT");
}

/// Has a server listed with one tool, as an earlier run of a gateway would.
fn remember(stage: &Stage, server: &str, tool: &Value) {
    let tool = mcpr_protocol::RawJson::render(tool);
    let offers = mcpr_registry::Offers {
        tools: vec![tool],
        ..mcpr_registry::Offers::default()
    };
    let listing = mcpr_store::SavedListing {
        server: server.into(),
        format: 1,
        at: mcpr_auth::Timestamp::now(),
        body: offers.to_blob().to_vec(),
    };
    let path = stage.path("mcpr.db");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = mcpr_store::open(path).await.unwrap();
        store.put_listing(listing).await.unwrap();
        store.close().await;
    });
}

#[test]
fn b110_a_gateway_that_is_its_own_server_is_a_problem() {
    let stage = machine();
    let port = configured(&stage, &json!({}));
    let servers = json!({ "me": { "type": "http", "url": format!("http://localhost:{port}/mcp/") },
                          "bridge": { "command": "mcpr-gateway", "args": ["connect"] },
                          "demo": { "command": "mcpr-gateway", "args": ["__demo-server", "calc"] } });
    let config = json!({ "mcpServers": servers, "mcpr": { "listen": format!("127.0.0.1:{port}") } });
    write(&stage, "mcpr.json", &config.to_string());

    let ran = stage.ctl(&["--json", "doctor"]);

    let fixes: Vec<_> = of_kind(&ran, "server")
        .iter()
        .map(|check| check["fix"].clone())
        .collect();
    assert_eq!(
        fixes,
        ["mcpr-ctl servers rm bridge", "mcpr-ctl servers rm me"],
        "{ran}"
    );
}

#[test]
fn sec_05_files_that_others_may_read_or_write_are_named_with_the_command() {
    let stage = machine();
    program(&stage, "uvx");
    configured(
        &stage,
        &json!({ "git": { "command": "uvx", "env": { "GITHUB_TOKEN": "ghp_secret", "LOG": "info" } } }),
    );
    write(&stage, "secrets/jira", "x");
    let mode = |file: &str, bits| {
        fs::set_permissions(stage.path(file), fs::Permissions::from_mode(bits)).unwrap();
    };
    mode("mcpr.json", 0o644);
    mode("secrets/jira", 0o644);

    let readable = stage.ctl(&["--json", "doctor"]);
    mode("mcpr.json", 0o666);
    let writable = stage.ctl(&["--json", "doctor"]);
    mode("mcpr.json", 0o600);
    mode("secrets/jira", 0o600);
    let private = stage.ctl(&["--json", "doctor"]);

    let fixes = |ran: &Ran| -> Vec<String> {
        let checks = of_kind(ran, "permissions");
        checks
            .iter()
            .map(|check| {
                check["fix"]
                    .as_str()
                    .unwrap()
                    .replace(&stage.path("").display().to_string(), "")
            })
            .collect()
    };
    assert_eq!(
        fixes(&readable),
        ["chmod 600 mcpr.json", "chmod 600 secrets/jira"]
    );
    assert_eq!(
        fixes(&writable),
        ["chmod go-w mcpr.json", "chmod 600 secrets/jira"]
    );
    assert_eq!((fixes(&private).len(), private.code), (0, 0), "{private}");
    assert!(!readable.out().contains("ghp_secret"));
}

#[test]
fn ctl_01_a_client_that_starts_a_server_beside_mcpr_has_its_tools_twice() {
    let stage = machine();
    program(&stage, "uvx");
    let port = configured(
        &stage,
        &json!({ "git": { "command": "uvx", "args": ["mcp-server-git"] } }),
    );
    let git = json!({ "command": "uvx", "args": ["mcp-server-git"], "env": { "LOG": "1" } });
    let mcpr = json!({ "url": format!("http://127.0.0.1:{port}/mcp") });
    let claude = json!({ "mcpServers": { "mcpr": mcpr, "my git": git } });
    write(&stage, "home/.claude.json", &claude.to_string());
    let astray = json!({ "mcpServers": { "mcpr": { "url": "http://127.0.0.1:1/mcp" } } });
    write(&stage, "home/.cursor/mcp.json", &astray.to_string());
    let alone = json!({ "mcpServers": { "git": git } });
    write(
        &stage,
        "home/.codeium/windsurf/mcp_config.json",
        &alone.to_string(),
    );

    let ran = stage.ctl(&["--json", "doctor"]);

    let clients: Vec<String> = of_kind(&ran, "clients")
        .iter()
        .map(|check| format!("{} {} | {}", check["state"], check["message"], check["fix"]))
        .collect();
    assert_snapshot!(clients.join("\n").replace(&format!(":{port}"), ":PORT"));
}

#[test]
fn ctl_02_the_database_is_looked_at_and_not_made() {
    let stage = machine();
    configured(&stage, &json!({}));
    let before = stage.ctl(&["--json", "doctor"]);
    assert!(!stage.path("mcpr.db").exists());
    stage.ctl(&["tokens", "create", "--name", "a", "--expires", "1d"]);
    let after = stage.ctl(&["--json", "doctor"]);
    fs::write(
        stage.path("mcpr.db"),
        "this is a text file and no database at all",
    )
    .unwrap();
    let broken = stage.ctl(&["--json", "doctor"]);

    assert!(
        of_kind(&before, "database")[0]["message"]
            .as_str()
            .unwrap()
            .contains("no database yet")
    );
    assert!(
        of_kind(&after, "database")[0]["message"]
            .as_str()
            .unwrap()
            .contains("can be read (schema ")
    );
    let tokens = of_kind(&after, "tokens");
    assert_eq!(
        [&tokens[0]["state"], &tokens[1]["state"]],
        ["ok", "warning"],
        "{after}"
    );
    assert_eq!(
        (broken.code, &of_kind(&broken, "database")[0]["state"]),
        (6, &json!("problem"))
    );
}

#[test]
fn ctl_01_a_log_folder_that_cannot_be_written_is_a_problem() {
    let stage = machine();
    let config = json!({ "mcpr": { "log": { "file": "./a-file/mcpr.log" }, "listen": format!("127.0.0.1:{}", free_port()) } });
    write(&stage, "mcpr.json", &config.to_string());
    write(&stage, "a-file", "");

    let ran = stage.ctl(&["--json", "doctor"]);

    assert_eq!(
        (ran.code, &of_kind(&ran, "log")[0]["state"]),
        (6, &json!("problem")),
        "{ran}"
    );
}
