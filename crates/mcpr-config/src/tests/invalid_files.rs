//! One snapshot for each way in which a file can be wrong as a whole.

use super::*;

fn message(bytes: &[u8]) -> String {
    let env = Fixed::default().file("/base/mcpr.json", bytes);
    let locations = Locations::from_env(&[FILE.into()], &env).unwrap();
    Config::load(&locations, &env).unwrap_err().to_string()
}

/// The messages of files that differ in what the gateway is told.
fn messages(settings: &[&str]) -> String {
    let told = settings.iter().map(|settings| {
        let text = format!("{{\n  \"mcpr\": {settings}\n}}");
        format!("{settings}\n    {}", message(text.as_bytes()))
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn cfg_04_a_file_that_is_not_json() {
    let texts = [
        "",
        " \n",
        "// only this",
        "{",
        "{\"a\": }",
        "{\n  \"a\": 1\n  \"b\": 2\n}",
        "{'a': 1}",
        "{a: 1}",
        "{\"a\": \"\\x41\"}",
        "{} {}",
    ];
    let told = texts.map(|text| format!("{text:?}\n    {}", message(text.as_bytes())));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn cfg_04_a_file_that_breaks_off_anywhere_is_a_message_and_no_panic() {
    let whole = r#"{ "mcpServers": { "é—": { "command": "${A:-ü}", "args": ["\u00e9\n", 1e5, null] /* — */ } }, // ü
        "mcpr": { "listen": "127.0.0.1:1", "timeouts": { "call": "1h30m" } } }"#;
    for end in 1..whole.len() {
        assert!(message(&whole.as_bytes()[..end]).contains("mcpr.json"), "{end}");
    }
}

#[test]
fn cfg_04_a_file_of_a_wrong_shape() {
    let texts = [
        "[]",
        "null",
        r#"{"mcpServers": []}"#,
        r#"{"servers": "x"}"#,
        r#"{"mcpr": true}"#,
    ];
    let told = texts.map(|text| format!("{text}\n    {}", message(text.as_bytes())));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn b96_utf_16_is_named() {
    let encoded = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>();
    let texts = [encoded("\u{feff}{}"), encoded("{}"), big("\u{feff}{}"), big("{}")];
    insta::assert_snapshot!(texts.map(|bytes| message(&bytes)).join("\n"));
}

#[test]
fn b112_an_invalid_byte_is_named_with_its_offset() {
    insta::assert_snapshot!(message(b"\xEF\xBB\xBF{\"mcpServers\": {\"caf\xE9\": {}}}"));
}

#[test]
fn cfg_04_an_unknown_key_of_the_gateway() {
    insta::assert_snapshot!(messages(&[
        r#"{"lisen": "127.0.0.1:1"}"#,
        r#"{"mcpServers": {}}"#,
        r#"{"naming": {"seperator": "_"}}"#,
        r#"{"startup": {"wehn": "launch"}}"#,
        r#"{"limits": {"body": 1}}"#,
    ]));
}

#[test]
fn cfg_04_a_wrong_value_of_the_gateway() {
    insta::assert_snapshot!(messages(&[
        r#"{"listen": 3282}"#,
        r#"{"listen": "everywhere"}"#,
        r#"{"allowedHosts": ["*"]}"#,
        r#"{"allowedHosts": "example.com"}"#,
        r#"{"allowedOrigins": ["example.com"]}"#,
        r#"{"naming": {"prefix": "allways"}}"#,
        r#"{"naming": {"separator": "."}}"#,
        r#"{"naming": {"maxLength": 5}}"#,
        r#"{"naming": {"maxLength": 50.5}}"#,
        r#"{"resources": {"rawSchemes": ["ui://"]}}"#,
        r#"{"startup": {"when": "later"}}"#,
        r#"{"startup": {"parallel": 0}}"#,
        r#"{"startup": {"listWait": "2 sec"}}"#,
        r#"{"timeouts": {"call": "none"}}"#,
        r#"{"timeouts": {"call": -5}}"#,
        r#"{"limits": {"requestBody": "4 apples"}}"#,
        r#"{"limits": {"sessions": 0}}"#,
        r#"{"limits": {"pageSize": 0}}"#,
        r#"{"limits": {"perPrincipal": {"inFlight": 0}}}"#,
        r#"{"limits": {"perPrincipal": {"rate": "fast"}}}"#,
        r#"{"tls": {"cert": "cert.pem"}}"#,
        r#"{"log": {"level": "information"}}"#,
        r#"{"log": {"format": "text"}}"#,
        r#"{"expose": "everything"}"#,
        r#"{"builtins": "no"}"#,
        r#"{"projects": {"web": ["github"]}}"#,
        r#"{"projects": {"web": {"servers": ["a/b"]}}}"#,
        r#"{"toolsets": {"dev": {"tools": ["git.status"]}}}"#,
        r#"{"toolsets": {"dev": {"tools": [{}]}}}"#,
        r#"{"history": {"keep": "30"}}"#,
    ]));
}
