//! Without the feature `otel` there is nobody to tell of spans: none of these values can be made.

use super::{Hop, Span};
use crate::{CallRecord, Secrets};

/// Nothing.
pub(super) enum Exporter {}

/// Nothing.
pub(super) enum Running {}

impl Exporter {
    pub(super) fn begin(&self, _: &Span<'_>, _: &Secrets) -> Option<Running> {
        match *self {}
    }

    pub(super) fn shut_down(&self) {
        match *self {}
    }
}

impl Running {
    pub(super) fn begin_hop(&self, _: &Hop<'_>) -> String {
        match *self {}
    }

    pub(super) fn fail_hop(&self, _: &str) {
        match *self {}
    }

    pub(super) fn end(&self, _: &CallRecord<'_>) {
        match *self {}
    }

    pub(super) fn sampled_id(&self) -> Option<u128> {
        match *self {}
    }
}
