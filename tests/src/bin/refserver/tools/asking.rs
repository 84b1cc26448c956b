//! Tools that ask their client.

use serde_json::{Value, json};

use super::{Call, Halt, Run, TaskUse, Tool, Work, nothing, object, told};
use crate::question::Question;

const fn tool(name: &'static str, description: &'static str, work: fn(Call) -> Work) -> Tool {
    Tool {
        name,
        description,
        schema: nothing,
        task: TaskUse::Never,
        run: Run::Work(work),
    }
}

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        schema: || object(&json!({ "prompt": { "type": "string" } }), &["prompt"]),
        ..tool("test_sampling", "Asks the client's model", |call| {
            Box::pin(sampling(call))
        })
    },
    Tool {
        schema: || object(&json!({ "message": { "type": "string" } }), &["message"]),
        ..tool("test_elicitation", "Asks the user who they are", |call| {
            Box::pin(elicitation(call))
        })
    },
    tool(
        "test_elicitation_sep1034_defaults",
        "Asks the user with a form that has defaults",
        |call| Box::pin(form(call, defaults())),
    ),
    tool(
        "test_elicitation_sep1330_enums",
        "Asks the user with a form of choices",
        |call| Box::pin(form(call, choices())),
    ),
    tool(
        "test_streaming_elicitation",
        "Tells its progress, then asks the user",
        |call| Box::pin(streaming(call)),
    ),
    tool(
        "test_missing_capability",
        "Needs a client that has a model",
        |call| {
            Box::pin(async move {
                call.client.require("sampling")?;
                Ok(told("The client has a model."))
            })
        },
    ),
    tool(
        "test_input_required_result_elicitation",
        "Asks for a name",
        |call| Box::pin(name(call)),
    ),
    tool(
        "test_input_required_result_sampling",
        "Asks the client's model for a capital",
        |call| Box::pin(capital(call)),
    ),
    tool(
        "test_input_required_result_list_roots",
        "Asks for the client's roots",
        |call| Box::pin(roots(call)),
    ),
    tool(
        "test_input_required_result_request_state",
        "Asks for a confirmation, with a state",
        |call| Box::pin(confirmation(call)),
    ),
    tool(
        "test_input_required_result_tampered_state",
        "Asks for a confirmation, with a state that must not be changed",
        |call| Box::pin(confirmation(call)),
    ),
    tool(
        "test_input_required_result_multiple_inputs",
        "Asks for three things at once",
        |call| Box::pin(three(call)),
    ),
    tool(
        "test_input_required_result_multi_round",
        "Asks twice, one after the other",
        |call| Box::pin(rounds(call)),
    ),
    tool(
        "test_input_required_result_capabilities",
        "Asks for all that the client can answer",
        |call| Box::pin(possible(call)),
    ),
];

async fn sampling(call: Call) -> Result<Value, Halt> {
    let prompt = call.text("prompt")?;
    let answer = call.client.ask(Question::model("answer", &prompt, 100)).await?;
    Ok(told(&format!("LLM response: {}", model_text(&answer))))
}

async fn elicitation(call: Call) -> Result<Value, Halt> {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let properties = json!({ "username": text("User's response"), "email": text("User's email address") });
    let schema = object(&properties, &["username", "email"]);
    let question = Question::form("user", &call.text("message")?, schema);
    let answer = call.client.ask(question).await?;
    Ok(told(&format!(
        "User response: action={}, content={}",
        answer["action"], answer["content"]
    )))
}

async fn form(call: Call, properties: Value) -> Result<Value, Halt> {
    let question = Question::form("form", "Please check the values", object(&properties, &[]));
    let answer = call.client.ask(question).await?;
    Ok(told(&format!(
        "Elicitation completed: action={}, content={}",
        answer["action"], answer["content"]
    )))
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn choices() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = |what: &str| {
        let choice = |(value, order)| json!({ "const": value, "title": format!("{order} {what}") });
        json!([("value1", "First"), ("value2", "Second"), ("value3", "Third")].map(choice))
    };
    json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    })
}

async fn streaming(call: Call) -> Result<Value, Halt> {
    call.client.progress(1, 2);
    name(call).await
}

async fn name(call: Call) -> Result<Value, Halt> {
    let question = Question::text("user_name", "What is your name?", "name");
    let answer = call.client.ask(question).await?;
    Ok(told(&format!("Hello, {}!", field(&answer, "name"))))
}

async fn capital(call: Call) -> Result<Value, Halt> {
    let question = Question::model("capital_question", "What is the capital of France?", 100);
    let answer = call.client.ask(question).await?;
    Ok(told(&model_text(&answer)))
}

async fn roots(call: Call) -> Result<Value, Halt> {
    let answer = call.client.ask(Question::roots("client_roots")).await?;
    Ok(told(&format!("The client's roots: {}", answer["roots"])))
}

async fn confirmation(call: Call) -> Result<Value, Halt> {
    let question = Question::yes("confirm", "Please confirm", "ok").sealed();
    let answer = call.client.ask(question).await?;
    Ok(told(&format!("state-ok, confirmed: {}", answer["content"]["ok"])))
}

async fn three(call: Call) -> Result<Value, Halt> {
    let questions = vec![
        Question::text("user_name", "What is your name?", "name").sealed(),
        Question::model("greeting", "Generate a greeting", 50),
        Question::roots("client_roots"),
    ];
    let answers = call.client.ask_all(questions).await?;
    let (greeting, name) = (model_text(&answers[1]), field(&answers[0], "name"));
    Ok(told(&format!(
        "{greeting} {name}, at home in {}",
        answers[2]["roots"]
    )))
}

async fn rounds(call: Call) -> Result<Value, Halt> {
    let first = Question::text("step1", "Step 1: What is your name?", "name").sealed();
    let name = call.client.ask(first).await?;
    let second = Question::text("step2", "Step 2: What is your favorite color?", "color");
    let color = call.client.ask(second).await?;
    Ok(told(&format!(
        "{} likes {}.",
        field(&name, "name"),
        field(&color, "color")
    )))
}

async fn possible(call: Call) -> Result<Value, Halt> {
    let mut questions = vec![
        Question::text("user_name", "What is your name?", "name"),
        Question::model("greeting", "Generate a greeting", 50),
        Question::roots("client_roots"),
    ];
    questions.retain(|question| call.client.can(question.capability()));
    let answers = call.client.ask_all(questions).await?;
    Ok(told(&format!(
        "The client has answered {} questions.",
        answers.len()
    )))
}

/// The text that the user has put into a field.
fn field(answer: &Value, name: &str) -> String {
    answer["content"][name].as_str().unwrap_or("nobody").to_owned()
}

/// The text that the client's model has written.
fn model_text(answer: &Value) -> String {
    answer["content"]["text"].as_str().unwrap_or_default().to_owned()
}
