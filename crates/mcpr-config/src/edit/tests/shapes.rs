//! What a change looks like in texts of many shapes.

use super::*;

const ENTRY: &str = r#"{"command":"uvx","args":["a","b"]}"#;

/// A file as people write them.
const LIVED_IN: &str = r#"// My servers.
{
	"mcpServers": {
		// The repository.
		"git": {
			"command": "uvx", // from Astral
			"args": ["mcp-server-git"],
			"mcpr": { "timeouts": { "call": "1m" }, "lazy": true }
		},

		/* not now
		"old": {} */
		"docs": { "type": "http", "url": "https://example.com/mcp" }, // slow
	},
	"mcpr": {
		"listen": "127.0.0.1:4000",
	},
}
"#;

#[test]
fn ctl_01_a_server_is_added_in_the_style_of_the_file() {
    insta::assert_snapshot!(with_server(LIVED_IN, "notes", ENTRY));
}

#[test]
fn ctl_01_a_server_is_removed_with_its_lines_and_nothing_else() {
    let git = without_server(LIVED_IN, "git");
    let docs = without_server(LIVED_IN, "docs");

    assert!(git.contains("// The repository.\n\n\t\t/* not now"), "{git}");
    assert!(
        docs.ends_with("\"old\": {} */\n\t},\n\t\"mcpr\": {\n\t\t\"listen\": \"127.0.0.1:4000\",\n\t},\n}\n"),
        "{docs}"
    );
}

