//! The schema, the tables of keys and the documentation say the same.

use serde_json::Value;

use super::*;
use crate::keys::{self, Choice};

fn schema() -> Value {
    serde_json::from_str(crate::schema()).unwrap()
}

/// The definition of one kind of object.
fn definition<'s>(schema: &'s Value, of: &str) -> &'s Value {
    if of == "root" {
        schema
    } else {
        &schema["$defs"][of]
    }
}

fn sorted<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_unstable();
    names
}

#[test]
fn cfg_06_the_schema_knows_exactly_the_keys_that_the_parser_knows() {
    let schema = schema();
    for keys in keys::ALL {
        let properties = definition(&schema, keys.of)["properties"].as_object();
        let described = sorted(
            properties
                .unwrap_or_else(|| panic!("no {}", keys.of))
                .keys()
                .map(String::as_str),
        );
        assert_eq!(described, sorted(keys.all.iter().copied()), "{}", keys.of);
    }
}

#[test]
fn cfg_06_the_schema_is_as_strict_as_the_parser() {
    let schema = schema();
    let open = ["root", "server", "transport"];
    for keys in keys::ALL {
        let closed = definition(&schema, keys.of)["additionalProperties"] == Value::Bool(false);
        assert_eq!(closed, !open.contains(&keys.of), "{}", keys.of);
    }
}

#[test]
fn cfg_06_the_schema_knows_exactly_the_words_that_the_parser_knows() {
    fn assert_words<T>(pointer: &str, choice: &Choice<T>) {
        let schema = schema();
        let property = schema
            .pointer(&format!("/$defs/{pointer}"))
            .unwrap_or_else(|| panic!("no {pointer}"));
        assert_eq!(property["enum"], serde_json::json!(choice.names()), "{pointer}");
    }

    assert_words("naming/properties/prefix", &keys::PREFIX);
    assert_words("naming/properties/hyphens", &keys::HYPHENS);
    assert_words("resources/properties/uris", &keys::URIS);
    assert_words("serverResources/properties/uris", &keys::URIS);
    assert_words("startup/properties/mode", &keys::START_MODE);
    assert_words("startup/properties/order", &keys::START_ORDER);
    assert_words("startup/properties/when", &keys::START_WHEN);
    assert_words("log/properties/level", &keys::LOG_LEVEL);
    assert_words("log/properties/format", &keys::LOG_FORMAT);
    assert_words("gateway/properties/expose", &keys::EXPOSE);
    assert_words("history/properties/arguments", &keys::ARGUMENTS);
    assert_words("serverOwn/properties/balance", &keys::BALANCE);
    assert_words("serverOwn/properties/isolation", &keys::ISOLATION);
    assert_words("serverOwn/properties/retry", &keys::RETRY);
    assert_words("serverOwn/properties/pins", &keys::PINS);
    assert_words("gateway/properties/pins", &keys::PINS);
    assert_words("serverOwn/properties/env", &keys::ENV_INHERIT);
    assert_words("serverNaming/properties/style", &keys::NAMING_STYLE);
}

/// A gateway that says each default aloud is the same as one that says nothing.
#[test]
fn cfg_06_the_defaults_of_the_schema_are_the_defaults() {
    let schema = schema();
    let gateway = load(&format!("{{\"mcpr\": {}}}", spoken(&schema, "gateway"))).gateway;
    let server = server(&format!(
        "{{\"command\": \"x\", \"mcpr\": {}}}",
        spoken(&schema, "serverOwn")
    ));
    let silent = super::server(r#"{"command": "x"}"#);

    assert_eq!(gateway, crate::GatewayOptions::default());
    assert_eq!(
        (spec(&server), &server.naming.raw),
        (spec(&silent), &silent.naming.raw)
    );
    assert_eq!(
        (&server.backends, &server.tools),
        (&silent.backends, &silent.tools)
    );
}

/// The defaults of a definition and of those below it as one object.
fn spoken(schema: &Value, of: &str) -> Value {
    let properties = schema["$defs"][of]["properties"].as_object().unwrap();
    let default = |property: &Value| match (&property["default"], property["$ref"].as_str()) {
        (Value::Null, Some(reference)) => {
            let below = reference.strip_prefix("#/$defs/").unwrap();
            schema["$defs"][below]["properties"]
                .is_object()
                .then(|| spoken(schema, below))
        }
        (Value::Null, None) => None,
        (default, _) => Some(default.clone()),
    };
    properties
        .iter()
        .filter_map(|(key, property)| Some((key.clone(), default(property)?)))
        .collect()
}

/// The JSON blocks of a page.
fn blocks(page: &str) -> Vec<&str> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced
        .filter_map(|block| {
            block
                .strip_prefix("jsonc\n")
                .or_else(|| block.strip_prefix("json\n"))
        })
        .collect()
}

#[test]
fn cfg_06_every_example_of_the_documentation_loads() {
    let page = include_str!("../../../../docs/configuration.md");
    let env = || {
        ["GITHUB_TOKEN", "API_KEY", "JIRA_TOKEN"]
            .iter()
            .fold(Fixed::default(), |env, name| env.with(name, "t0ken-value"))
    };
    assert!(blocks(page).len() >= 5);

    for block in blocks(page) {
        let config = load_in(env(), block).unwrap_or_else(|error| panic!("{error}\n{block}"));
        config.servers.iter().for_each(|entry| {
            assert!(
                !matches!(entry.state, ServerState::Misconfigured(_)),
                "{}\n{block}",
                reason(entry)
            );
        });
    }
}

#[test]
fn cfg_06_every_key_is_in_the_documentation() {
    let page = include_str!("../../../../docs/configuration.md");
    for keys in keys::ALL {
        for key in keys.all {
            assert!(page.contains(key), "`{key}` of {} is missing", keys.of);
        }
    }
}

#[test]
fn cfg_06_every_example_of_the_documentation_fits_the_schema() {
    let (schema, page) = (schema(), include_str!("../../../../docs/configuration.md"));
    for block in blocks(page) {
        let example: Value = jsonc_parser::parse_to_serde_value(block, &Default::default()).unwrap();
        fits(&schema, &schema, &example, "$");
    }
}

/// The part of JSON Schema that ours needs; panics with the path of what does not fit.
fn fits(schema: &Value, rule: &Value, value: &Value, at: &str) {
    if let Some(reference) = rule["$ref"].as_str() {
        let below = schema.pointer(reference.trim_start_matches('#')).unwrap();
        return fits(schema, below, value, at);
    }
    if let Some(words) = rule["enum"].as_array() {
        assert!(words.contains(value), "{at}: {value}");
    }
    assert!(
        has_type(&rule["type"], value),
        "{at}: {value} is not {}",
        rule["type"]
    );
    if let Some(items) = value.as_array().filter(|_| rule["items"].is_object()) {
        items
            .iter()
            .for_each(|item| fits(schema, &rule["items"], item, at));
    }
    for (key, member) in value.as_object().into_iter().flatten() {
        let at = format!("{at}.{key}");
        match (&rule["properties"][key], &rule["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => panic!("{at} is unknown"),
            (Value::Null, Value::Null) => {}
            (Value::Null, other) => fits(schema, other, member, &at),
            (known, _) => fits(schema, known, member, &at),
        }
    }
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |wanted: &str| wanted == name || (wanted == "integer" && value.is_u64());
    match wanted {
        Value::String(wanted) => is(wanted),
        Value::Array(several) => several.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}
