//! Tells the time.

use mcpr_auth::Timestamp;
use mcpr_protocol::code;
use serde_json::{Value, json};

use super::wire::Caller;
use super::{Refusal, Serve, object, structured, tool_error};

/// A server with two tools and nothing else.
pub(super) struct Clock;

impl Serve for Clock {
    const NAME: &'static str = "clock";
    const INSTRUCTIONS: &'static str = "Tells the time, and how much of it lies between two moments.";

    fn tools(&self) -> Value {
        let moment = json!({ "type": "string", "description": "A moment, such as 2026-07-28T12:00:00Z" });
        json!([
            {
                "name": "now",
                "description": "The time now, in UTC.",
                "inputSchema": object(json!({}), &[]),
                "outputSchema": object(json!({ "utc": { "type": "string" }, "unix": { "type": "integer" } }), &["utc", "unix"]),
                "annotations": { "readOnlyHint": true },
            },
            {
                "name": "between",
                "description": "How many seconds lie between two moments.",
                "inputSchema": object(json!({ "from": moment, "to": moment }), &["from", "to"]),
                "outputSchema": object(json!({ "seconds": { "type": "integer" } }), &["seconds"]),
                "annotations": { "readOnlyHint": true, "idempotentHint": true },
            },
        ])
    }

    fn call(&self, tool: &str, arguments: &Value, _: &Caller<'_>) -> Result<Value, Refusal> {
        match tool {
            "now" => Ok(now()),
            "between" => Ok(between(arguments).unwrap_or_else(|why| tool_error(&why))),
            _ => Err(Refusal {
                code: code::INVALID_PARAMS,
                message: format!("Unknown tool: {tool}"),
            }),
        }
    }
}

fn now() -> Value {
    let now = Timestamp::now();
    structured(
        json!({ "utc": now.to_string(), "unix": now.unix() }),
        &now.to_string(),
    )
}

fn between(arguments: &Value) -> Result<Value, String> {
    let [from, to] = ["from", "to"].map(|name| moment(name, &arguments[name]));
    let seconds = to?.unix() - from?.unix();
    Ok(structured(json!({ "seconds": seconds }), &format!("{seconds} s")))
}

fn moment(name: &str, value: &Value) -> Result<Timestamp, String> {
    let moment = value.as_str().and_then(|text| text.parse().ok());
    moment.ok_or_else(|| format!("`{name}` must be a moment such as 2026-07-28T12:00:00Z, not {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_in_both_directions() {
        let (noon, one) = ("2026-07-28T12:00:00Z", "2026-07-28T13:00:00Z");
        let seconds = |from, to| {
            between(&json!({ "from": from, "to": to })).unwrap()["structuredContent"]["seconds"].clone()
        };

        assert_eq!(seconds(noon, one), 3600);
        assert_eq!(seconds(one, noon), -3600);
        assert!(
            between(&json!({ "from": "noon", "to": one }))
                .unwrap_err()
                .contains("`from` must be a moment")
        );
    }
}
