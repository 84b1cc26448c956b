//! The texts of lists, and what is left out of them.

use std::sync::Arc;

use mcpr_protocol::Era;
use mcpr_registry::{Kind, ParamKind, View};

use crate::common::{Lists, build, list, server, view, warnings};

const TOOL: &str = r##"{ "name" : "calendar.read", "title":"Read","x_future":1E400,
  "inputSchema": {"z":1, "type":"object","properties":{"n":{"const":123456789012345678901234567890}},"additionalProperties":false,"$defs":{"a":{"$ref":"#/$defs/a"}}},
  "outputSchema":{"type":"array"}, "execution":{"taskSupport":"optional"},
  "annotations":{"readOnlyHint":true,"idempotentHint":false}, "icons":[{"src":"data:,"}],
  "_meta": {"b":1,"dev.mcpr/server":"inner","a":[1.0]}, "description":"a > b && <script>\u2028" }"##;

#[test]
fn agg_03_a_tool_is_the_text_of_its_server_with_a_few_splices() {
    let view = view(&[server("desk").lists(Kind::Tools, &[TOOL])]);
    insta::assert_snapshot!("tool_session", list(&view, Kind::Tools, Era::Session));
    insta::assert_snapshot!("tool_stateless", list(&view, Kind::Tools, Era::Stateless));
    let tool = view.tool("desk_calendar_read").unwrap();
    assert_eq!((tool.read_only, tool.idempotent), (true, false));
    assert_eq!(tool.definition.as_str(), TOOL);
    assert_eq!(tool.title().as_deref(), Some("Read"));
    assert_eq!(tool.description().as_deref(), Some("a > b && <script>\u{2028}"));
    assert_eq!(
        tool.annotations().unwrap().as_str(),
        r#"{"readOnlyHint":true,"idempotentHint":false}"#
    );
}

#[test]
fn b13_prompts_resources_and_templates_keep_all_their_members() {
    let prompt = r#"{"name":"review","title":"R","arguments":[{"name":"diff","x":1}],"icons":[],"execution":{},"x_future":1}"#;
    let resource = r#"{ "uri":"file:///caf%C3%A9", "name":"e", "size":1.0e3,"annotations":{"lastModified":"x"},"_meta":{"k":null}}"#;
    let template = r#"{"uriTemplate":"data://{id}{?format}","name":"d","mimeType":"text/xml"}"#;
    let listing = server("desk")
        .lists(Kind::Prompts, &[prompt])
        .lists(Kind::Resources, &[resource])
        .lists(Kind::Templates, &[template]);
    let view = view(&[listing]);
    for era in [Era::Session, Era::Stateless] {
        insta::assert_snapshot!(format!("prompt_{era}"), list(&view, Kind::Prompts, era));
        insta::assert_snapshot!(format!("resource_{era}"), list(&view, Kind::Resources, era));
        insta::assert_snapshot!(format!("template_{era}"), list(&view, Kind::Templates, era));
    }
}

#[test]
fn b11_an_odd_tool_costs_nobody_but_itself() {
    let tools = [
        r#"{"name":"a","inputSchema":{}}"#,
        r#"{"name":"b"}"#,
        r#"{"name":"c","inputSchema":null}"#,
        r#"{"name":"d","inputSchema":{"type":"string"}}"#,
        r#"{"name":"good","inputSchema":{"type":"object"}}"#,
        "7",
        r#"{"title":"no name"}"#,
        r#"{"name":""}"#,
        r#"{"name":"x","name":"y"}"#,
        r#"{"name":"good","inputSchema":{"type":"object"},"again":1}"#,
        r#"{"name":"u","inputSchema":{"anyOf":[{"required":["a"]},{}]}}"#,
        r#"{"name":"m","inputSchema":{"type":"object"},"_meta":null}"#,
    ];
    let listings = [
        server("odd").lists(Kind::Tools, &tools),
        server("fine").tools(&["x"]),
    ];
    insta::assert_snapshot!("odd_tools_warnings", warnings(&build(&listings)).join("\n"));
    insta::assert_snapshot!(
        "odd_tools",
        list(&view(&listings), Kind::Tools, Era::Session).replace("},{\"n", "},\n{\"n")
    );
}

