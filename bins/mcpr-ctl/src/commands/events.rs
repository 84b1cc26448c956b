//! What happens in the gateway, as it happens.

use mcpr_admin::{CallEvent, ClientError, Event, EventKind, ExitCode, ServerState, Watch};

use crate::cli::Events;
use crate::connect::Gateway;
use crate::interrupt::unless_interrupted;
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::phrase::{counted, took};
use crate::out::text::one_line;
use crate::problem::{Problem, chain};

/// `events`
pub(super) async fn follow(gateway: &Gateway, out: &Out, asked: &Events) -> Result<ExitCode, Problem> {
    let watch = Watch {
        kinds: asked.kinds.clone(),
    };
    let followed = unless_interrupted(tell_all(gateway, out, &watch)).await;
    followed.unwrap_or(Ok(ExitCode::Interrupted))
}

/// Tells what happens until the gateway ends, or nobody reads it any more.
async fn tell_all(gateway: &Gateway, out: &Out, watch: &Watch) -> Result<ExitCode, Problem> {
    let mut events = gateway.stream(watch).await?;
    loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Ok(None) => return Err(Problem::not_running("the gateway has ended")),
            Err(error @ ClientError::Broken(_)) => return Err(Problem::not_running(chain(&error))),
            Err(error) => return Err(error.into()),
        };
        if event.missed > 0 {
            let lost = counted(event.missed, "event");
            out.note(&format!("{lost} lost here: more happened than could be written"));
        }
        if !out.line(&event, line)? {
            return Ok(ExitCode::Ok);
        }
    }
}

fn line(event: &Event, look: &Look) -> String {
    let (time, kind, text) = (time(&event.at, look), event.kind, text(event, look));
    match look.width {
        Some(_) => format!("{}  {kind:<7}  {text}\n", look.paint(Paint::Dim, &time)),
        None => format!("{time}\t{kind}\t{text}\n"),
    }
}

/// A person sees events as they come, so the day is known.
fn time(at: &str, look: &Look) -> String {
    let clock = at.get(11..19).filter(|_| look.width.is_some());
    clock.map_or_else(|| one_line(at), |clock| format!("{}Z", one_line(clock)))
}

fn text(event: &Event, look: &Look) -> String {
    let server = one_line(event.server.as_deref().unwrap_or_default());
    let what = match (event.kind, event.state, &event.call) {
        (EventKind::Server, Some(state), _) => format!("{server} {}", painted(state, look)),
        (EventKind::Server, None, _) => format!("{server} is gone"),
        (EventKind::Call, _, Some(call)) => called(&server, call, look),
        (EventKind::Catalog, ..) => "changed".to_owned(),
        (EventKind::Pins, ..) => server,
        (EventKind::Call, _, None) => server,
    };
    match &event.reason {
        Some(reason) => format!("{what}: {}", one_line(reason)),
        None => what,
    }
}

fn painted(state: ServerState, look: &Look) -> String {
    let paint = match state {
        ServerState::Ok => Paint::Good,
        ServerState::Idle | ServerState::Disabled => Paint::Dim,
        ServerState::Degraded | ServerState::Starting | ServerState::Stale => Paint::Uncertain,
        _ => Paint::Bad,
    };
    look.paint(paint, state.as_str())
}

/// What was called, how it went, and who called.
fn called(server: &str, call: &CallEvent, look: &Look) -> String {
    let what = match (&call.tool, server) {
        (Some(tool), server) => format!("{server}.{}", one_line(tool)),
        (None, "") => one_line(&call.method),
        (None, server) => format!("{} of {server}", one_line(&call.method)),
    };
    let paint = match call.status.as_str() {
        "ok" => Paint::Good,
        "cancelled" => Paint::Uncertain,
        _ => Paint::Bad,
    };
    let status = look.paint(paint, &one_line(&call.status));
    let client = call
        .client
        .as_deref()
        .map(|client| format!("{}/", one_line(client)));
    let who = client.unwrap_or_default() + &one_line(&call.principal);
    format!("{what} {status} in {} for {who}", took(call.duration_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctl_01_on_a_terminal_the_clock_is_enough() {
        let look = |width| Look { width, color: false };
        let at = "2027-01-15T08:00:00.123Z";

        assert_eq!(time(at, &look(Some(80))), "08:00:00Z");
        assert_eq!(time(at, &look(None)), at);
        assert_eq!(time("soon", &look(Some(80))), "soon");
    }
}
