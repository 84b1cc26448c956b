//! Errors that a fake server answers with.

use crate::message::quoted;

/// An error object, and the HTTP status that goes with it.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The error object as JSON text.
    pub(crate) error: String,
    /// The status over HTTP.
    pub(crate) status: u16,
}

impl Fault {
    /// An error that a handler makes: status 200.
    pub(crate) fn new(code: i64, message: &str) -> Self {
        Self {
            error: format!(r#"{{"code":{code},"message":{}}}"#, quoted(message)),
            status: 200,
        }
    }

    /// The same error, refused by the transport with `status`.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// The same error with `data`, a JSON text.
    pub(crate) fn with_data(self, data: &str) -> Self {
        let open = self.error.trim_end_matches('}');
        Self {
            error: format!(r#"{open},"data":{data}}}"#),
            ..self
        }
    }

    /// The method does not exist here; the stateless era says so with 404.
    pub(crate) fn unknown_method(method: &str, stateless: bool) -> Self {
        let status = if stateless { 404 } else { 200 };
        Self::new(-32601, &format!("Method not found: {method}")).with_status(status)
    }

    /// The parameters are wrong.
    pub(crate) fn invalid_params(message: &str) -> Self {
        Self::new(-32602, message)
    }
}
