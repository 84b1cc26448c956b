//! Servers with several backends (LB-01).

use mcpr_registry::PinPolicy;
use mcpr_upstream::{Reach, Repeat, ServerSpec, Spread};

use super::{load, load_in, reason, server, server_in, warnings};
use crate::environment::tests::Fixed;
use crate::{Config, ServerEntry, ServerState, servers};

/// The servers that a file makes.
fn servers_of(config: Config) -> Vec<ServerEntry> {
    servers(config.servers)
}

fn backends(entry: &ServerEntry) -> ServerSpec {
    let spec = match &entry.state {
        ServerState::Enabled(spec) => spec,
        ServerState::Disabled(otherwise) => match &**otherwise {
            ServerState::Enabled(spec) => spec,
            other => panic!("{}: {other:?}", entry.name),
        },
        ServerState::Misconfigured(fault) => panic!("{}: {fault}", entry.name),
    };
    entry.server_spec(spec)
}

fn labels(entry: &ServerEntry) -> Vec<String> {
    let backends = backends(entry).backends;
    backends.iter().map(|backend| backend.label.to_string()).collect()
}

fn urls(entry: &ServerEntry) -> Vec<String> {
    let backends = backends(entry).backends.into_iter();
    let urls = backends.filter_map(|backend| match backend.spec.reach {
        Reach::Http(http) => Some(http.url.reveal().to_owned()),
        _ => None,
    });
    urls.collect()
}

#[test]
fn lb_01_a_program_has_replicas_and_a_url_has_endpoints() {
    let program =
        server(r#"{"command": "x", "mcpr": {"replicas": 3, "balance": "least_busy", "retry": "never"}}"#);
    assert_eq!(labels(&program), ["1", "2", "3"]);
    let spec = backends(&program);
    assert_eq!((spec.spread, spec.repeat), (Spread::LeastBusy, Repeat::Never));

    let env = Fixed::default().with("B", "http://b:2");
    let entry = r#"{"type": "http", "url": "http://a:1/mcp", "headers": {"X": "y"},
        "mcpr": {"endpoints": ["${B}/mcp?key=1", "http://b:2/mcp?key=2"], "tags": ["eu"]}}"#;
    let api = server_in(env, entry);
    assert_eq!(
        urls(&api),
        ["http://a:1/mcp", "http://b:2/mcp?key=1", "http://b:2/mcp?key=2"]
    );
    assert_eq!(
        labels(&api),
        ["a:1/mcp", "b:2/mcp", "b:2/mcp#2"],
        "what is behind the `?` is not shown"
    );
    let all = backends(&api).backends;
    let same = |backend: &mcpr_upstream::BackendSpec| match &backend.spec.reach {
        Reach::Http(http) => http.headers.len() == 1 && backend.tags == ["eu"],
        _ => false,
    };
    assert!(all.iter().all(same));
}

