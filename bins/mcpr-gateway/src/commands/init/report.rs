//! What was or would be done, for people and for scripts.

use std::path::Path;

use mcpr_config::clients::{ClientApp, Plan, Skipped, Taken};
use mcpr_telemetry::{Secrets, printable};
use serde_json::{Value, json};

use super::sources::{Source, Sources};
use crate::out;
use crate::problem::Problem;

/// What was or would be done.
pub(super) struct Report<'a> {
    pub(super) output: &'a Path,
    pub(super) sources: &'a Sources,
    pub(super) plan: &'a Plan,
    pub(super) written: Written,
    /// Whether the plan was told already, to somebody who was asked about it.
    pub(super) told: bool,
}

/// What became of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Written {
    /// It was written.
    Done,
    /// There was nothing to write.
    Nothing,
    /// That was not wanted.
    Dry,
    /// Nobody was there to be asked.
    Unasked,
    /// The answer was no.
    Declined,
}

impl Report<'_> {
    /// Writes it to standard output.
    pub(super) fn show(&self, json: bool) -> Result<(), Problem> {
        match json {
            true => out::data(&format!("{}\n", self.json())),
            false => out::data(&self.page()),
        }
    }

    /// What is planned, for a person who decides.
    pub(super) fn plan_for_people(&self) -> String {
        let taken = self.plan.taken.iter().map(taken).collect::<String>();
        let skipped = self.plan.skipped.iter().map(skipped).collect::<String>();
        let faults = self.sources.faults().map(|(_, fault)| format!("  ? {fault}\n"));
        format!("{taken}{skipped}{}", faults.collect::<String>())
    }

    fn page(&self) -> String {
        if self.sources.are_empty() {
            return format!("{}{}", self.looked_at(), self.left_alone());
        }
        let plan = match self.told {
            true => String::new(),
            false => self.plan_for_people(),
        };
        format!(
            "{plan}{}{}{}\n{}",
            self.left_alone(),
            self.variables(),
            self.outcome(),
            self.next()
        )
        .trim_end()
        .to_owned()
            + "\n"
    }

    /// Where nothing was found.
    fn looked_at(&self) -> String {
        let row = |source: &Source| {
            let what = match source.servers {
                Ok(None) => "there is no such file",
                _ => "there are no servers in it",
            };
            format!("  {}: {what}\n", source.file.display())
        };
        let rows: String = self.sources.files.iter().map(row).collect();
        format!("nothing to import was found; looked at\n{rows}")
    }

    fn left_alone(&self) -> String {
        let row = |(app, file): &(ClientApp, &str)| {
            format!(
                "  {file} in this folder was left alone; `--from {}` reads it\n",
                app.id()
            )
        };
        self.sources.here.iter().map(row).collect()
    }

    /// A file that wins over the one that is written.
    fn variables(&self) -> String {
        match std::env::var_os("MCPR_CONFIG") {
            Some(file) if !file.is_empty() && Path::new(&file) != self.output => {
                let file = file.display();
                format!("  MCPR_CONFIG names {file}: the gateway reads that and not this file\n")
            }
            _ => String::new(),
        }
    }

    fn outcome(&self) -> String {
        let file = self.output.display();
        let servers = match self.plan.taken.len() {
            1 => "1 server".to_owned(),
            count => format!("{count} servers"),
        };
        match self.written {
            Written::Done => format!("{servers} written to {file}\n"),
            Written::Nothing => format!("nothing new: {file} stays as it is\n"),
            Written::Dry => format!("a dry run: {servers} would be written to {file}\n"),
            Written::Unasked => format!(
                "a dry run, as there is nobody to ask: {servers} would be written to {file}; `--yes` writes them\n"
            ),
            Written::Declined => format!("nothing was written to {file}\n"),
        }
    }

    /// What to do now.
    fn next(&self) -> String {
        if self.written != Written::Done {
            return String::new();
        }
        let steps = next_steps(self.plan, self.output);
        let width = steps.iter().map(|(step, _)| step.len()).max().unwrap_or(0);
        let row = |(step, why): &(String, &str)| format!("  {step:<width$}  {why}\n");
        steps.iter().map(row).collect()
    }

    fn json(&self) -> Value {
        json!({
            "output": self.output.display().to_string(),
            "written": self.written == Written::Done,
            "dryRun": matches!(self.written, Written::Dry | Written::Unasked),
            "imported": self.plan.taken.iter().map(taken_json).collect::<Vec<_>>(),
            "skipped": self.plan.skipped.iter().map(skipped_json).collect::<Vec<_>>(),
            "sources": self.sources.files.iter().map(source_json).collect::<Vec<_>>(),
            "leftAlone": self.sources.here.iter().map(|(_, file)| *file).collect::<Vec<_>>(),
        })
    }
}