#[test]
fn b103_any_description_is_listed_as_it_is() {
    let long = "x".repeat(20_000);
    let texts = ["a > b && <script>", "'; DROP", &long, "\u{2028}\u{1f980}"];
    let tools: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| {
            format!(r#"{{"name":"t{n}","description":"{text}","inputSchema":{{"type":"object"}}}}"#)
        })
        .collect();
    let listing = server("s").lists(Kind::Tools, &tools.iter().map(String::as_str).collect::<Vec<_>>());
    let view = view(&[listing]);
    let seen: Vec<String> = view.tools().filter_map(|tool| tool.description()).collect();
    assert_eq!(seen, texts);
    let text = list(&view, Kind::Tools, Era::Session);
    assert!(
        tools
            .iter()
            .all(|tool| text.contains(tool.split_once(',').unwrap().1.strip_suffix('}').unwrap()))
    );
}

#[test]
fn only_the_session_era_misses_an_output_schema_that_is_no_object() {
    let schema =
        |schema: &str| format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
    for (text, dropped) in [
        ("{\"type\":\"array\"}", true),
        ("{\"anyOf\":[]}", true),
        ("{\"type\":\"object\"}", false),
    ] {
        let view = view(&[server("s").lists(Kind::Tools, &[&schema(text)])]);
        assert_eq!(
            !list(&view, Kind::Tools, Era::Session).contains("outputSchema"),
            dropped,
            "{text}"
        );
        assert!(list(&view, Kind::Tools, Era::Stateless).contains(text));
    }
}

#[test]
fn a_list_is_put_together_once_and_shared() {
    let view = view(&[server("s").tools(&["a", "b"])]);
    let first = view.list(Kind::Tools, Era::Session);
    assert_eq!(first.as_ptr(), view.list(Kind::Tools, Era::Session).as_ptr());
    assert_eq!(
        first.as_ptr(),
        view.list(Kind::Tools, Era::Stateless).as_ptr(),
        "no tool differs by era"
    );
    assert_eq!(list(&view, Kind::Prompts, Era::Session), "[]");
}

#[test]
fn a_list_holds_what_is_visible() {
    let catalog = Arc::new(build(&[server("a").tools(&["x", "y"]), server("b").tools(&["x"])]).catalog);
    let view = View::of(catalog, |asked| {
        asked.item.is_none_or(|item| &*item.origin.name == "x")
    });
    let names: Vec<&str> = view.items(Kind::Tools).map(|item| &*item.exposed).collect();
    assert_eq!(names, ["a_x", "b_x"]);
    assert!(!list(&view, Kind::Tools, Era::Session).contains("a_y"));
}

#[test]
fn a_tool_with_an_invalid_header_annotation_is_hidden_over_stateless_http_alone() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}"#;
    let elsewhere = server("s").lists(Kind::Tools, &[tool]);
    let mut stateless = elsewhere.clone();
    stateless.stateless_http = true;
    assert!(view(&[elsewhere]).tool("s_t").unwrap().param_headers.is_empty());
    let built = build(&[stateless]);
    assert_eq!(built.catalog.len(Kind::Tools), 0);
    let warning = "server `s`, tool `t`: left out: its `x-mcp-header` is not valid: `a` is not a string, an integer or a boolean";
    assert_eq!(warnings(&built), [warning]);
}

#[test]
fn a_tool_knows_which_arguments_go_into_headers() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"boolean","x-mcp-header":"Dry-Run"}}}}"#;
    let view = view(&[server("s").lists(Kind::Tools, &[tool])]);
    let [header] = &view.tool("s_t").unwrap().param_headers[..] else {
        panic!()
    };
    assert_eq!(
        (header.field().as_str(), header.kind),
        ("Mcp-Param-Dry-Run", ParamKind::Boolean)
    );
}
