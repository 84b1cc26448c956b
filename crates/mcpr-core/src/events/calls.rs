//! Calls that have ended.

use mcpr_admin::{CallEvent, Event, EventKind};
use mcpr_telemetry::{CallRecord, Secrets};

use super::{Teller, event};
use crate::history::{ERROR, NAME};

impl Teller {
    /// Tells that a call has ended; costs one look where nobody watches.
    pub(crate) fn tell_call(&self, record: &CallRecord<'_>, secrets: &Secrets) {
        if self.is_watched(EventKind::Call) {
            self.tell(ended(record, secrets));
        }
    }
}

/// What others have chosen may be anything: it is told without secrets, and cut as in the history.
fn ended(record: &CallRecord<'_>, secrets: &Secrets) -> Event {
    let name = |name: &str| secrets.scrub_within(name, NAME).into_owned();
    Event {
        server: record.server.map(name),
        reason: record
            .error
            .map(|error| secrets.scrub_within(error, ERROR).into_owned()),
        call: Some(CallEvent {
            method: name(record.method),
            tool: record.tool.map(name),
            status: record.status.name().to_owned(),
            duration_us: u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
            principal: record.principal.map(name).unwrap_or_default(),
            client: record.client.map(name),
        }),
        ..event(EventKind::Call)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcpr_telemetry::Status;

    use super::*;

    #[test]
    fn log_04_an_event_is_told_without_secrets_and_not_endless() {
        let secrets = Secrets::default();
        secrets.add("S3CRET1");
        let long = "m".repeat(1_000_000);
        let record = CallRecord {
            request_id: 1,
            correlation_id: "1",
            server: Some("git S3CRET1"),
            tool: Some("S3CRET1"),
            method: &long,
            duration: Duration::ZERO,
            status: Status::Error(-32601),
            principal: Some("tk S3CRET1"),
            client: Some("S3CRET1"),
            project: None,
            version: "2025-11-25",
            http: None,
            error: Some(&long),
            said: None,
            params: None,
            steps: None,
            trace: None,
        };

        let told = serde_json::to_string(&ended(&record, &secrets)).unwrap();

        assert!(!told.contains("S3CRET1"), "{told}");
        assert_eq!(told.matches("[redacted]").count(), 4);
        assert!(told.len() < 2 * (NAME + ERROR), "{}", told.len());
    }
}
