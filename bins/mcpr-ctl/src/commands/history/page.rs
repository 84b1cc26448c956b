//! How past calls are shown.

use mcpr_admin::{CallReport, HistoryList};
use mcpr_auth::Timestamp;

use crate::out::facts::facts;
use crate::out::indent::indent;
use crate::out::look::{Look, Paint};
use crate::out::phrase::{time, took};
use crate::out::table::{Cell, Table};
use crate::out::text::{one_line, printable};

const HEADS: [&str; 10] = [
    "WHEN",
    "STATUS",
    "TOOK",
    "SERVER",
    "WHAT",
    "CLIENT",
    "PRINCIPAL",
    "PROJECT",
    "ID",
    "ERROR",
];

/// The calls as a table, the latest last.
pub(super) fn table(list: &HistoryList, now: Timestamp, look: &Look) -> String {
    let mut table = Table::new(&HEADS);
    for call in list.calls.iter().rev() {
        table.row([
            time(&call.at, now, look).into(),
            Cell::from(call.status.as_str()).paint(paint(&call.status)),
            took(call.duration_us).into(),
            call.server.as_deref().into(),
            what(call).into(),
            call.client.as_deref().into(),
            call.principal.as_str().into(),
            call.project.as_deref().into(),
            call.id.as_str().into(),
            call.error.as_deref().into(),
        ]);
    }
    table.draw(look)
}

/// A call in one line. A person sees calls as they come, so the day is known.
pub(super) fn line(call: &CallReport, look: &Look) -> String {
    match look.width {
        Some(_) => read_line(call, look),
        None => fields(call).map(|field| one_line(&field)).join("\t") + "\n",
    }
}

fn read_line(call: &CallReport, look: &Look) -> String {
    let clock = call.at.get(11..19).unwrap_or(&call.at);
    let status = look.paint(paint(&call.status), &format!("{:<10}", one_line(&call.status)));
    let server = call.server.as_ref().map(|server| format!("{server}."));
    let what = one_line(&format!("{}{}", server.unwrap_or_default(), what(call)));
    let client = call.client.as_ref().map(|client| format!("{client}/"));
    let who = one_line(&format!("{}{}", client.unwrap_or_default(), call.principal));
    let project = call
        .project
        .as_ref()
        .map(|project| format!("  {}", one_line(project)));
    let error = call.error.as_ref().map(|error| format!("  {}", one_line(error)));
    format!(
        "{}  {status}  {:>6}  {what:<24}  {who}{}  {}{}\n",
        look.paint(Paint::Dim, &format!("{}Z", one_line(clock))),
        took(call.duration_us),
        project.unwrap_or_default(),
        look.paint(Paint::Dim, &one_line(&call.id)),
        error.unwrap_or_default(),
    )
}

/// The fields of a line for scripts, as the table has them.
fn fields(call: &CallReport) -> [String; 10] {
    let or_dash = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".to_owned());
    [
        call.at.clone(),
        call.status.clone(),
        took(call.duration_us),
        or_dash(&call.server),
        what(call).to_owned(),
        or_dash(&call.client),
        call.principal.clone(),
        or_dash(&call.project),
        call.id.clone(),
        or_dash(&call.error),
    ]
}

/// All that is kept of a call.
pub(super) fn page(call: &CallReport, look: &Look) -> String {
    let facts = facts([
        ("method", Some(call.method.clone())),
        ("server", call.server.clone()),
        ("tool", call.tool.clone()),
        ("status", Some(status(call))),
        ("error", call.error.clone()),
        ("began", Some(call.at.clone())),
        ("took", Some(took(call.duration_us))),
        ("principal", Some(call.principal.clone())),
        ("client", call.client.clone()),
        ("project", call.project.clone()),
        ("request", Some(call.request_id.clone())),
        ("belongs to", Some(call.correlation_id.clone())),
    ]);
    let arguments = call
        .arguments
        .as_ref()
        .map(|arguments| printable(&format!("\n{}\n", indent(arguments))));
    let head = look.paint(Paint::Head, &one_line(&call.id));
    format!("{head}\n{facts}{}", arguments.unwrap_or_default())
}

fn status(call: &CallReport) -> String {
    match call.code {
        Some(code) => format!("{} {code}", call.status),
        None => call.status.clone(),
    }
}

/// The tool, or what else was asked for.
fn what(call: &CallReport) -> &str {
    call.tool.as_deref().unwrap_or(&call.method)
}

fn paint(status: &str) -> Paint {
    match status {
        "ok" => Paint::Good,
        "cancelled" => Paint::Uncertain,
        _ => Paint::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> CallReport {
        CallReport {
            id: "h_0dkn5pm80r1x2".into(),
            at: "2027-01-15T07:30:00.123Z".into(),
            duration_us: 2_190_000,
            method: "tools/call".into(),
            server: Some("github".into()),
            tool: Some("create_pr".into()),
            status: "error".into(),
            code: Some(-32001),
            error: Some("Validation\nfailed".into()),
            principal: "tk_7h2k9qmd".into(),
            client: Some("cursor".into()),
            project: None,
            request_id: "17".into(),
            correlation_id: "c0ffee00".into(),
            arguments: None,
        }
    }

    fn terminal() -> Look {
        Look {
            width: Some(160),
            color: false,
        }
    }

    #[test]
    fn ctl_01_on_a_terminal_calls_are_a_table_with_the_latest_last() {
        let read = CallReport {
            id: "h_0dkn5pm7zz000".into(),
            at: "2027-01-15T07:29:00.000Z".into(),
            duration_us: 41_000,
            method: "resources/read".into(),
            tool: None,
            status: "ok".into(),
            error: None,
            ..call()
        };
        let list = HistoryList {
            calls: vec![call(), read],
            next: None,
        };
        let now = Timestamp::from_unix(1_800_000_000);

        insta::assert_snapshot!(table(&list, now, &terminal()));
    }

    #[test]
    fn ctl_01_on_a_terminal_a_call_that_comes_is_one_line_with_the_clock() {
        insta::assert_snapshot!(line(&call(), &terminal()));
    }
}
