//! `config get` and `config set`

use mcpr_admin::ExitCode;
use mcpr_config::{Document, Effective, Locations, Process, Severity};
use mcpr_protocol::RawJson;

use crate::cli::Global;
use crate::cli::parse::{Path, value_or_none};
use crate::files::Files;
use crate::files::changes::{Change, Changes, Deed, tell_next_step};
use crate::out::Out;
use crate::out::indent::indent;
use crate::out::look::Look;
use crate::problem::Problem;

/// Prints what the files say, or else the default.
pub(super) fn get(global: &Global, out: &Out, key: &Path) -> Result<ExitCode, Problem> {
    let locations = Locations::from_env(&global.config, &Process)?;
    let said = Effective::read(&locations, &Process)?.gateway(&key.keys());
    let default = mcpr_config::gateway_default(&key.keys());
    let value = match (said, default) {
        (Some(value), _) => value,
        (None, Ok(Some(default))) => {
            out.note("this is the default; no file says anything about it");
            default
        }
        (None, Ok(None)) => {
            let message = format!("`mcpr.{}` is not set, and has no single default", key.as_str());
            return Err(Problem::not_found(message).hint("docs/configuration.md says what holds then"));
        }
        (None, Err(fault)) => {
            let problem = Problem::not_found(fault.what);
            let all = || "`mcpr-ctl config schema` shows what there is".to_owned();
            return Err(problem.hint(fault.hint.unwrap_or_else(all)));
        }
    };
    out.report(&value, shown)?;
    Ok(ExitCode::Ok)
}

/// A text without its quotes, everything else as JSON.
fn shown(value: &RawJson, _: &Look) -> String {
    value.to_text().unwrap_or_else(|| indent(value)) + "\n"
}

/// Changes one value, if the file can be used with it.
pub(super) async fn set(global: &Global, out: &Out, key: &Path, value: &str) -> Result<ExitCode, Problem> {
    let keys = [vec!["mcpr"], key.keys()].concat();
    let value = value_or_none(value);
    let saved = Files::change(global, |files| {
        let document = files.last_where(|document| document.has(&keys[..2]));
        document
            .set(&keys, value.as_ref())
            .map_err(|fault| Problem::from(&fault))?;
        let remarks = judged(document)?;
        Ok((document.path().to_owned(), document.is_changed(), remarks))
    })?;
    let (file, changed, remarks) = saved.what;
    let deed = match (changed, &value) {
        (false, _) => Deed::Unchanged,
        (true, None) => Deed::Removed,
        (true, Some(_)) => Deed::Changed,
    };
    let report = Changes::of([Change::new(&file, deed).key(&format!("mcpr.{}", key.as_str()))]);
    out.report(&report, |report, _| report.page())?;
    remarks.iter().for_each(|remark| out.note(remark));
    if changed {
        tell_next_step(global, out, &file, &saved.needs_restart).await;
    }
    Ok(ExitCode::Ok)
}

/// Makes sure that the file can be used; gives what is to be said about what is not a server's.
fn judged(document: &Document) -> Result<Vec<String>, Problem> {
    let config = document.judge(&Process).map_err(|error| {
        let problem = Problem::from(error);
        let message = format!("nothing was written: {}", problem.message);
        Problem::config(message, problem.hint)
    })?;
    let remarks = config.warnings.iter();
    let remarks = remarks.filter(|finding| finding.server.is_none() && finding.severity >= Severity::Warning);
    Ok(remarks.map(|finding| finding.fault.reason()).collect())
}
