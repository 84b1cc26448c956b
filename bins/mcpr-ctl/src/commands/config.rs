//! The configuration files.

mod show;
mod value;

use mcpr_admin::ExitCode;
use mcpr_config::{Document, Locations, Process, Report};
use mcpr_protocol::RawJson;

use crate::cli::{Config, Global};
use crate::editor;
use crate::files::Files;
use crate::out::Out;
use crate::problem::Problem;

/// Does what was typed about the configuration.
pub(super) async fn run(global: &Global, out: &Out, which: &Config) -> Result<ExitCode, Problem> {
    match which {
        Config::Show { effective: false } => show::files(global, out),
        Config::Show { effective: true } => show::effective(global, out),
        Config::Path => show::paths(global, out),
        Config::Check => check(global, out),
        Config::Edit => edit(global, out).await,
        Config::Schema => schema(out),
        Config::Get { key } => value::get(global, out, key),
        Config::Set { key, value } => value::set(global, out, key, value).await,
    }
}

/// Judges everything, as `mcpr-gateway check` does.
fn check(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let locations = Locations::from_env(&global.config, &Process)?;
    let report = mcpr_config::check(&locations, &Process, &|server| {
        server.program().map_err(|error| error.to_string())
    });
    out.report(&report, |report: &Report, _| report.to_string())?;
    Ok(if report.valid {
        ExitCode::Ok
    } else {
        ExitCode::ConfigInvalid
    })
}

/// Opens the file that would be changed in the editor.
async fn edit(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let mut files = Files::open(global)?;
    let document: Document = files.last_where(|_| true).clone();
    editor::edit(global, out, &files, &document).await
}

fn schema(out: &Out) -> Result<ExitCode, Problem> {
    let text = mcpr_config::schema();
    // No string of JSON holds a line break, so these are all white space.
    let line: String = text.lines().map(str::trim_start).collect();
    out.report(&RawJson::trusted(line), |_, _| text.to_owned())?;
    Ok(ExitCode::Ok)
}