/// The commands for what comes next, with what each does.
fn next_steps(plan: &Plan, output: &Path) -> Vec<(String, &'static str)> {
    let client = plan
        .taken
        .iter()
        .find_map(|taken| taken.app)
        .map_or("APP", ClientApp::id);
    let usual = mcpr_config::Locations::from_env(&[], &mcpr_config::Process)
        .is_ok_and(|locations| locations.paths.config == output);
    let config = match usual {
        true => String::new(),
        false => format!(
            " --config {}",
            mcpr_config::clients::shell_word(&output.display().to_string())
        ),
    };
    vec![
        (
            format!("mcpr-gateway check{config}"),
            "see whether all of it can be used",
        ),
        (
            format!("mcpr-gateway{config}"),
            "start the gateway; the first start shows a token",
        ),
        (
            format!("mcpr-ctl tokens create --client {client}"),
            "make a token for each client",
        ),
        (
            format!("mcpr-ctl clients print {client}"),
            "the entry that points a client at mcpr",
        ),
    ]
}

fn taken(taken: &Taken) -> String {
    let server = &taken.server;
    let off = if server.is_disabled() { ", disabled" } else { "" };
    let replaces = if taken.replaces {
        ", replaces the one that is there"
    } else {
        ""
    };
    let from = origin(taken.app, &taken.file);
    let line = format!(
        "  + {}: {} ({from}{off}{replaces})\n",
        taken.name,
        shown(server.shown())
    );
    let notes = server
        .notes
        .iter()
        .map(|note| format!("      {}\n", printable(note)));
    printable(line.trim_end_matches('\n')) + "\n" + &notes.collect::<String>()
}

fn skipped(skipped: &Skipped) -> String {
    let from = origin(skipped.app, &skipped.file);
    printable(&format!("  - {}: {} ({from})", skipped.name, skipped.reason)) + "\n"
}

fn origin(app: Option<ClientApp>, file: &Path) -> String {
    app.map_or_else(|| file.display().to_string(), |app| app.title().to_owned())
}

/// A command line without what looks like a credential.
fn shown(text: String) -> String {
    Secrets::default().scrub(&text).into_owned()
}

fn taken_json(taken: &Taken) -> Value {
    let server = &taken.server;
    filled(json!({
        "name": taken.name, "client": taken.app.map(ClientApp::id), "file": taken.file.display().to_string(),
        "via": server.via(), "shown": shown(server.shown()), "disabled": server.is_disabled(),
        "replaces": taken.replaces, "notes": server.notes,
    }))
}

fn skipped_json(skipped: &Skipped) -> Value {
    filled(json!({
        "name": skipped.name, "client": skipped.app.map(ClientApp::id), "file": skipped.file.display().to_string(),
        "reason": skipped.reason,
    }))
}

fn source_json(source: &Source) -> Value {
    filled(json!({
        "client": source.app.map(ClientApp::id), "file": source.file.display().to_string(),
        "exists": !matches!(source.servers, Ok(None)),
        "servers": source.servers.as_ref().ok().copied().flatten().unwrap_or(0),
        "problem": source.servers.as_ref().err().map(ToString::to_string),
    }))
}

/// The object without the members that have no value.
fn filled(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}
