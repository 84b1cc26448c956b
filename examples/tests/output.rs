//! Each example says what it is meant to say.

use std::path::PathBuf;
use std::process::Command;

/// The program of an example, which cargo builds with its package's tests.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let folder = test
        .parent()
        .and_then(|deps| deps.parent())
        .expect("the target folder");
    folder.join("examples").join(name)
}

/// What an example says on stdout.
fn said_by(name: &str, arguments: &[&str]) -> String {
    let ran = Command::new(program(name))
        .args(arguments)
        .output()
        .expect("the example starts");
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{name}: {errors}");
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn emb_03_embed_lists_the_tools_of_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mcp.json");
    let servers = serde_json::json!({ "mcpServers": { "web": { "command": program("stdio_agent"), "args": ["serve", "fetch"] } } });
    std::fs::write(&file, servers.to_string()).expect("a file");

    let said = said_by("embed", &[&file.display().to_string()]);

    assert!(said.contains(r#""name":"web_fetch""#), "{said}");
}

#[test]
fn emb_03_native_tools_take_orders() {
    let said = said_by("native_tools", &[]);
    assert_eq!(
        said,
        "soup for three: {\"total\":12}\ncake for one: there is no cake today\nrepeated: {\"n\":1}\n"
    );
}

#[test]
fn emb_03_a_layer_audits_and_denies() {
    let said = said_by("layer_audit", &[]);
    let expected = "audit: show ended with ok\n\
        the tool got {\"password\":\"(kept back)\",\"user\":\"ann\"}\n\
        audit: delete ended with error\n\
        deleting is denied: nothing is deleted here\n";
    assert_eq!(said, expected);
}

#[test]
fn emb_03_a_rule_of_the_program_keeps_caches_warm() {
    let said = said_by("custom_balance", &[]);
    let expected = "six calls of search.index went to 1 of 3\n\
        six calls of search.ping went to 3 of 3\n";
    assert_eq!(said, expected);
}

#[test]
fn emb_03_a_token_store_of_the_program_lets_its_users_in() {
    let said = said_by("custom_token_store", &[]);
    let expected = "ann: 200 OK\n\
        bob: 401 Unauthorized\n\
        ann, once she has left: 401 Unauthorized\n";
    assert_eq!(said, expected);
}

#[test]
fn emb_03_the_endpoint_is_mounted_in_a_server_of_axum() {
    let said = said_by("mount_in_axum", &[]);
    let expected = "a call: {\"n\":1}\n\
        without a token: 401\n\
        by a foreign name: 403\n";
    assert_eq!(said, expected);
}

#[test]
fn emb_03_an_agent_uses_several_servers_and_a_tool_of_its_own() {
    let said = said_by("stdio_agent", &[]);
    for line in [
        "- display_recipe",
        "- get_recipe",
        "- find",
        "*** recipe for soup ***",
        "search: pancakes, soup",
        "search_web: https://example.com",
        "lazy: grandmother's soup",
        "Unknown tool: bake; {\"content\":[{\"text\":\"Unknown tool: bake\",\"type\":\"text\"}],\"isError\":true}",
    ] {
        assert!(
            said.lines().any(|said| said == line),
            "`{line}` is not in\n{said}"
        );
    }
}
