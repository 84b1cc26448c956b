//! Calls that have ended.

use mcpr_admin::{CallEvent, Event, EventKind};
use mcpr_telemetry::{CallRecord, Secrets};

use super::{Teller, event};

impl Teller {
    /// Tells that a call has ended; costs one look where nobody watches.
    pub(crate) fn tell_call(&self, record: &CallRecord<'_>, secrets: &Secrets) {
        if self.is_watched(EventKind::Call) {
            self.tell(ended(record, secrets));
        }
    }
}

fn ended(record: &CallRecord<'_>, secrets: &Secrets) -> Event {
    Event {
        server: record.server.map(str::to_owned),
        reason: record.error.map(|error| secrets.scrub(error).into_owned()),
        call: Some(CallEvent {
            method: record.method.to_owned(),
            tool: record.tool.map(str::to_owned),
            status: record.status.name().to_owned(),
            duration_us: u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
            principal: record.principal.unwrap_or_default().to_owned(),
            client: record.client.map(str::to_owned),
        }),
        ..event(EventKind::Call)
    }
}