#[test]
fn lb_01_the_wrong_kind_of_several_is_refused_with_the_right_one() {
    let program = server(r#"{"command": "x", "mcpr": {"endpoints": ["http://a/mcp"]}}"#);
    let url = server(r#"{"type": "http", "url": "http://a/mcp", "mcpr": {"replicas": 2}}"#);
    let nowhere = server(r#"{"type": "http", "url": "http://a/mcp", "mcpr": {"endpoints": ["nowhere"]}}"#);
    let group = server(r#"{"command": "x", "mcpr": {"group": "a/b"}}"#);
    let reserved = server(r#"{"command": "x", "mcpr": {"group": "native"}}"#);

    insta::assert_snapshot!(
        [&program, &url, &nowhere, &group, &reserved]
            .map(reason)
            .join("\n")
    );
}

#[test]
fn lb_01_entries_of_one_group_are_one_server_treated_as_the_first_says() {
    let config = load(
        r#"{"mcpServers": {
            "x": {"command": "x"},
            "a": {"command": "a", "mcpr": {"group": "g", "prefix": "p", "tags": ["eu"], "queue": {"max": 7}}},
            "off": {"command": "o", "disabled": true, "mcpr": {"group": "g"}},
            "b": {"command": "b", "mcpr": {"group": "g", "replicas": 2, "tags": ["us"], "tools": {"deny": ["y"]}}},
            "bad": {"mcpr": {"group": "g"}}}}"#,
    );
    assert_eq!(
        warnings(&config),
        [
            "warning: mcpr.json:5:13: server `b`: `prefix`, `naming`, `resources` and `tools` are those of `a`, the first entry of the group `g`; say it there"
        ]
    );
    let servers = servers_of(config);

    let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(
        names,
        ["x", "g", "bad"],
        "what cannot be read does not even say its group"
    );
    let group = &servers[1];
    assert_eq!(labels(group), ["a", "b/1", "b/2"]);
    assert_eq!(group.naming.prefix.as_deref(), Some("p"));
    assert_eq!(backends(group).treatment().queue.max, 7);
    assert_eq!(group.backends.tags, ["eu", "us"]);
    assert!(group.tools.deny.is_empty());
}

#[test]
fn agg_13_a_group_of_which_all_is_off_is_off_and_can_be_turned_on() {
    let config = load(
        r#"{"mcpServers": {
            "a": {"command": "a", "disabled": true, "mcpr": {"group": "g"}},
            "b": {"command": "b", "disabled": true, "mcpr": {"group": "g"}}}}"#,
    );
    let servers = servers_of(config);

    assert!(matches!(servers[0].state, ServerState::Disabled(_)));
    assert_eq!(labels(&servers[0]), ["a", "b"]);
}

#[test]
fn cfg_04_a_group_with_the_name_of_a_server_leaves_that_server_alone() {
    let text = r#"{"mcpServers": {
        "git": {"command": "g"},
        "a": {"command": "a", "mcpr": {"group": "git"}},
        "web": {"command": "w", "mcpr": {"group": "web"}}}}"#;
    let servers = servers_of(load_in(Fixed::default(), text).unwrap());

    assert_eq!(labels(&servers[0]), ["1"]);
    assert!(reason(&servers[1]).contains("`mcpr.group` is `git`, which is the name of another server"));
    assert_eq!(
        labels(&servers[2]),
        ["web"],
        "a group may have the name of its own entry"
    );
}

#[test]
fn cfg_05_a_group_whose_entries_only_moved_means_the_same() {
    let text = r#"{"mcpServers": {"a": {"command": "a", "mcpr": {"group": "g"}}, "b": {"command": "b", "mcpr": {"group": "g"}}}}"#;
    let before = servers_of(load(text));
    let moved = servers_of(load(&text.replace(r#""mcpServers""#, "\n\n\"mcpServers\"")));
    let changed = servers_of(load(&text.replace(r#""command": "b""#, r#""command": "c""#)));

    assert!(before[0].means_the_same(&moved[0]) && !before[0].means_the_same(&changed[0]));
}

#[test]
fn pins_are_those_of_the_gateway_unless_a_server_says_otherwise_and_the_strictest_of_a_group() {
    let config = load(
        r#"{"mcpServers": {
              "usual": {"command": "x"}, "none": {"command": "x", "mcpr": {"pins": "off"}},
              "a": {"url": "http://h/a", "type": "http", "mcpr": {"group": "g", "pins": "off"}},
              "b": {"url": "http://h/b", "type": "http", "mcpr": {"group": "g", "pins": "block"}}},
            "mcpr": {"pins": "warn"}}"#,
    );
    let servers = servers_of(config);
    let pins: Vec<_> = servers
        .iter()
        .map(|entry| (entry.name.as_str(), entry.pins))
        .collect();
    assert_eq!(
        pins,
        [
            ("usual", PinPolicy::Warn),
            ("none", PinPolicy::Off),
            ("g", PinPolicy::Block)
        ]
    );
}
