//! Has a person change a configuration file in an editor.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::Command;

use mcpr_admin::ExitCode;
use mcpr_config::{Document, Process};

use crate::cli::Global;
use crate::files::Files;
use crate::files::changes::{Change, Changes, Deed, tell_next_step};
use crate::files::judge::fault_of;
use crate::out::Out;
use crate::problem::Problem;

/// A copy that is edited in place of the file, so that nobody reads a half-made file; it goes with this value.
struct Copy(PathBuf);

/// Opens a document in the editor, and writes it when it is valid.
pub(crate) async fn edit(
    global: &Global,
    out: &Out,
    files: &Files,
    document: &Document,
) -> Result<ExitCode, Problem> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let problem = Problem::usage("an editor needs a terminal, and standard input or output is none");
        let file = document.path().display();
        return Err(problem.hint(format!(
            "change {file} itself, or use `mcpr-ctl servers set` and `mcpr-ctl config set`"
        )));
    }
    let copy = Copy::of(document)?;
    let Some(edited) = until_valid(out, document, &copy)? else {
        out.note(&format!("{} stays as it was", document.path().display()));
        return Ok(ExitCode::Failed);
    };
    let needs_restart = files.save_one(&edited)?;
    let changed = edited.is_changed();
    let deed = if changed { Deed::Changed } else { Deed::Unchanged };
    let report = Changes::of([Change::new(document.path(), deed)]);
    out.report(&report, |report, _| report.page())?;
    if changed {
        tell_next_step(global, out, document.path(), &needs_restart).await;
    }
    Ok(ExitCode::Ok)
}

/// Edits until the document is valid; nothing if the person would rather keep the old one.
fn until_valid(out: &Out, document: &Document, copy: &Copy) -> Result<Option<Document>, Problem> {
    loop {
        run(&copy.0)?;
        let text = fs::read(&copy.0)?;
        let problem = match edited(document, &text) {
            Ok(edited) => return Ok(Some(edited)),
            Err(problem) => problem,
        };
        out.complain(&problem);
        let answer = out.ask("edit again, or keep the old file? [E/k]")?;
        if matches!(answer.as_deref(), None | Some("k" | "keep" | "q" | "n" | "no")) {
            return Ok(None);
        }
    }
}

/// The document with this text, if nothing in it is wrong that was fine before.
fn edited(document: &Document, text: &[u8]) -> Result<Document, Problem> {
    let edited = document.with_text(text).map_err(|fault| Problem::from(&fault))?;
    let config = edited.judge(&Process)?;
    let before = document.judge(&Process).ok();
    let was_wrong = |name: &str| {
        let servers = before.iter().flat_map(|config| &config.servers);
        let mut same = servers.filter(|entry| entry.name.as_str() == name);
        same.any(|entry| fault_of(&entry.state).is_some())
    };
    for entry in &config.servers {
        let wrong = matches!(entry.state, mcpr_config::ServerState::Misconfigured(_));
        match fault_of(&entry.state) {
            Some(fault) if wrong && !was_wrong(entry.name.as_str()) => return Err(fault.into()),
            _ => {}
        }
    }
    Ok(edited)
}

/// Runs the editor, whose name may come with arguments, as git does.
fn run(file: &Path) -> Result<(), Problem> {
    let set = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    let ended = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file)
        .status()?;
    if ended.success() {
        return Ok(());
    }
    let problem = Problem::failed(format!(
        "the editor `{editor}` failed ({ended}); the file stays as it was"
    ));
    Err(problem.hint("name another one in VISUAL or EDITOR"))
}

impl Copy {
    fn of(document: &Document) -> io::Result<Self> {
        let path = env::temp_dir().join(format!("mcpr-{}-{}.json", std::process::id(), unique()));
        document.copy_to(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn unique() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map(|since| since.as_nanos()).unwrap_or_default()
}
