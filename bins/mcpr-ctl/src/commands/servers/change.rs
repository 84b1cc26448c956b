//! `servers set`, `servers rm` and `servers edit`

use mcpr_admin::ExitCode;
use mcpr_config::{Document, check_server_key};

use crate::cli::Global;
use crate::cli::parse::Assignment;
use crate::editor;
use crate::files::Files;
use crate::files::changes::{Change, Changes, Deed, tell_next_step};
use crate::files::judge::{check_server, missing_here};
use crate::out::Out;
use crate::problem::Problem;

/// Changes values of a server.
pub(super) async fn set(
    global: &Global,
    out: &Out,
    name: &str,
    changes: &[Assignment],
) -> Result<ExitCode, Problem> {
    let saved = Files::change(global, |files| {
        let document = files.with_server(name)?;
        for change in changes {
            put(document, name, change)?;
        }
        let remarks = check_server(document, name)?;
        Ok((document.path().to_owned(), document.is_changed(), remarks))
    })?;
    let (file, changed, remarks) = saved.what;
    let deed = if changed { Deed::Changed } else { Deed::Unchanged };
    let report = Changes::of([Change::new(&file, deed).server(name)]);
    out.report(&report, |report, _| report.page())?;
    remarks.iter().for_each(|remark| out.note(remark));
    if let Some(what) = missing_here(&saved.files.locations, name) {
        out.note(&format!("as things are here, `{name}` cannot start: {what}"));
    }
    if changed {
        tell_next_step(global, out, &file, &saved.needs_restart).await;
    }
    Ok(ExitCode::Ok)
}

fn put(document: &mut Document, name: &str, change: &Assignment) -> Result<(), Problem> {
    let keys = change.path.keys();
    if let (Some(first), Some(_)) = (keys.first(), &change.value) {
        check_server_key(first).map_err(|fault| Problem::config(fault.what, fault.hint))?;
    }
    let set = document.set_in_server(name, &keys, change.value.as_ref());
    set.map_err(|fault| Problem::from(&fault)).map(|_| ())
}

/// Removes servers: all of them or none.
pub(super) async fn remove(
    global: &Global,
    out: &Out,
    names: &[String],
    yes: bool,
) -> Result<ExitCode, Problem> {
    if !yes && !agreed(out, &taken_out(&mut Files::open(global)?, names)?)? {
        out.note("nothing was removed");
        return Ok(ExitCode::Failed);
    }
    let mut saved = Files::change(global, |files| taken_out(files, names))?;
    out.report(&saved.what, |report, _| report.page())?;
    for name in names {
        if let Ok(earlier) = saved.files.with_server(name) {
            let earlier = earlier.path().display();
            out.note(&format!(
                "`{name}` also stands in {earlier}, and that entry counts now"
            ));
        }
    }
    if let Some(change) = saved.what.changes.last() {
        tell_next_step(global, out, &change.file, &saved.needs_restart).await;
    }
    Ok(ExitCode::Ok)
}

/// Takes servers out of the last files that have them, and tells which those are.
fn taken_out(files: &mut Files, names: &[String]) -> Result<Changes, Problem> {
    let mut report = Changes::of([]);
    for name in names {
        let document = files.with_server(name)?;
        document
            .remove_server(name)
            .map_err(|fault| Problem::from(&fault))?;
        let change = Change::new(document.path(), Deed::Removed);
        report.changes.push(change.server(name));
    }
    Ok(report)
}

/// Asks a person; a script has to say it in its words.
fn agreed(out: &Out, report: &Changes) -> Result<bool, Problem> {
    if !out.has_person() {
        let problem = Problem::usage("nobody is there to be asked whether that may be removed");
        return Err(problem.hint("say it with --yes"));
    }
    let all = report.changes.iter();
    let all: Vec<_> = all
        .map(|change| format!("`{}`", change.server.as_deref().unwrap_or_default()))
        .collect();
    let file = report
        .changes
        .last()
        .map(|change| change.file.display().to_string());
    let question = format!(
        "remove {} from {}? [y/N]",
        all.join(", "),
        file.unwrap_or_default()
    );
    Ok(matches!(out.ask(&question)?.as_deref(), Some("y" | "yes")))
}

/// Opens the file that has a server in the editor.
pub(super) async fn edit(global: &Global, out: &Out, name: &str) -> Result<ExitCode, Problem> {
    let mut files = Files::open(global)?;
    let document = files.with_server(name)?.clone();
    editor::edit(global, out, &files, &document).await
}
