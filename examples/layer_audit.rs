//! A layer that writes down who calls what, keeps a secret out of arguments, and forbids one tool.
#![expect(clippy::print_stdout, reason = "what the example has to say")]

use async_trait::async_trait;
use mcpr_core::{CallRecord, Config, Gateway, Intent, Layer, Outcome, Process, RawJson, Tool, Verdict};
use serde_json::{Value, json};

struct Audit;

#[async_trait]
impl Layer for Audit {
    async fn before(&self, intent: &mut Intent<'_>) -> Verdict {
        if intent.tool() == Some("delete") {
            return Verdict::Deny("nothing is deleted here".into());
        }
        let arguments = intent
            .arguments()
            .and_then(|arguments| arguments.read::<Value>().ok());
        if let Some(mut arguments) = arguments.filter(|arguments| arguments.get("password").is_some()) {
            arguments["password"] = "(kept back)".into();
            intent.set_arguments(RawJson::render(&arguments));
        }
        Verdict::Pass
    }

    fn after(&self, record: &CallRecord<'_>) {
        if let Some(tool) = record.tool {
            println!("audit: {tool} ended with {}", record.status.name());
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let tool = |name| {
        Tool::new(name, "", json!({ "type": "object" }), async |given| {
            Outcome::text(given.as_str())
        })
    };
    let gateway = Gateway::builder(Config::from_text("{}", &Process)?)
        .tool(tool("show"))
        .tool(tool("delete"))
        .layer(Audit)
        .start()
        .await?;
    gateway.settled().await;
    let client = gateway.client();

    let shown = client
        .call("show", &json!({ "user": "ann", "password": "hunter2" }))
        .await?;
    println!("the tool got {}", mcpr_examples::text(shown.as_str()));
    let denied = client.call("delete", &json!({})).await;
    println!("deleting is {}", denied.expect_err("a layer denies it"));

    gateway.shutdown().await;
    Ok(())
}
