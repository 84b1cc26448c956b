//! `check`

use mcpr_admin::ExitCode;
use mcpr_config::{Locations, Process};

use crate::cli::Check;
use crate::out;
use crate::problem::Problem;

/// Judges the configuration, and starts nothing.
pub(super) fn run(args: &Check) -> Result<ExitCode, Problem> {
    let locations = Locations::from_env(&args.files.config, &Process)?;
    let report = mcpr_config::check(&locations, &Process, &|server| {
        server.program().map_err(|error| error.to_string())
    });
    let text = match args.json {
        true => serde_json::to_string(&report).map_err(|error| Problem::failed(&error))? + "\n",
        false => report.to_string(),
    };
    out::data(&text)?;
    Ok(if report.valid {
        ExitCode::Ok
    } else {
        ExitCode::ConfigInvalid
    })
}
