//! `check`

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use mcpr_admin::ExitCode;
use mcpr_config::{CheckedState, Finding, Locations, Process, Report, ServerReport};
use mcpr_transport::child::env::{EnvPolicy, EnvValue, compose};
use mcpr_transport::child::resolve::resolve;
use mcpr_upstream::StdioSpec;

use crate::cli::Check;
use crate::out;
use crate::problem::Problem;

/// Judges the configuration, and starts nothing.
pub(super) fn run(args: &Check) -> Result<ExitCode, Problem> {
    let locations = Locations::from_env(&args.files.config, &Process)?;
    let report = mcpr_config::check(&locations, &Process, &program);
    let text = match args.json {
        true => serde_json::to_string(&report).map_err(|error| Problem::failed(&error))? + "\n",
        false => page(&report),
    };
    out::data(&text)?;
    Ok(if report.valid {
        ExitCode::Ok
    } else {
        ExitCode::ConfigInvalid
    })
}

/// Finds the program of a server where starting it would find it.
fn program(spec: &StdioSpec) -> Result<PathBuf, String> {
    let policy = if spec.inherit_env {
        EnvPolicy::Inherit
    } else {
        EnvPolicy::Clean
    };
    let own: Vec<_> = spec
        .env
        .iter()
        .map(|(name, value)| (name.clone(), EnvValue::new(value.reveal())))
        .collect();
    let variables = compose(std::env::vars_os(), policy, &own);
    let path = variables.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let folder = std::path::absolute(spec.cwd.as_deref().unwrap_or(Path::new("."))).unwrap_or_default();
    resolve(&spec.command, &path, None, &folder).map_err(|error| error.to_string())
}

fn page(report: &Report) -> String {
    let files = report.files.iter().map(|file| format!("{}\n", file.display()));
    let servers = table(&report.servers.iter().map(server).collect::<Vec<_>>());
    let findings = report.findings.iter().map(finding);
    let sections = [files.collect::<String>() + &servers]
        .into_iter()
        .chain(findings)
        .chain([verdict(report).to_owned()]);
    sections
        .filter(|section| !section.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn server(server: &ServerReport) -> [String; 4] {
    let state = match server.state {
        CheckedState::Enabled => "ok",
        CheckedState::Disabled => "disabled",
        CheckedState::Misconfigured => "misconfigured",
        CheckedState::NotFound => "not found",
    };
    let via = server
        .via
        .map(|via| format!("{via:?}").to_lowercase())
        .unwrap_or_default();
    [
        out::printable(server.name.as_str()),
        state.to_owned(),
        via,
        out::printable(&server.shown),
    ]
}

/// Columns as wide as their texts; the last one is not filled up.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// What is wrong and where, and below it what to do.
fn finding(finding: &Finding) -> String {
    let fault = &finding.fault;
    let mut text = format!("{}: ", finding.severity);
    if let Some(place) = &fault.place {
        let _ = write!(text, "{place}: ");
    }
    if let Some(server) = &finding.server {
        let _ = write!(text, "server `{}`: ", out::printable(server));
    }
    let _ = writeln!(text, "{}", out::printable(&fault.what));
    if let Some(hint) = &fault.hint {
        let _ = writeln!(text, "  fix: {}", out::printable(hint));
    }
    text
}

fn verdict(report: &Report) -> &'static str {
    match (report.valid, report.findings.is_empty()) {
        (true, true) => "all is well\n",
        (true, false) => "it can be used\n",
        (false, _) => "not all of it can be used\n",
    }
}
