//! Whatever a file looks like, a change touches nothing else in it.

use proptest::prelude::*;

use super::*;

/// What may stand between two pieces of a document, line comments with their end.
fn gap() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "",
        " ",
        "\n",
        "\n\t",
        "\r\n  ",
        " /* a, } */ ",
        " // b\n    ",
    ])
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["1", "\"a, }\"", "true", "null", "[1, 2]", "{}", "[]"]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(2, 8, 3, |inner| object(inner, "k"))
}

/// An object with keys `k0`, `k1`, …, gaps anywhere, and perhaps a comma behind the last member.
fn object(value: impl Strategy<Value = String>, key: &'static str) -> impl Strategy<Value = String> {
    let member = (gap(), gap(), gap(), value, gap());
    (prop::collection::vec(member, 0..4), any::<bool>(), gap()).prop_map(move |(members, trailing, end)| {
        let count = members.len();
        let member = |(index, (a, b, c, value, d)): (usize, (&str, &str, &str, String, &str))| {
            let comma = if trailing || index + 1 < count { "," } else { "" };
            format!("{a}\"{key}{index}\"{b}:{c}{value}{d}{comma}")
        };
        let members: String = members.into_iter().enumerate().map(member).collect();
        format!("{{{members}{end}}}")
    })
}

/// A whole document with servers `s0`, `s1`, ….
fn text() -> impl Strategy<Value = String> {
    let servers = object(object(value(), "k"), "s");
    (gap(), servers, gap())
        .prop_map(|(before, servers, after)| format!("{before}{{\"mcpServers\":{servers}}}{after}"))
}

/// What a document says.
fn said(text: &str) -> serde_json::Value {
    jsonc_parser::parse_to_serde_value(text, &Default::default()).unwrap()
}

/// One of its servers, if there is any.
fn one_of(text: &str, index: usize) -> Option<String> {
    let servers = document(text).servers();
    servers.get(index % servers.len().max(1)).cloned()
}

/// Whether `long` is `short` with texts added to it.
fn holds(long: &str, short: &str) -> bool {
    let mut rest = long.chars();
    short.chars().all(|wanted| rest.any(|c| c == wanted))
}

proptest! {
    #[test]
    fn ctl_01_a_server_that_is_added_changes_nothing_else(text in text()) {
        let after = with_server(&text, "new", r#"{"command":"x","args":["y"]}"#);

        let mut before = said(&text);
        before["mcpServers"]["new"] = serde_json::json!({ "command": "x", "args": ["y"] });
        prop_assert_eq!(said(&after), before);
        if one_of(&text, 0).is_some() {
            prop_assert!(holds(&after, &text), "{}", after);
        }
    }

    #[test]
    fn ctl_01_a_server_that_is_added_and_removed_leaves_the_file_as_it_was(text in text(), windows: bool) {
        let text = text.replace("\r\n", "\n");
        let text = if windows { text.replace('\n', "\r\n") } else { text };
        let after = with_server(&text, "new", r#"{"command":"x","env":{"A":"1"}}"#);
        if one_of(&text, 0).is_some() {
            prop_assert_eq!(without_server(&after, "new"), text);
        }
    }

    #[test]
    fn ctl_01_what_is_removed_takes_nothing_else_with_it(text in text(), index in 0_usize..4) {
        let Some(name) = one_of(&text, index) else { return Ok(()) };
        let after = without_server(&text, &name);

        let mut before = said(&text);
        before["mcpServers"].as_object_mut().unwrap().remove(&name);
        prop_assert_eq!(said(&after), before);
        prop_assert!(holds(&text, &after), "{}", after);
    }

    #[test]
    fn ctl_01_a_value_that_is_set_deep_inside_changes_nothing_else(text in text(), index in 0_usize..4) {
        let Some(name) = one_of(&text, index) else { return Ok(()) };
        let after = with(&text, &["mcpServers", &name, "mcpr", "timeouts", "call"], r#""5m""#);

        let mut before = said(&text);
        before["mcpServers"][&name]["mcpr"]["timeouts"]["call"] = "5m".into();
        prop_assert_eq!(said(&after), before);
    }
}
