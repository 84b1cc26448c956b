//! The prompts.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::client::{Client, Halt};
use crate::fault::Fault;
use crate::media;
use crate::message::Request;
use crate::question::Question;
use crate::server::Server;

/// Every prompt: its name, what it is for, and its arguments.
const PROMPTS: [(&str, &str, &[&str]); 5] = [
    ("test_simple_prompt", "A prompt without arguments", &[]),
    (
        "test_prompt_with_arguments",
        "A prompt with two arguments",
        &["arg1", "arg2"],
    ),
    (
        "test_prompt_with_embedded_resource",
        "A prompt with a resource in it",
        &["resourceUri"],
    ),
    ("test_prompt_with_image", "A prompt with a picture in it", &[]),
    (
        "test_input_required_result_prompt",
        "A prompt that asks the user first",
        &[],
    ),
];

/// What `prompts/list` tells.
pub(crate) fn list() -> Value {
    let argument = |name: &&str| json!({ "name": name, "description": format!("The argument {name}"), "required": true });
    let prompt = |(name, description, arguments): (&str, &str, &[&str])| {
        let arguments: Vec<_> = arguments.iter().map(argument).collect();
        json!({ "name": name, "description": description, "arguments": arguments })
    };
    json!({ "prompts": PROMPTS.map(prompt) })
}

/// Whether there is such a prompt.
pub(crate) fn known(name: &str) -> bool {
    PROMPTS.iter().any(|(known, ..)| *known == name)
}

/// What `prompts/get` tells.
pub(crate) async fn get(server: &Server, request: &Request, client: Arc<Client>) -> Result<Value, Fault> {
    let name = request.text("name")?;
    let argument = |key: &str| {
        let given = request.params.get("arguments").and_then(|all| all[key].as_str());
        given.ok_or_else(|| Fault::invalid_params(&format!("the argument `{key}` is missing")))
    };
    let contents = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1")?, argument("arg2")?);
            vec![text(&format!(
                "Prompt with arguments: arg1='{one}', arg2='{two}'"
            ))]
        }
        "test_prompt_with_embedded_resource" => embedded(argument("resourceUri")?),
        "test_prompt_with_image" => vec![
            json!({ "type": "image", "data": media::PNG, "mimeType": "image/png" }),
            text("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => match in_context(&client).await {
            Ok(contents) => contents,
            Err(halt) => return server.halted(request, &client, halt),
        },
        _ => return Err(Fault::invalid_params(&format!("Unknown prompt: {name}"))),
    };
    let message = |content: Value| json!({ "role": "user", "content": content });
    let messages: Vec<_> = contents.into_iter().map(message).collect();
    Ok(json!({ "messages": messages }))
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn embedded(uri: &str) -> Vec<Value> {
    let words = "Embedded resource content for testing.";
    let resource = json!({ "uri": uri, "mimeType": "text/plain", "text": words });
    vec![
        json!({ "type": "resource", "resource": resource }),
        text("Please process the embedded resource above."),
    ]
}

async fn in_context(client: &Client) -> Result<Vec<Value>, Halt> {
    let question = Question::text("user_context", "What context should the prompt use?", "context");
    let answer = client.ask(question).await?;
    let context = answer["content"]["context"].as_str().unwrap_or("none");
    Ok(vec![text(&format!("Prompt in this context: {context}"))])
}
