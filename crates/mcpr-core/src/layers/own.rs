//! The layers that every gateway has: each is told of a request by its one record, and only watches.

use std::sync::Arc;

use mcpr_protocol::Method;
use mcpr_telemetry::{CallLog, CallRecord, Metrics, Secrets};

use super::Layer;
use crate::events::Teller;

/// Writes the record to the log.
pub(crate) struct Logged(pub(crate) CallLog);

/// Ends the span of the request, where there is one.
pub(crate) struct Traced;

/// Counts the request.
pub(crate) struct Counted(pub(crate) Metrics);

/// Tells operators who watch.
pub(crate) struct Watched {
    pub(crate) events: Arc<Teller>,
    pub(crate) secrets: Secrets,
}

impl Layer for Logged {
    fn after(&self, record: &CallRecord<'_>) {
        self.0.record(record);
    }

    fn only_watches(&self) -> bool {
        true
    }
}

impl Layer for Traced {
    fn after(&self, record: &CallRecord<'_>) {
        if let Some(trace) = record.trace {
            trace.end(record);
        }
    }

    fn only_watches(&self) -> bool {
        true
    }
}

impl Layer for Counted {
    fn after(&self, record: &CallRecord<'_>) {
        // What clients make up must not become a series each.
        let method = Method::new(record.method);
        let method = method.known();
        self.0.count(&CallRecord { method, ..*record });
    }

    fn only_watches(&self) -> bool {
        true
    }
}

impl Layer for Watched {
    fn after(&self, record: &CallRecord<'_>) {
        self.events.tell_call(record, &self.secrets);
    }

    fn only_watches(&self) -> bool {
        true
    }
}
