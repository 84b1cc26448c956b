//! The one record that every MCP request leaves.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::journal::Journal;
use crate::level::Level;
use crate::line::Line;
use crate::spans::Trace;

/// What there is to tell about one finished request: the log, the history, the metrics and the spans
/// are all made of it, so that they tell the same story.
///
/// What others have written ([`Payload`]) is only for the history and for layers; the log and the
/// metrics never tell it.
#[derive(Clone, Copy, Debug)]
pub struct CallRecord<'a> {
    /// The number mcpr gave the request; unique within a run.
    pub request_id: u64,
    /// What ties the request to the lines of other programs.
    pub correlation_id: &'a str,
    /// The upstream server, where there is one.
    pub server: Option<&'a str>,
    /// The tool by its name at the server, for `tools/call`.
    pub tool: Option<&'a str>,
    /// The method of the request.
    pub method: &'a str,
    /// The revision of MCP that its sender speaks.
    pub version: &'a str,
    /// From the last byte of the request to the last byte of the answer.
    pub duration: Duration,
    /// How it ended.
    pub status: Status,
    /// The id of the token that was used, never its secret.
    pub principal: Option<&'a str>,
    /// The name of the client program.
    pub client: Option<&'a str>,
    /// The project it was made in.
    pub project: Option<&'a str>,
    /// What only a request over HTTP has.
    pub http: Option<HttpFacts<'a>>,
    /// Why it failed, as the client was told by mcpr.
    pub error: Option<&'a str>,
    /// Why it failed, with the server's own words, which may repeat what it was sent.
    pub said: Option<Payload<'a>>,
    /// The text of its parameters: a JSON object.
    pub params: Option<Payload<'a>>,
    /// Where its time went, for a request that got as far as a server.
    pub steps: Option<Steps>,
    /// Its span, where there is somebody to tell of spans.
    pub trace: Option<&'a Trace>,
}

/// A text that clients or servers have written: not for the log, and not shown by `Debug`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Payload<'a>(&'a [u8]);

/// Where the time of a request went; the rest of it was mcpr's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Until it was sent, the last time: finding its server, waiting in line, attempts in vain.
    pub wait: Duration,
    /// From then on until it had ended.
    pub server: Duration,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With a result.
    Ok,
    /// With a result that says `isError`.
    ToolError,
    /// With a JSON-RPC error of this code.
    Error(i64),
    /// The client no longer wanted the answer.
    Cancelled,
}

/// The HTTP side of a request.
#[derive(Clone, Copy, Debug)]
pub struct HttpFacts<'a> {
    /// The method, as in `POST`.
    pub method: &'static str,
    /// The path; a query is left out of the log.
    pub path: &'a str,
    /// The status of the response.
    pub status: u16,
}

/// Writes one line per request, at level info; clones write to the same log.
///
/// A line costs about a microsecond, allocates nothing once a thread has written its first, and
/// never waits for the disk.
#[derive(Clone, Default)]
pub struct CallLog(Option<Arc<Journal>>);

impl CallLog {
    /// A log that writes nothing, for programs that embed mcpr and for tests.
    pub const fn none() -> Self {
        Self(None)
    }

    pub(crate) fn of(journal: Arc<Journal>) -> Self {
        Self(Some(journal))
    }

    /// Writes the record, unless the level in force is above info.
    pub fn record(&self, record: &CallRecord<'_>) {
        if let Some(journal) = self.0.as_ref().filter(|journal| journal.wants(Level::Info)) {
            let detailed = journal.wants(Level::Debug);
            journal.write(Level::Info, |line| record.fill(line, detailed));
        }
    }
}

impl fmt::Debug for CallLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "CallLog(on)"
        } else {
            "CallLog(none)"
        })
    }
}

impl<'a> Payload<'a> {
    /// Marks a text as one.
    pub const fn new(text: &'a str) -> Self {
        Self(text.as_bytes())
    }

    /// The same of bytes that are known to be UTF-8; whether they are is seen by whoever looks at them.
    pub const fn of(text: &'a [u8]) -> Self {
        Self(text)
    }

    /// The text, for whoever may see it.
    pub fn reveal(self) -> &'a str {
        std::str::from_utf8(self.0).unwrap_or_default()
    }
}

impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.0.len())
    }
}

impl CallRecord<'_> {
    /// Why it failed, whoever says so.
    pub fn reason(&self) -> Option<&str> {
        self.said.map(Payload::reveal).or(self.error)
    }

    fn fill(&self, line: &mut Line<'_>, detailed: bool) {
        line.heading("call");
        line.number("requestId", self.request_id);
        line.text("correlationId", self.correlation_id);
        line.text_or_null("serverName", self.server);
        line.text_or_null("toolName", self.tool);
        line.text("method", self.method);
        line.millis("duration", self.duration);
        if let Some(steps) = self.steps.filter(|_| detailed) {
            line.millis("wait", steps.wait);
            line.millis("atServer", steps.server);
        }
        self.status.fill(line);
        self.fill_caller(line);
        if let Some(error) = self.error {
            line.text("error", error);
        }
    }

    fn fill_caller(&self, line: &mut Line<'_>) {
        if let Some(principal) = self.principal {
            line.text("principal", principal);
        }
        if let Some(client) = self.client {
            line.text("client", client);
        }
        if let Some(project) = self.project {
            line.text("project", project);
        }
        if let Some(http) = &self.http {
            line.word("httpMethod", http.method);
            line.text("path", &crate::redact::url(http.path));
            line.number("httpStatus", http.status.into());
        }
    }
}

