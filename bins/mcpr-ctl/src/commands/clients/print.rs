//! The entry for a client.

use mcpr_admin::ExitCode;
use mcpr_config::Process;
use mcpr_config::clients::{ClientApp, Snippet, System};
use serde::Serialize;

use super::link::link;
use crate::cli::{Global, Print};
use crate::clients::Seen;
use crate::out::Out;
use crate::problem::Problem;

/// An entry for a client, as scripts get it.
#[derive(Serialize)]
struct Printed {
    client: &'static str,
    format: &'static str,
    path: String,
    entry: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    notes: Vec<String>,
}

/// `clients print`
pub(super) async fn print(global: &Global, out: &Out, wanted: &Print) -> Result<ExitCode, Problem> {
    let app = wanted.client;
    let printed = Printed::of(app, app.snippet(&link(global, wanted).await?));
    out.report(&printed, |printed, _| printed.entry.clone())?;
    out.note(printed.talk(app).trim_end());
    Ok(ExitCode::Ok)
}

impl Printed {
    fn of(app: ClientApp, snippet: Snippet) -> Self {
        let file = Seen::look(app, &Process).file;
        Self {
            client: app.id(),
            format: snippet.format.as_str(),
            path: file.map_or_else(|| app.usual_file(System::HERE), |file| file.display().to_string()),
            entry: snippet.text,
            command: snippet.command,
            notes: snippet.notes,
        }
    }

    /// Where the entry goes, what adds it, and what to know, one line each.
    fn talk(&self, app: ClientApp) -> String {
        let here = [("into", self.path.clone())];
        let elsewhere = elsewhere(app).map(|(system, file)| (system.title(), file));
        let project = app.project_file().map(|file| ("project", file.to_owned()));
        let command = self.command.clone().map(|command| ("or run", command));
        let notes = self.notes.iter().map(|note| ("note", note.clone()));
        here.into_iter()
            .chain(elsewhere)
            .chain(project)
            .chain(command)
            .chain(notes)
            .map(|(what, text)| format!("{what:<8}{text}\n"))
            .collect()
    }
}

/// Its file on the other systems.
fn elsewhere(app: ClientApp) -> impl Iterator<Item = (System, String)> {
    let others = System::ALL.into_iter().filter(|system| *system != System::HERE);
    others.map(move |system| (system, app.usual_file(system)))
}
