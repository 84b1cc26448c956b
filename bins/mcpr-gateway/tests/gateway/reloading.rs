//! The configuration while the gateway runs.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::http::ask;
use crate::stage::{Running, Stage, await_none, demo_server, until};

fn file(servers: &[&str]) -> String {
    let server = |name: &&str| ((*name).to_owned(), demo_server(name));
    let servers: serde_json::Map<_, _> = servers.iter().map(server).collect();
    json!({ "mcpServers": servers, "mcpr": { "builtins": false } }).to_string()
}

/// The servers that lists tell of.
fn servers(gateway: &Running) -> Vec<String> {
    let (_, answer) = ask(gateway.port(), Some(&gateway.token()), "tools/list", json!({}));
    let states = answer["result"]["_meta"]["dev.mcpr/servers"].clone();
    let ready = |(name, state): (&String, &Value)| (state["state"] == "ok").then(|| name.clone());
    states.as_object().unwrap().iter().filter_map(ready).collect()
}

#[test]
fn cfg_05_a_file_that_changes_is_taken_over_and_what_is_the_same_lives_on() {
    let stage = Stage::new();
    stage.write("mcpr.json", &file(&["calc"]));
    let mut gateway = stage.serve();
    let calc = gateway.children();

    stage.write("mcpr.json", &file(&["calc", "clock"]));
    until("the new server is up", || {
        (servers(&gateway) == ["calc", "clock"]).then_some(())
    });
    stage.write("mcpr.json", "{ \"mcpServers\": ");
    gateway.hears("the old configuration stays");

    assert_eq!(servers(&gateway), ["calc", "clock"]);
    let both = gateway.children();
    assert!(
        calc.iter().all(|pid| both.contains(pid)),
        "calc is the same process"
    );
    stage.write("mcpr.json", &file(&["calc"]));
    until("the server is gone", || {
        (servers(&gateway) == ["calc"]).then_some(())
    });
    let gone: Vec<u32> = both.into_iter().filter(|pid| !calc.contains(pid)).collect();
    await_none(&gone);
    assert_eq!(gateway.children(), calc);
}

#[test]
fn cfg_05_a_file_that_vanishes_ends_no_server_and_may_come_back() {
    let stage = Stage::new();
    stage.write("mcpr.json", &file(&["calc"]));
    let mut gateway = stage.serve();
    let calc = gateway.children();

    std::fs::rename(stage.path("mcpr.json"), stage.path("aside")).unwrap();
    gateway.hears("is gone");

    assert_eq!(gateway.children(), calc);
    stage.write("mcpr.json", &file(&["calc", "clock"]));
    until("the new server is up", || {
        (servers(&gateway) == ["calc", "clock"]).then_some(())
    });
    let both = gateway.children();
    assert!(
        calc.iter().all(|pid| both.contains(pid)),
        "calc is the same process"
    );
}

#[test]
fn cfg_05_a_hangup_has_the_configuration_read_again() {
    let stage = Stage::new();
    stage.write("mcpr.json", &file(&["calc"]));
    let mut gateway = stage.serve();
    let calc = gateway.children();

    gateway.signal(Signal::HUP);
    gateway.hears("reading the configuration again");
    gateway.hears("the configuration was read again");

    assert_eq!(servers(&gateway), ["calc"]);
    assert_eq!(gateway.children(), calc);
}

#[test]
fn cfg_05_a_file_that_is_written_only_when_the_gateway_runs_is_found() {
    let stage = Stage::new();
    let mut gateway = stage.start(&["serve", "--port", "0"]);
    gateway.hears("Authorization: Bearer");

    stage.write("mcpr.json", &file(&["calc"]));

    until("the server is up", || {
        (servers(&gateway) == ["calc"]).then_some(())
    });
}
