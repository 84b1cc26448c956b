//! An agent with several servers: recipes and a fetcher as child processes, started one after the other and all of
//! them needed; a lazy one that starts at its first use; and a tool of the agent itself.
//!
//! The servers are this program too, started with `serve NAME`.
#![expect(clippy::print_stdout, reason = "what the example has to say")]

use anyhow::Result;
use mcpr_core::{Config, Gateway, Outcome, Process, RawJson, Tool};
use serde_json::{Value, json};

const RECIPES: &[mcpr_examples::Tool] = &[
    ("get_recipe", "Gives a recipe", |args| {
        format!("recipe for {}", args["dish"].as_str().unwrap_or("?"))
    }),
    ("search", "Searches recipes", |_| "pancakes, soup".to_owned()),
];
const FETCH: &[mcpr_examples::Tool] = &[
    ("fetch", "Fetches a page", |args| {
        format!("page {}", args["url"].as_str().unwrap_or("?"))
    }),
    ("search", "Searches the web", |_| "https://example.com".to_owned()),
];
const ARCHIVE: &[mcpr_examples::Tool] =
    &[("find", "Finds an old recipe", |_| "grandmother's soup".to_owned())];

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref(), words.next().as_deref()) {
        (Some("serve"), Some("recipes")) => mcpr_examples::serve(RECIPES),
        (Some("serve"), Some("fetch")) => mcpr_examples::serve(FETCH),
        (Some("serve"), _) => mcpr_examples::serve(ARCHIVE),
        _ => agent(),
    }
}

/// What the agent shows its user.
async fn display(recipe: RawJson) -> Outcome {
    let recipe: Value = recipe.read().unwrap_or_default();
    let text = format!("*** {} ***", recipe["text"].as_str().unwrap_or("nothing"));
    println!("{text}");
    Outcome::text("shown")
}

#[tokio::main]
async fn agent() -> Result<()> {
    let gateway = Gateway::builder(Config::from_text(&configuration()?, &Process)?)
        .tool(Tool::new(
            "display_recipe",
            "Shows a recipe",
            json!({ "type": "object" }),
            display,
        ))
        .start() // `strict`: it fails unless every server is up.
        .await?;
    let client = gateway.client();
    for tool in client.tools().await? {
        println!("- {}", tool.read::<Value>()?["name"].as_str().unwrap_or_default());
    }

    let call = async |tool, arguments: Value| -> Result<String> {
        let result = client.call(tool, &arguments).await?;
        Ok(mcpr_examples::text(result.as_str()))
    };
    let recipe = call("get_recipe", json!({ "dish": "soup" })).await?;
    call("display_recipe", json!({ "text": recipe })).await?;
    // Both servers have a `search`: one has another name here (`tools.override`).
    println!("search: {}", call("search", json!({})).await?);
    println!("search_web: {}", call("search_web", json!({})).await?);
    println!("lazy: {}", call("find", json!({})).await?);
    let unknown = client.call("bake", &json!({})).await.expect_err("nobody has it");
    println!("{unknown}; {}", unknown.clone().into_tool_result().as_str());

    gateway.shutdown().await;
    Ok(())
}

fn configuration() -> Result<String> {
    let program = std::env::current_exe()?;
    let server = |name: &str, own: Value| json!({ "command": program, "args": ["serve", name], "mcpr": own });
    let servers = json!({
        "recipes": server("recipes", json!({})),
        "fetch": server("fetch", json!({ "tools": { "override": { "search": { "name": "search_web" } } } })),
        "archive": server("archive", json!({ "lazy": true })),
    });
    let own = json!({
        "naming": { "prefix": "never" },
        "builtins": false,
        "startup": { "mode": "strict", "order": "sequential" },
    });
    Ok(json!({ "mcpServers": servers, "mcpr": own }).to_string())
}
