//! Calculates.

use std::thread;
use std::time::Duration;

use mcpr_protocol::code;
use serde_json::{Value, json};

use super::wire::Caller;
use super::{Refusal, Serve, object, structured, tool_error};

/// A server with results for programs, a slow tool and a prompt.
pub(super) struct Calc;

/// One step of the slow tool.
const STEP: Duration = Duration::from_millis(250);

/// The largest whole number that a float counts to without a gap.
const WHOLE: f64 = 9_007_199_254_740_992.0;

impl Serve for Calc {
    const NAME: &'static str = "calc";
    const INSTRUCTIONS: &'static str = "Calculates exactly; prefer it to mental arithmetic.";

    fn tools(&self) -> Value {
        let to = json!({ "type": "integer", "minimum": 1, "maximum": 100, "description": "The last number" });
        json!([
            arithmetic("add", "Adds two numbers."),
            arithmetic("multiply", "Multiplies two numbers."),
            arithmetic("divide", "Divides the first number by the second."),
            {
                "name": "count",
                "description": "Counts to a number, four steps a second, and reports its progress.",
                "inputSchema": object(json!({ "to": to }), &["to"]),
                "annotations": { "readOnlyHint": true },
            },
        ])
    }

    fn call(&self, tool: &str, arguments: &Value, caller: &Caller<'_>) -> Result<Value, Refusal> {
        let operands = [&arguments["a"], &arguments["b"]].map(Value::as_f64);
        match (tool, operands) {
            ("add" | "multiply" | "divide", [Some(a), Some(b)]) => Ok(calculated(tool, a, b)),
            ("add" | "multiply" | "divide", _) => Ok(tool_error("`a` and `b` must be numbers")),
            ("count", _) => Ok(count(&arguments["to"], caller)),
            _ => Err(Refusal {
                code: code::INVALID_PARAMS,
                message: format!("Unknown tool: {tool}"),
            }),
        }
    }

    fn prompts(&self) -> Value {
        let problem = json!({ "name": "problem", "description": "What to solve", "required": true });
        json!([{ "name": "solve", "description": "Solves a problem step by step.", "arguments": [problem] }])
    }

    fn prompt(&self, name: &str, arguments: &Value) -> Option<String> {
        let problem = arguments["problem"].as_str().unwrap_or("the one before");
        (name == "solve").then(|| {
            format!("Solve this step by step, and let the tools of calc do the arithmetic: {problem}")
        })
    }
}

fn arithmetic(name: &str, description: &str) -> Value {
    let number = json!({ "type": "number" });
    json!({
        "name": name,
        "description": description,
        "inputSchema": object(json!({ "a": number, "b": number }), &["a", "b"]),
        "outputSchema": object(json!({ "result": number }), &["result"]),
        "annotations": { "readOnlyHint": true, "idempotentHint": true },
    })
}

fn calculated(operation: &str, a: f64, b: f64) -> Value {
    let result = match operation {
        "add" => a + b,
        "multiply" => a * b,
        _ => a / b,
    };
    if !result.is_finite() {
        return tool_error("there is no such number");
    }
    let result = number(result);
    structured(json!({ "result": result }), &result.to_string())
}

/// A whole number without `.0`.
fn number(value: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is whole and within the range of i64"
    )]
    if value.fract() == 0.0 && value.abs() <= WHOLE {
        json!(value as i64)
    } else {
        json!(value)
    }
}

fn count(to: &Value, caller: &Caller<'_>) -> Value {
    let Some(to) = to.as_u64().filter(|to| (1..=100).contains(to)) else {
        return tool_error("`to` must be a whole number from 1 to 100");
    };
    for done in 1..=to {
        thread::sleep(STEP);
        if caller.is_cancelled() {
            break;
        }
        caller.progress(done, to);
    }
    json!({ "content": [{ "type": "text", "text": format!("Counted to {to}.") }] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_for_programs_and_for_people() {
        assert_eq!(
            calculated("add", 2.0, 40.0),
            json!({ "content": [{ "type": "text", "text": "42" }], "structuredContent": { "result": 42 } })
        );
        assert_eq!(
            calculated("divide", 1.0, 4.0)["structuredContent"]["result"],
            0.25
        );
        assert_eq!(calculated("divide", 1.0, 0.0)["isError"], true);
    }
}