#[test]
fn ctl_01_one_value_is_changed_and_every_other_byte_stays() {
    let call = ["mcpServers", "git", "mcpr", "timeouts", "call"];

    assert_eq!(with(LIVED_IN, &call, r#""5m""#), LIVED_IN.replace("1m", "5m"));
    assert_eq!(
        with(LIVED_IN, &["mcpServers", "git", "command"], r#""npx""#),
        LIVED_IN.replace(r#""uvx""#, r#""npx""#)
    );
    assert_eq!(
        with(LIVED_IN, &["mcpServers", "git", "mcpr", "tags"], r#"["eu"]"#),
        LIVED_IN.replace(r#""lazy": true"#, r#""lazy": true, "tags": ["eu"]"#)
    );
    assert_eq!(
        with(LIVED_IN, &["mcpServers", "git", "mcpr", "lazy"], ""),
        LIVED_IN.replace(r#", "lazy": true"#, "")
    );
}

#[test]
fn ctl_01_what_is_missing_on_the_way_is_made() {
    assert_eq!(
        with(
            LIVED_IN,
            &["mcpServers", "docs", "mcpr", "timeouts", "call"],
            r#""5m""#
        ),
        LIVED_IN.replace(
            r#"/mcp" }"#,
            r#"/mcp", "mcpr": { "timeouts": { "call": "5m" } } }"#
        )
    );
    assert_eq!(
        with(LIVED_IN, &["mcpr", "log", "level"], r#""debug""#),
        LIVED_IN.replace(
            "4000\",\n",
            "4000\",\n\t\t\"log\": {\n\t\t\t\"level\": \"debug\"\n\t\t},\n"
        )
    );
    assert_eq!(
        with("{\n  \"mcpr\": null\n}", &["mcpr", "listen"], r#""x""#),
        "{\n  \"mcpr\": {\n    \"listen\": \"x\"\n  }\n}"
    );
}

#[test]
fn ctl_01_a_file_in_one_line_stays_in_one_line() {
    let compact = r#"{"mcpServers":{"a":{"command":"x"}}}"#;
    let airy = r#"{ "mcpServers": { "a": { "command": "x" } } }"#;

    assert_eq!(
        with_server(compact, "b", ENTRY),
        r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"uvx","args":["a","b"]}}}"#
    );
    assert_eq!(
        with_server(airy, "b", ENTRY),
        r#"{ "mcpServers": { "a": { "command": "x" }, "b": { "command": "uvx", "args": ["a", "b"] } } }"#
    );
    assert_eq!(without_server(compact, "a"), r#"{"mcpServers":{}}"#);
    assert_eq!(
        with(airy, &["mcpServers", "a", "env"], "{}"),
        r#"{ "mcpServers": { "a": { "command": "x", "env": {} } } }"#
    );
}

#[test]
fn ctl_01_an_empty_place_is_filled_in_lines() {
    let filled = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}";
    let entry = r#"{"command":"x"}"#;

    assert_eq!(with_server("", "a", entry), format!("{filled}\n"));
    assert_eq!(with_server(" \n", "a", entry), format!("{filled}\n"));
    assert_eq!(with_server("{}", "a", entry), filled);
    assert_eq!(with_server("{\n}", "a", entry), filled);
    assert_eq!(with_server("{\n  \"mcpServers\": {}\n}", "a", entry), filled);
    assert_eq!(with_server("{\n  \"mcpServers\": { }\n}", "a", entry), filled);
    assert_eq!(with_server("{\n  \"mcpServers\": {\n  }\n}", "a", entry), filled);
    assert_eq!(
        with_server("{\n  \"mcpServers\": { // none yet\n  }\n}", "a", entry),
        filled.replace("s\": {", "s\": { // none yet")
    );
}

#[test]
fn ctl_01_an_empty_object_among_others_is_filled_in_its_line() {
    assert_eq!(
        with(
            r#"{ "mcpServers": { "a": { "command": "x", "env": {} } } }"#,
            &["mcpServers", "a", "env", "LEVEL"],
            r#""1""#
        ),
        r#"{ "mcpServers": { "a": { "command": "x", "env": { "LEVEL": "1" } } } }"#
    );
}

#[test]
fn ctl_01_members_that_share_lines_with_braces_keep_their_places() {
    let text = "{ \"mcpServers\": { \"a\": { \"command\": \"x\",\n                      \"args\": [] } } }";

    assert_eq!(
        with(text, &["mcpServers", "a", "cwd"], r#""/""#),
        "{ \"mcpServers\": { \"a\": { \"command\": \"x\",\n                      \"args\": [],\n                      \"cwd\": \"/\" } } }"
    );
    assert_eq!(
        with(text, &["mcpServers", "a", "args"], ""),
        "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }"
    );
    assert_eq!(
        with(text, &["mcpServers", "a", "command"], ""),
        "{ \"mcpServers\": { \"a\": { \n                      \"args\": [] } } }"
    );
}

#[test]
fn ctl_01_line_breaks_of_windows_and_a_byte_order_mark_stay() {
    let text = "\u{feff}{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n";
    let mut document = document(text);

    document.set_server("b", &raw(r#"{"command":"x"}"#)).unwrap();

    assert_eq!(
        String::from_utf8(document.bytes()).unwrap(),
        text.replace(
            "{}\r\n",
            "{},\r\n    \"b\": {\r\n      \"command\": \"x\"\r\n    }\r\n"
        )
    );
}

#[test]
fn ctl_01_the_servers_of_vs_code_stay_where_vs_code_looks_for_them() {
    let text =
        "{\n  \"inputs\": [],\n  \"servers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}";

    assert_eq!(
        with_server(text, "b", r#"{"command":"y"}"#),
        text.replace(
            "    }\n  }",
            "    },\n    \"b\": {\n      \"command\": \"y\"\n    }\n  }"
        )
    );
    assert_eq!(
        with(text, &["servers", "a", "command"], r#""z""#),
        text.replace("\"x\"", "\"z\"")
    );
}

#[test]
fn ctl_01_a_replaced_server_keeps_its_place_and_its_style() {
    let text = r#"{ "mcpServers": {
  "a": { "command": "x" },
  "b": { "command": "y" }
} }"#;

    assert_eq!(
        with_server(text, "a", ENTRY),
        text.replace(r#""x""#, r#""uvx", "args": ["a", "b"]"#)
    );
}

#[test]
fn b109_of_two_members_with_one_key_the_last_is_changed_and_both_are_removed() {
    let text = "{\n  \"mcpr\": {\n    \"listen\": \"a\",\n    \"listen\": \"b\"\n  }\n}";

    assert_eq!(
        with(text, &["mcpr", "listen"], r#""c""#),
        text.replace("\"b\"", "\"c\"")
    );
    assert_eq!(with(text, &["mcpr", "listen"], ""), "{\n  \"mcpr\": {}\n}");
}

#[test]
fn ctl_01_a_server_that_stands_in_both_forms_is_gone_once_it_is_removed() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": {}\n  },\n  \"servers\": {\n    \"a\": {}\n  }\n}";

    let mut document = document(text);
    assert_eq!(document.servers(), ["a", "b"]);
    assert!(document.remove_server("a").unwrap());

    assert_eq!(document.servers(), ["b"]);
    assert!(!document.remove_server("a").unwrap());
}

#[test]
fn ctl_01_numbers_and_strings_are_written_as_they_were_given() {
    let entry = r#"{"timeout":123456789012345678901234567890,"args":["\u00e9\n"],"env":{"a b.c":"\"d\""}}"#;

    assert_eq!(
        with_server(r#"{"mcpServers":{"a":{"x":1}}}"#, "b", entry),
        format!(r#"{{"mcpServers":{{"a":{{"x":1}},"b":{entry}}}}}"#)
    );
}

#[test]
fn ctl_01_keys_do_not_lead_through_a_list_or_a_text() {
    let mut document = document("{\n  \"mcpServers\": [],\n  \"mcpr\": { \"listen\": \"x\" }\n}");

    let list = document.set_server("a", &raw("{}")).unwrap_err();
    let text = document
        .set(&["mcpr", "listen", "port"], Some(&raw("1")))
        .unwrap_err();

    assert_eq!(
        [list.to_string(), text.to_string()],
        [
            "mcpr.json:2:17: `mcpServers` is no object, so nothing can be set in it",
            "mcpr.json:3:23: `mcpr.listen` is no object, so nothing can be set in it"
        ]
    );
    assert!(!document.is_changed());
}
