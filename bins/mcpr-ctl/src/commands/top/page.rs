//! The page of an interval.

use std::time::Duration;

use super::sample::{Sample, ServerSample};
use crate::commands::servers::state;
use crate::out::look::{Look, Paint};
use crate::out::phrase::{self, counted};
use crate::out::table::{Cell, Table};

/// The gateway in a line, its servers as a table, and on a terminal how to get away.
pub(super) fn page(sample: &Sample, look: &Look) -> String {
    let way_out = match look.width {
        Some(_) => format!("\n{}\n", look.paint(Paint::Dim, "q or Ctrl-C ends")),
        None => String::new(),
    };
    format!(
        "{}\n\n{}{way_out}",
        headline(sample, look),
        table(&sample.servers, look)
    )
}

fn headline(sample: &Sample, look: &Look) -> String {
    let name = look.paint(Paint::Head, &format!("mcpr {}", sample.version));
    let up = phrase::duration(Duration::from_secs(sample.uptime_seconds));
    let memory = sample
        .memory_bytes
        .map(|bytes| format!(" · {}", phrase::size(bytes)));
    let calls = rate("calls", sample.calls_per_second, sample.calls_total);
    let errors = rate("errors", sample.errors_per_second, sample.errors_total);
    format!(
        "{name} · up {up} · pid {}{} · {} · {} busy · {calls} · {errors}",
        sample.pid,
        memory.unwrap_or_default(),
        counted(sample.sessions, "session"),
        sample.in_flight,
    )
}

/// How many in a second, and in all.
fn rate(what: &str, per_second: Option<f64>, total: u64) -> String {
    match per_second {
        Some(rate) => format!("{rate:.1} {what}/s ({total})"),
        None => format!("{total} {what}"),
    }
}

fn table(servers: &[ServerSample], look: &Look) -> String {
    let mut table = Table::new(&["SERVER", "STATE", "BUSY", "STARTS", "PID", "MEMORY", "PROBLEM"]);
    for server in servers {
        table.row([
            server.name.as_str().into(),
            state(server.state),
            server.in_flight.into(),
            server.starts.into(),
            server.pid.map(u64::from).into(),
            server.memory_bytes.map(phrase::size).into(),
            Cell::from(server.reason.as_deref()),
        ]);
    }
    table.draw(look)
}
