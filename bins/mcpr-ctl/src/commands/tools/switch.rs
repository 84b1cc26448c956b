//! Tools turned on and off, and given other names.

use mcpr_admin::{DisableTool, EnableTool, ExitCode, Operation, OverrideTool, ToolSwitch};

use crate::books::Books;
use crate::cli::tools::ToolOverride;
use crate::commands::each::each;
use crate::database::{Database, Offline};
use crate::out::Out;
use crate::problem::Problem;
use crate::suggest;

/// `tools enable`
pub(super) async fn enable(books: &Books<'_>, out: &Out, names: &[String]) -> Result<ExitCode, Problem> {
    switch(books, out, names, |name| EnableTool { name }).await
}

/// `tools disable`
pub(super) async fn disable(books: &Books<'_>, out: &Out, names: &[String]) -> Result<ExitCode, Problem> {
    switch(books, out, names, |name| DisableTool { name }).await
}

async fn switch<O>(
    books: &Books<'_>,
    out: &Out,
    names: &[String],
    to: impl Fn(String) -> O,
) -> Result<ExitCode, Problem>
where
    O: Operation<Output = ToolSwitch>,
    Database: Offline<O>,
{
    each(names, out, async |name| {
        let outcome = books.ask(to(name.to_owned())).await;
        told(books, out, name, outcome).await
    })
    .await
}

/// `tools rename`
pub(super) async fn rename(books: &Books<'_>, out: &Out, name: &str, new: &str) -> Result<ExitCode, Problem> {
    let operation = OverrideTool {
        name: name.to_owned(),
        exposed_name: Some(new.to_owned()),
        description: None,
    };
    overridden(books, out, operation).await
}

/// `tools override`
pub(super) async fn change(books: &Books<'_>, out: &Out, wanted: &ToolOverride) -> Result<ExitCode, Problem> {
    let or_reset = |text: &Option<String>| text.clone().or_else(|| wanted.reset.then(String::new));
    let operation = OverrideTool {
        name: wanted.name.clone(),
        exposed_name: or_reset(&wanted.as_name),
        description: or_reset(&wanted.description),
    };
    overridden(books, out, operation).await
}

async fn overridden(books: &Books<'_>, out: &Out, operation: OverrideTool) -> Result<ExitCode, Problem> {
    let name = operation.name.clone();
    let outcome = books.ask(operation).await;
    told(books, out, &name, outcome).await?;
    Ok(ExitCode::Ok)
}

async fn told(
    books: &Books<'_>,
    out: &Out,
    name: &str,
    outcome: Result<ToolSwitch, Problem>,
) -> Result<(), Problem> {
    match outcome {
        Ok(switch) => out.report(&switch, |switch, _| line(switch)),
        Err(problem) => Err(suggest::tool(books.gateway(), name, problem).await),
    }
}

/// How the tool is now.
fn line(switch: &ToolSwitch) -> String {
    let seen = match (switch.enabled, &switch.exposed_name) {
        (false, _) => match &switch.name {
            Some(name) => format!("off, named {name}"),
            None => "off".to_owned(),
        },
        (true, Some(name)) => format!("on, seen as {name}"),
        (true, None) => "on, not seen now".to_owned(),
    };
    let described = switch
        .description
        .as_ref()
        .map(|_| ", with a description of its own");
    format!(
        "{} is {seen}{}\n",
        switch.namespaced_name,
        described.unwrap_or_default()
    )
}
