//! Servers turned on and off, and started anew.

use mcpr_admin::{DisableServer, EnableServer, ExitCode, Operation, RestartServer, ServerReport};

use super::problem;
use crate::books::Books;
use crate::commands::each::each;
use crate::database::{Database, Offline};
use crate::out::Out;
use crate::out::phrase::counted;
use crate::problem::Problem;
use crate::suggest;

/// `servers enable`
pub(super) async fn enable(books: &Books<'_>, out: &Out, names: &[String]) -> Result<ExitCode, Problem> {
    switch(books, out, names, |name| EnableServer { name }).await
}

/// `servers disable`
pub(super) async fn disable(books: &Books<'_>, out: &Out, names: &[String]) -> Result<ExitCode, Problem> {
    switch(books, out, names, |name| DisableServer { name }).await
}

async fn switch<O>(
    books: &Books<'_>,
    out: &Out,
    names: &[String],
    to: impl Fn(String) -> O,
) -> Result<ExitCode, Problem>
where
    O: Operation<Output = ServerReport>,
    Database: Offline<O>,
{
    each(names, out, async |name| {
        let outcome = books.ask(to(name.to_owned())).await;
        told(books, out, name, outcome).await
    })
    .await
}

/// `servers restart`
pub(super) async fn restart(books: &Books<'_>, out: &Out, names: &[String]) -> Result<ExitCode, Problem> {
    each(names, out, async |name| {
        let operation = RestartServer {
            name: name.to_owned(),
        };
        let outcome = books.gateway().ask(&operation).await.map_err(Problem::from);
        told(books, out, name, outcome).await
    })
    .await
}

async fn told(
    books: &Books<'_>,
    out: &Out,
    name: &str,
    outcome: Result<ServerReport, Problem>,
) -> Result<(), Problem> {
    match outcome {
        Ok(server) => out.report(&server, |server, _| line(server)),
        Err(problem) => Err(suggest::server(books.gateway(), Some(name), problem).await),
    }
}

/// How the server is now.
fn line(server: &ServerReport) -> String {
    let why = problem(server).map_or_else(String::new, |why| format!(": {why}"));
    let tools = server
        .tools
        .map_or_else(String::new, |tools| format!(", {}", counted(tools, "tool")));
    format!("{} is {}{why}{tools}\n", server.name, server.state)
}
