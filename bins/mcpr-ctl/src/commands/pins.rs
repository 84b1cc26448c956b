//! Pinned definitions: what differs from what was approved.

mod approve;
mod diff;

use mcpr_admin::{ExitCode, ListPins, PinList, PinReport, PinState};
use mcpr_auth::Timestamp;

use crate::books::Books;
use crate::cli::{Global, Pins, Repeat};
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::phrase::time;
use crate::out::table::{Cell, Table};
use crate::out::watch;
use crate::problem::Problem;
use crate::suggest;

/// Does what was typed about pinned definitions.
pub(super) async fn run(global: &Global, out: &Out, which: &Pins) -> Result<ExitCode, Problem> {
    let books = Books::of(global, out)?;
    match which {
        Pins::Ls { server, repeat } => list(&books, out, server.as_deref(), *repeat).await,
        Pins::Diff { name } => diff::diff(&books, out, name.as_deref()).await,
        Pins::Approve { names, yes } => approve::approve(&books, out, names, *yes).await,
    }
}

/// `pins ls`
async fn list(
    books: &Books<'_>,
    out: &Out,
    server: Option<&str>,
    repeat: Repeat,
) -> Result<ExitCode, Problem> {
    let operation = ListPins {
        server: server.map(str::to_owned),
    };
    let ask = async || match books.ask(operation.clone()).await {
        Ok(list) => Ok(list),
        Err(problem) => Err(suggest::server(books.gateway(), server, problem).await),
    };
    Ok(watch::report(out, repeat, ask, page).await?.code())
}

fn page(list: &PinList, look: &Look) -> String {
    if list.pins.is_empty() {
        return "no definitions are pinned: mcpr-ctl config set pins warn\n".to_owned();
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["TOOL", "STATE", "HELD BACK", "APPROVED"]);
    for pin in &list.pins {
        let approved = pin.approved_at.as_deref();
        table.row([
            format!("{}.{}", pin.server, pin.tool).into(),
            state(pin.state),
            pin.held.then_some("yes").into(),
            approved.map(|at| time(at, now, look)).into(),
        ]);
    }
    table.draw(look)
}

fn state(state: PinState) -> Cell {
    Cell::from(state.as_str()).paint(paint(state))
}

fn paint(state: PinState) -> Paint {
    match state {
        PinState::Approved => Paint::Good,
        PinState::Changed | PinState::New => Paint::Bad,
        PinState::Removed => Paint::Dim,
    }
}

/// How a tool compares, such as `changed, held back`.
fn in_words(pin: &PinReport) -> String {
    match pin.held {
        true => format!("{}, held back", pin.state),
        false => pin.state.to_string(),
    }
}
