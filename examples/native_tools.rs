//! Tools of the program itself: a typed handler, whose schema is that of its types, and one that takes what comes.
#![expect(clippy::print_stdout, reason = "what the example has to say")]

use mcpr_core::{Config, Gateway, Outcome, Process, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// What is wanted.
    dish: String,
    /// For how many.
    guests: u32,
}

#[derive(Serialize, JsonSchema)]
struct Bill {
    total: u32,
}

async fn order(order: Order) -> Result<Bill, String> {
    match (order.dish.as_str(), order.guests) {
        (_, 0) => Err("nobody is there to eat it".to_owned()),
        ("soup", guests) => Ok(Bill { total: 4 * guests }),
        (dish, _) => Err(format!("there is no {dish} today")),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let repeat = Tool::new(
        "repeat",
        "Repeats its arguments",
        json!({ "type": "object" }),
        async |arguments| Outcome::text(arguments.as_str()),
    );
    let gateway = Gateway::builder(Config::from_text("{}", &Process)?)
        .tool(Tool::typed("order", "Orders a dish", order))
        .tool(repeat.read_only())
        .start()
        .await?;
    gateway.settled().await;
    let client = gateway.client();

    let bill = client
        .call("native.order", &json!({ "dish": "soup", "guests": 3 }))
        .await?;
    println!("soup for three: {}", mcpr_examples::text(bill.as_str()));
    let sold_out = client
        .call("native.order", &json!({ "dish": "cake", "guests": 1 }))
        .await?;
    println!("cake for one: {}", mcpr_examples::text(sold_out.as_str()));
    let repeated = client.call("repeat", &json!({ "n": 1 })).await?;
    println!("repeated: {}", mcpr_examples::text(repeated.as_str()));

    gateway.shutdown().await;
    Ok(())
}
