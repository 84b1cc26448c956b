//! The JSON Schema of the format.

use mcpr_protocol::RawJson;
use serde_json::Value;

use crate::fault::Fault;
use crate::nearest;

/// The JSON Schema of a configuration file, as it is shipped in `schema/mcpr-1.json`.
pub fn schema() -> &'static str {
    include_str!("../../../schema/mcpr-1.json")
}

/// The default of what these keys of the top `mcpr` lead to, if there is a single value to tell.
///
/// # Errors
///
/// When there is no such key; the fault names the one that was probably meant.
pub fn gateway_default(path: &[&str]) -> Result<Option<RawJson>, Fault> {
    let all: Value = serde_json::from_str(schema()).expect("the schema is JSON");
    let mut at = resolved(&all, &all["$defs"]["gateway"]);
    let mut inside = "mcpr".to_owned();
    for key in path {
        let next = at["properties"]
            .get(*key)
            .or_else(|| at.get("additionalProperties"));
        at = match next.filter(|next| next.is_object()) {
            Some(next) => resolved(&all, next),
            None => return Err(unknown(key, &inside, at)),
        };
        inside = format!("{inside}.{key}");
    }
    Ok(at.get("default").map(RawJson::render))
}

/// What a `$ref` leads to; what stands beside it (a default, say) wins.
fn resolved<'v>(all: &'v Value, value: &'v Value) -> &'v Value {
    let place = value["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
    let beside = value.get("default").is_some();
    place
        .filter(|_| !beside)
        .and_then(|place| all.pointer(place))
        .unwrap_or(value)
}

fn unknown(key: &str, inside: &str, around: &Value) -> Fault {
    let known = around["properties"].as_object().into_iter().flatten();
    let fault = Fault::new(format!("unknown key `{key}` in `{inside}`"));
    match nearest(key, known.map(|(known, _)| known.as_str())) {
        Some(known) => fault.hint(format!("did you mean `{known}`?")),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default(path: &[&str]) -> Option<String> {
        gateway_default(path)
            .unwrap()
            .map(|value| value.as_str().to_owned())
    }

    #[test]
    fn defaults_are_found_by_their_keys() {
        assert_eq!(default(&["listen"]).as_deref(), Some("\"127.0.0.1:3282\""));
        assert_eq!(default(&["startup", "listWait"]).as_deref(), Some("\"2s\""));
        assert_eq!(default(&["resources", "rawSchemes"]).as_deref(), Some("[\"ui\"]"));
        assert_eq!(default(&["projects", "web", "servers"]), None);
        assert_eq!(default(&["naming"]), None);
    }

    #[test]
    fn cfg_04_an_unknown_key_comes_with_the_one_that_was_meant() {
        let told = |path: &[&str]| gateway_default(path).unwrap_err().to_string();

        assert_eq!(
            told(&["lisen"]),
            "unknown key `lisen` in `mcpr`; did you mean `listen`?"
        );
        assert_eq!(
            told(&["naming", "max_lenght"]),
            "unknown key `max_lenght` in `mcpr.naming`; did you mean `maxLength`?"
        );
        assert_eq!(told(&["listen", "port"]), "unknown key `port` in `mcpr.listen`");
    }
}
