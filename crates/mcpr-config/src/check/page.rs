//! A report as people read it.

use std::fmt;

use mcpr_telemetry::printable;

use super::{CheckedState, Report, ServerReport};
use crate::fault::Finding;

impl fmt::Display for Report {
    /// The files, the servers as a table, what there is to say with what to do about it, and a verdict.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.files.iter().map(|file| format!("{}\n", file.display()));
        let servers = table(&self.servers.iter().map(server).collect::<Vec<_>>());
        let sections = [files.collect::<String>() + &servers].into_iter();
        let sections = sections
            .chain(self.findings.iter().map(finding))
            .chain([verdict(self).to_owned()]);
        let filled: Vec<_> = sections.filter(|section| !section.is_empty()).collect();
        f.write_str(&filled.join("\n"))
    }
}

fn server(server: &ServerReport) -> [String; 4] {
    let state = match server.state {
        CheckedState::Enabled => "ok",
        CheckedState::Disabled => "disabled",
        CheckedState::Misconfigured => "misconfigured",
        CheckedState::NotFound => "not found",
    };
    let via = server.via.map(|via| via.to_string()).unwrap_or_default();
    [
        printable(server.name.as_str()),
        state.to_owned(),
        via,
        printable(&server.shown),
    ]
}

/// Columns as wide as their texts; the last one is not filled up.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:<width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// What is wrong and where, and below it what to do.
fn finding(finding: &Finding) -> String {
    let fault = &finding.fault;
    let place = fault.place.as_ref().map(|place| format!("{place}: "));
    let server = finding.server.as_deref();
    let server = server.map(|server| format!("server `{}`: ", printable(server)));
    let fix = fault
        .hint
        .as_deref()
        .map(|hint| format!("  fix: {}\n", printable(hint)));
    format!(
        "{}: {}{}{}\n{}",
        finding.severity,
        place.unwrap_or_default(),
        server.unwrap_or_default(),
        printable(&fault.what),
        fix.unwrap_or_default()
    )
}

fn verdict(report: &Report) -> &'static str {
    match (report.valid, report.findings.is_empty()) {
        (true, true) => "all is well\n",
        (true, false) => "it can be used\n",
        (false, _) => "not all of it can be used\n",
    }
}