impl Status {
    fn fill(self, line: &mut Line<'_>) {
        line.word("status", self.name());
        if let Self::Error(code) = self {
            line.bare("errorCode", code);
        }
    }

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::Error(_) => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Capture;
    use crate::level::Format;

    const CALL: CallRecord<'_> = CallRecord {
        request_id: 7,
        correlation_id: "0b7e-41",
        server: Some("git"),
        tool: Some("status"),
        method: "tools/call",
        version: "2025-11-25",
        duration: Duration::from_micros(12_345),
        status: Status::Ok,
        principal: Some("tok_3"),
        client: Some("Claude Code"),
        project: None,
        http: None,
        error: None,
        said: Some(Payload::new("S3CRET1")),
        params: Some(Payload::new(r#"{"name":"S3CRET2"}"#)),
        steps: Some(Steps {
            wait: Duration::from_micros(45),
            server: Duration::from_micros(12_100),
        }),
        trace: None,
    };

    const FAILED: CallRecord<'_> = CallRecord {
        status: Status::Error(-32602),
        http: Some(HttpFacts {
            method: "POST",
            path: "/mcp?key=S3CRET3",
            status: 200,
        }),
        error: Some("Unknown tool: Bearer S3CRET4"),
        ..CALL
    };

    fn told(format: Format, record: &CallRecord<'_>) -> String {
        let capture = Capture::standing_still(Level::Info, format);
        capture.calls().record(record);
        capture.lines().concat()
    }

    #[test]
    fn log_03_a_call_is_one_json_line_with_the_promised_keys() {
        insta::assert_snapshot!(told(Format::Json, &CALL), @r#"{"timestamp":"2025-01-15T10:30:45.123Z","level":"info","requestId":7,"correlationId":"0b7e-41","serverName":"git","toolName":"status","method":"tools/call","duration":12.345,"status":"ok","principal":"tok_3","client":"Claude Code"}"#);
    }

    #[test]
    fn log_03_over_http_the_request_and_the_client_are_told_too() {
        insta::assert_snapshot!(told(Format::Json, &FAILED), @r#"{"timestamp":"2025-01-15T10:30:45.123Z","level":"info","requestId":7,"correlationId":"0b7e-41","serverName":"git","toolName":"status","method":"tools/call","duration":12.345,"status":"error","errorCode":-32602,"principal":"tok_3","client":"Claude Code","httpMethod":"POST","path":"/mcp","httpStatus":200,"error":"Unknown tool: Bearer [redacted]"}"#);
    }

    #[test]
    fn log_03_a_call_is_one_pretty_line() {
        insta::assert_snapshot!(told(Format::Pretty, &FAILED), @r#"2025-01-15T10:30:45.123Z  INFO call: requestId=7 correlationId=0b7e-41 serverName=git toolName=status method=tools/call duration=12.345 status=error errorCode=-32602 principal=tok_3 client="Claude Code" httpMethod=POST path=/mcp httpStatus=200 error="Unknown tool: Bearer [redacted]""#);
    }

    #[test]
    fn log_03_a_request_without_server_has_the_same_keys() {
        let list = CallRecord {
            server: None,
            tool: None,
            method: "tools/list",
            ..CALL
        };
        insta::assert_snapshot!(told(Format::Json, &list), @r#"{"timestamp":"2025-01-15T10:30:45.123Z","level":"info","requestId":7,"correlationId":"0b7e-41","serverName":null,"toolName":null,"method":"tools/list","duration":12.345,"status":"ok","principal":"tok_3","client":"Claude Code"}"#);
        insta::assert_snapshot!(told(Format::Pretty, &list), @r#"2025-01-15T10:30:45.123Z  INFO call: requestId=7 correlationId=0b7e-41 method=tools/list duration=12.345 status=ok principal=tok_3 client="Claude Code""#);
    }

    #[test]
    fn log_03_calls_are_told_at_info_and_not_above() {
        let told = [Level::Trace, Level::Info, Level::Warn, Level::Fatal].map(|level| {
            let capture = Capture::new(level, Format::Json);
            capture.calls().record(&CALL);
            capture.lines().len()
        });
        assert_eq!(told, [1, 1, 0, 0]);
    }

    #[test]
    fn log_04_what_others_have_written_is_in_no_line_and_no_debug_text() {
        let line = [Level::Trace, Level::Info].map(|level| {
            let capture = Capture::new(level, Format::Json);
            capture.calls().record(&CALL);
            capture.lines().concat()
        });
        let told = format!("{line:?} {CALL:?}");
        assert!(!told.contains("S3CRET"), "{told}");
        assert!(told.contains("Payload(7 bytes)"), "{told}");
    }

    #[test]
    fn log_05_at_debug_a_call_tells_where_its_time_went() {
        let steps = [Level::Debug, Level::Info].map(|level| {
            let capture = Capture::new(level, Format::Pretty);
            capture.calls().record(&CALL);
            capture
                .lines()
                .concat()
                .contains("duration=12.345 wait=0.045 atServer=12.100 ")
        });
        assert_eq!(steps, [true, false]);
    }

    #[test]
    fn log_03_no_log_is_a_log_too() {
        CallLog::none().record(&CALL);
    }
}
