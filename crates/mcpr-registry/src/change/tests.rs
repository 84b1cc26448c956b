//! What changes of definitions mean.

use proptest::prelude::*;

use super::*;

fn json(text: &str) -> RawJson {
    RawJson::parse(bytes::Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

fn told(change: Change) -> String {
    match change {
        Change::Unchanged => "unchanged".into(),
        Change::Compatible(reasons) => format!("compatible: {}", reasons.join("; ")),
        Change::Breaking(reasons) => format!("breaking: {}", reasons.join("; ")),
    }
}

/// Compares tools with these members.
fn tools(before: &str, after: &str) -> String {
    let tool = |members: &str| json(&format!(r#"{{"name":"t",{members}}}"#));
    told(compare(&tool(before), &tool(after)))
}

/// Compares tools whose parameter `p` has these schemas.
fn parameter(before: &str, after: &str) -> String {
    let tool = |schema: &str| format!(r#""inputSchema":{{"type":"object","properties":{{"p":{schema}}}}}"#);
    tools(&tool(before), &tool(after))
}

fn result(before: &str, after: &str) -> String {
    tools(
        &format!(r#""outputSchema":{before}"#),
        &format!(r#""outputSchema":{after}"#),
    )
}

/// A line for each pair, with what the change means.
fn table(rows: &[(&str, &str)], told: impl Fn(&str, &str) -> String) -> String {
    let line = |(before, after): &(&str, &str)| format!("{before}\n{after}\n    {}\n", told(before, after));
    rows.iter().map(line).collect()
}

#[test]
fn set_10_what_a_change_of_a_definition_means() {
    let rows = [
        (
            r#""title":"A","x":[1,{}]"#,
            r#" "x" : [ 1, {} ], "title" : "\u0041" "#,
        ),
        (
            r#""title":"A","icons":[]"#,
            r#""title":"B","description":"b","_meta":{},"execution":{}"#,
        ),
        (r#""annotations":{"title":"A"}"#, r#""annotations":{"title":"B"}"#),
        (
            r#""annotations":{"readOnlyHint":true}"#,
            r#""annotations":{"readOnlyHint":false}"#,
        ),
        (r#""annotations":{"readOnlyHint":true}"#, r#""title":"A""#),
        (r#""annotations":{}"#, r#""annotations":{"readOnlyHint":true}"#),
        (
            r#""annotations":{"destructiveHint":false}"#,
            r#""annotations":{"destructiveHint":true}"#,
        ),
        (
            r#""annotations":{"destructiveHint":true}"#,
            r#""annotations":{"destructiveHint":false}"#,
        ),
        (r#""annotations":{"idempotentHint":true}"#, r#""annotations":[]"#),
        (r#""inputSchema":null"#, r#""inputSchema":{"type":"object"}"#),
        (
            r#""title":"A""#,
            r#""title":"A","outputSchema":{"type":"object"}"#,
        ),
        (
            r#""title":"A","outputSchema":{"type":"object"}"#,
            r#""title":"A""#,
        ),
    ];
    insta::assert_snapshot!(table(&rows, tools));
}

#[test]
fn set_10_what_a_change_of_the_parameters_means() {
    const ONE: &str = r#"{"properties":{"a":{}}}"#;
    const NEEDED: &str = r#"{"properties":{"a":{}},"required":["a"]}"#;
    let rows = [
        (ONE, r#"{"properties":{"a":{},"b":{}}}"#),
        (ONE, r#"{"properties":{"a":{},"b":{}},"required":["b"]}"#),
        (ONE, NEEDED),
        (NEEDED, ONE),
        (NEEDED, "{}"),
        ("{}", r#"{"required":["x"]}"#),
        (ONE, r#"{"properties":{"a":true},"additionalProperties":true}"#),
        (ONE, r#"{"properties":{"a":{}},"additionalProperties":false}"#),
        (r#"{"additionalProperties":false}"#, r#"{"type":"object"}"#),
        (
            r#"{"additionalProperties":{"type":"string"}}"#,
            r#"{"additionalProperties":{"type":"integer"}}"#,
        ),
        (r#"{"properties":[]}"#, ONE),
        (
            r#"{"$defs":{"d":{"enum":[1]}}}"#,
            r#"{"$defs":{"d":{"enum":[1,2]},"e":{}}}"#,
        ),
        (
            r#"{"$defs":{"d":{"enum":[1,2]}}}"#,
            r#"{"$defs":{"d":{"enum":[1]}}}"#,
        ),
        ("true", "{}"),
        ("{}", "false"),
        ("[1]", "7"),
    ];
    let inputs = |before: &str, after: &str| {
        tools(
            &format!(r#""inputSchema":{before}"#),
            &format!(r#""inputSchema":{after}"#),
        )
    };
    insta::assert_snapshot!(table(&rows, inputs));
}

#[test]
fn set_10_what_a_change_of_one_parameter_means() {
    const STRING: &str = r#"{"type":"string"}"#;
    let rows = [
        (
            STRING,
            r#"{"type":"string","description":"Where.","default":"."}"#,
        ),
        (STRING, r#"{"type":"integer"}"#),
        (STRING, r#"{"type":["string","null"]}"#),
        (r#"{"type":["string","null"]}"#, r#"{"type":["null","string"]}"#),
        (r#"{"type":["string","null"]}"#, STRING),
        (r#"{"type":"integer"}"#, r#"{"type":"number"}"#),
        (STRING, "true"),
        ("{}", STRING),
        (
            STRING,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}"#,
        ),
        (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, STRING),
        (
            r#"{"anyOf":[{"enum":["a"]},{"type":"null"}]}"#,
            r#"{"anyOf":[{"type":"null"},{"enum":["a","b"]}]}"#,
        ),
        (
            r#"{"oneOf":[{"type":"string"}]}"#,
            r#"{"oneOf":[{"type":"integer"}]}"#,
        ),
        (r#"{"enum":["a","b"]}"#, r#"{"enum":["b","a"]}"#),
        (r#"{"enum":["a"]}"#, r#"{"enum":["a","b"]}"#),
        (r#"{"enum":["a","b"]}"#, r#"{"enum":["b"]}"#),
        (r#"{"enum":["a"]}"#, STRING),
        (r#"{"type":"string","enum":["a"]}"#, STRING),
        (STRING, r#"{"type":"string","enum":[0,1,2,3,4,5,6]}"#),
        (STRING, r#"{"type":"string","maxLength":3}"#),
        (r#"{"minimum":3}"#, r#"{"minimum":1}"#),
        (r#"{"maximum":3}"#, r#"{"maximum":1}"#),
        (r#"{"pattern":"a"}"#, r#"{"pattern":"b"}"#),
        (
            r#"{"const":123456789012345678901234567890}"#,
            r#"{"const":123456789012345678901234567891}"#,
        ),
        (r##"{"$ref":"#/$defs/a"}"##, r##"{"$ref":"#/$defs/b"}"##),
        (
            r#"{"items":{"type":"string"}}"#,
            r#"{"items":{"type":"integer"}}"#,
        ),
        (r#"{"items":{"type":"string"}}"#, "{}"),
        (r#"{"items":[]}"#, r#"{"items":[{}]}"#),
        (
            r#"{"properties":{"q":{"items":{"properties":{"r":{}}}}}}"#,
            r#"{"properties":{"q":{"items":{"properties":{}}}}}"#,
        ),
        (r#"{"type":null}"#, r#"{"type":7}"#),
    ];
    insta::assert_snapshot!(table(&rows, parameter));
}

#[test]
fn set_10_what_a_change_of_the_results_means() {
    const ONE: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
    let rows = [
        (
            ONE,
            r#"{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["b"]}"#,
        ),
        (ONE, r#"{"type":"object","properties":{}}"#),
        (ONE, r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#),
        (
            ONE,
            r#"{"type":"object","properties":{"a":{"type":["string","null"]}}}"#,
        ),
        (
            r#"{"properties":{"a":{"type":["string","null"]}}}"#,
            r#"{"properties":{"a":{"type":"string"}}}"#,
        ),
        (
            r#"{"properties":{"a":{}},"required":["a"]}"#,
            r#"{"properties":{"a":{}}}"#,
        ),
        (
            r#"{"properties":{"a":{}}}"#,
            r#"{"properties":{"a":{}},"required":["a"]}"#,
        ),
        (
            r#"{"properties":{"a":{"enum":[1]}}}"#,
            r#"{"properties":{"a":{"enum":[1,2]}}}"#,
        ),
        (r#"{"additionalProperties":false}"#, "{}"),
        ("{}", r#"{"additionalProperties":false}"#),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            r#"{"type":"string"}"#,
        ),
        (r#"{"x":1}"#, r#"{"x":2}"#),
    ];
    insta::assert_snapshot!(table(&rows, result));
}

#[test]
fn set_10_at_most_ten_reasons_are_told() {
    let many: Vec<String> = (10..25).map(|index| format!(r#""p{index}":{{}}"#)).collect();
    let inputs = format!(r#""inputSchema":{{"properties":{{{}}}}}"#, many.join(","));
    let change = tools(&inputs, r#""inputSchema":{}"#);
    assert!(
        change.starts_with("breaking: `p10` is gone; `p11` is gone"),
        "{change}"
    );
    assert!(change.ends_with("`p19` is gone; and 5 more"), "{change}");
}

#[test]
fn set_10_what_is_too_deep_or_too_much_to_look_into_breaks() {
    let nested = |depth: usize, inner: &str| {
        format!(r#"{}{inner}{}"#, r#"{"items":"#.repeat(depth), "}".repeat(depth))
    };
    let shallow = parameter(&nested(3, r#"{"title":"a"}"#), &nested(3, r#"{"title":"b"}"#));
    assert_eq!(shallow, "compatible: the `title` of `p[][][]` changed");
    let deep = parameter(
        &nested(5000, r#"{"title":"a"}"#),
        &nested(5000, r#"{"title":"b"}"#),
    );
    assert!(deep.starts_with("breaking: the schema of `p[]"), "{deep}");

    let union = |title: &str| {
        let branch = |index| format!(r#"{{"title":"{title}","const":{index}}}"#);
        let branches: Vec<String> = (0..200).map(branch).collect();
        format!(r#"{{"anyOf":[{}]}}"#, branches.join(","))
    };
    let much = parameter(&union("a"), &union("b"));
    assert_eq!(much, "breaking: the alternatives of `p` changed");
}

#[test]
fn set_10_what_is_no_object_or_has_a_member_twice_is_no_panic() {
    let texts = [
        "7",
        "[]",
        "null",
        r#"{"a":1,"a":2}"#,
        r#"{"inputSchema":{"type":1,"type":2}}"#,
        "{}",
    ];
    for (before, after) in texts
        .iter()
        .flat_map(|before| texts.map(|after| (*before, after)))
    {
        let change = compare(&json(before), &json(after));
        assert_eq!(change == Change::Unchanged, before == after, "{before} {after}");
    }
}

#[test]
fn set_10_the_hash_stays_the_same_over_versions() {
    // Stored with toolsets: if this fails, every tool is taken for changed.
    let definition = json(r#"{ "name":"é\n\u00e9", "b":[1.0, 1E400 ,{}], "a":{"y":null,"x":true} }"#);
    assert_eq!(
        canonical(&definition).as_str(),
        r#"{"a":{"x":true,"y":null},"b":[1.0,1E400,{}],"name":"é\né"}"#
    );
    assert_eq!(
        definition_hash(&definition),
        "6271acf3e6afedb326ce8485f0de4da2af87e5bf4252818a77a5da9951334076"
    );
}

/// A JSON value, as it is written plainly and with blanks and members the other way round.
fn twice() -> impl Strategy<Value = (String, String)> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.50".to_owned()),
        "[a-zé\"\\\\]{0,4}".prop_map(|text| RawJson::string(&text).as_str().to_owned()),
    ];
    let leaf = leaf.prop_map(|text| (text.clone(), text));
    leaf.prop_recursive(4, 40, 5, |inner| {
        let array = prop::collection::vec(inner.clone(), 0..5).prop_map(|values| {
            let (plain, spaced): (Vec<String>, Vec<String>) = values.into_iter().unzip();
            (
                format!("[{}]", plain.join(",")),
                format!("[ {} ]", spaced.join(" ,\n")),
            )
        });
        let object = prop::collection::btree_map("[a-c]{1,2}", inner, 0..5).prop_map(|members| {
            let plain = members
                .iter()
                .map(|(name, (plain, _))| format!("{name:?}:{plain}"));
            let spaced = members.iter().rev();
            let spaced = spaced.map(|(name, (_, spaced))| format!("{name:?} :\t{spaced}"));
            let (plain, spaced): (Vec<_>, Vec<_>) = (plain.collect(), spaced.collect());
            (
                format!("{{{}}}", plain.join(",")),
                format!("{{ {} }}", spaced.join(" , ")),
            )
        });
        prop_oneof![array, object]
    })
}

proptest! {
    #[test]
    fn set_10_blanks_and_the_order_of_members_do_not_count((plain, spaced) in twice()) {
        let (plain, spaced) = (json(&plain), json(&spaced));
        prop_assert_eq!(definition_hash(&plain), definition_hash(&spaced));
        prop_assert_eq!(compare(&plain, &spaced), Change::Unchanged);
    }

    #[test]
    fn set_10_definitions_are_unchanged_exactly_if_their_hashes_are_equal((one, _) in twice(), (other, _) in twice()) {
        let (one, other) = (json(&one), json(&other));
        let unchanged = compare(&one, &other) == Change::Unchanged;
        prop_assert_eq!(unchanged, definition_hash(&one) == definition_hash(&other));
    }

    #[test]
    fn set_10_any_schemas_can_be_compared(one in schema(), other in schema()) {
        let change = parameter(&one, &other);
        prop_assert_eq!(change == "unchanged", canonical(&json(&one)) == canonical(&json(&other)));
        let _ = result(&one, &other);
    }
}

/// Something like a schema, with odd things in it.
fn schema() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("{}"),
        Just("true"),
        Just("false"),
        Just("null"),
        Just("[]"),
        Just(r#"{"type":"string"}"#),
        Just(r#"{"type":["integer","null"]}"#),
        Just(r#"{"enum":["a"]}"#),
        Just(r##"{"$ref":"#"}"##),
    ];
    let keyword = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "enum",
        "items",
        "additionalProperties",
        "anyOf",
        "$defs",
        "maxLength",
        "description",
        "x",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(4, 30, 4, move |inner| {
            let list =
                prop::collection::vec(inner.clone(), 0..3).prop_map(|all| format!("[{}]", all.join(",")));
            let value = prop_oneof![inner, list];
            prop::collection::btree_map(keyword.clone(), value, 0..4).prop_map(|members| {
                let members = members.iter().map(|(name, value)| format!("{name:?}:{value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            })
        })
}
