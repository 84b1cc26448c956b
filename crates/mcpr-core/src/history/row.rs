//! What is kept of a call.

use std::time::{Duration, SystemTime};

use mcpr_config::Arguments;
use mcpr_protocol::{Edit, Method, Object, RawJson};
use mcpr_store::CallRow;
use mcpr_telemetry::{CallRecord, Payload, Secrets, Status, redact};

use super::veil::veiled;

/// Redacted arguments are cut here.
const ARGUMENTS: usize = 64 << 10;
/// Errors of servers are cut here.
const ERROR: usize = 4 << 10;
/// About what a row takes beside its texts.
const ROW: u64 = 256;
/// What a request says of what it uses, where that is not arguments alone.
const TELLING: [&str; 6] = ["name", "arguments", "uri", "ref", "argument", "context"];

/// A call as it ended. It has no id yet, its arguments are all that its request said, and secrets may be in it.
pub(super) struct Draft {
    at_ms: i64,
    duration_us: u64,
    request_id: u64,
    status: Status,
    /// Whether the arguments must be redacted before they are written.
    redact: bool,
    texts: Texts<9>,
}

/// Texts in one piece: many calls wait at once, and each is written by another thread than it came from.
struct Texts<const N: usize> {
    all: Box<str>,
    /// None for one that is missing.
    lengths: [Option<u32>; N],
}

impl Draft {
    /// What is to be kept of a call.
    pub(super) fn of(record: &CallRecord<'_>, arguments: Arguments) -> Self {
        let began = SystemTime::now().checked_sub(record.duration);
        // All that it has said, until there is time to look for what is to be kept of it.
        let said = || record.params.map_or("", Payload::reveal);
        Self {
            at_ms: millis(began),
            duration_us: u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
            request_id: record.request_id,
            status: record.status,
            redact: arguments == Arguments::Redacted,
            texts: Texts::of([
                Some(record.correlation_id),
                Some(record.method),
                record.server,
                record.tool,
                record.reason(),
                record.principal,
                record.client,
                record.project,
                (arguments != Arguments::None).then(said),
            ]),
        }
    }

    /// About the bytes it takes.
    pub(super) fn size(&self) -> u64 {
        ROW + self.texts.all.len() as u64
    }

    /// When it ended, in milliseconds since 1970-01-01 UTC.
    pub(super) fn ended_ms(&self) -> i64 {
        let millis = i64::try_from(self.duration_us / 1000).unwrap_or(i64::MAX);
        self.at_ms.saturating_add(millis)
    }

    /// The row to write: without the secrets that are known, and with an id.
    pub(super) fn into_row(self, id: String, secrets: &Secrets) -> CallRow {
        let [
            correlation_id,
            method,
            server,
            tool,
            error,
            principal,
            client,
            project,
            params,
        ] = self.texts.split();
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let method = method.unwrap_or_default();
        let arguments = params.map(|params| {
            let given = given(method, params);
            match self.redact {
                true => redact::cut(&veiled(&given, secrets), ARGUMENTS).into_owned(),
                false => given,
            }
        });
        CallRow {
            id,
            at_ms: self.at_ms,
            duration_us: self.duration_us,
            request_id: self.request_id.to_string(),
            correlation_id: owned(correlation_id).unwrap_or_default(),
            method: method.to_owned(),
            server: owned(server),
            tool: owned(tool),
            status: self.status.name().to_owned(),
            code: code(self.status),
            error: error.map(|error| scrubbed(error, ERROR, secrets)),
            principal: owned(principal).unwrap_or_default(),
            client: owned(client),
            project: owned(project),
            arguments,
        }
    }
}

impl<const N: usize> Texts<N> {
    fn of(texts: [Option<&str>; N]) -> Self {
        let mut all = String::with_capacity(texts.iter().flatten().map(|text| text.len()).sum());
        texts.iter().flatten().for_each(|text| all.push_str(text));
        Self {
            all: all.into_boxed_str(),
            // A text that is longer than 4 GiB has not come through any limit.
            lengths: texts.map(|text| text.map(|text| u32::try_from(text.len()).unwrap_or(u32::MAX))),
        }
    }

    fn split(&self) -> [Option<&str>; N] {
        let mut rest = &*self.all;
        self.lengths.map(|length| {
            let (text, behind) = rest.split_at_checked(length? as usize)?;
            rest = behind;
            Some(text)
        })
    }
}

/// Now, in milliseconds since 1970-01-01 UTC.
pub(super) fn now_ms() -> i64 {
    millis(Some(SystemTime::now()))
}

fn millis(time: Option<SystemTime>) -> i64 {
    let since_1970 = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    i64::try_from(since_1970.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(i64::MAX)
}

fn code(status: Status) -> Option<i64> {
    match status {
        Status::Error(code) => Some(code),
        Status::Ok | Status::ToolError | Status::Cancelled => None,
    }
}

/// The arguments of a tool, none being as good as empty ones; of other requests what they ask for.
fn given(method: &str, params: &str) -> String {
    let params = Object::read(&RawJson::trusted(params.to_owned())).ok();
    let given = match &params {
        Some(params) if method == Method::ToolsCall.as_str() => params.get("arguments"),
        Some(params) => Some(asked_for(params)),
        None => None,
    };
    let given = given.filter(|given| !given.is_null());
    given.map_or_else(|| "{}".to_owned(), |given| given.as_str().to_owned())
}

fn asked_for(params: &Object) -> RawJson {
    let mut edit = Edit::new(params);
    let asked = edit.remove_where(|member| !TELLING.contains(&member)).finish();
    RawJson::trusted(asked.into_bytes())
}

/// Secrets go before the cut: a part of one could not be recognised.
fn scrubbed(text: &str, max: usize, secrets: &Secrets) -> String {
    redact::cut(&secrets.scrub(text), max).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &str = r#"{"name":"push","arguments":{ "key":"S3CRET1","password":"x","n":1E400 }}"#;

    fn record() -> CallRecord<'static> {
        CallRecord {
            request_id: 7,
            correlation_id: "7",
            server: Some("git"),
            tool: Some("push"),
            method: "tools/call",
            duration: Duration::from_micros(1500),
            status: Status::Error(-32000),
            principal: Some("tk_7h2k9qmd"),
            client: Some("cursor"),
            project: Some("web"),
            http: None,
            error: Some("refused: S3CRET1"),
            said: None,
            params: None,
            steps: None,
            trace: None,
        }
    }

    fn kept_of(record: &CallRecord<'_>, arguments: Arguments, params: &str) -> CallRow {
        let secrets = Secrets::default();
        secrets.add("S3CRET1");
        let record = CallRecord {
            params: Some(Payload::new(params)),
            ..*record
        };
        Draft::of(&record, arguments).into_row("h_1".into(), &secrets)
    }

    fn kept(arguments: Arguments, params: &str) -> CallRow {
        kept_of(&record(), arguments, params)
    }

    #[test]
    fn log_06_arguments_are_kept_as_far_as_was_asked_for() {
        let arguments = |mode| kept(mode, PARAMS).arguments;

        assert_eq!(arguments(Arguments::None), None);
        assert_eq!(
            arguments(Arguments::Redacted).unwrap(),
            r#"{ "key":"[redacted]","password":"[redacted]","n":1E400 }"#
        );
        assert_eq!(
            arguments(Arguments::Full).unwrap(),
            r#"{ "key":"S3CRET1","password":"x","n":1E400 }"#
        );
    }

    #[test]
    fn log_06_no_arguments_are_kept_as_empty_ones() {
        for params in [r#"{"name":"push"}"#, r#"{"name":"push","arguments":null}"#] {
            assert_eq!(kept(Arguments::Full, params).arguments.unwrap(), "{}");
        }
    }

    #[test]
    fn log_06_of_other_requests_what_they_ask_for_is_kept() {
        let read = CallRecord {
            tool: None,
            method: "resources/read",
            ..record()
        };
        let params = r#"{"uri":"file:///a","_meta":{"progressToken":1}}"#;

        let row = kept_of(&read, Arguments::Full, params);

        assert_eq!(row.arguments.unwrap(), r#"{"uri":"file:///a"}"#);
    }

    #[test]
    fn log_06_an_error_is_kept_without_secrets_whatever_is_asked_for() {
        for mode in [Arguments::None, Arguments::Redacted, Arguments::Full] {
            assert_eq!(kept(mode, PARAMS).error.unwrap(), "refused: [redacted]");
        }
    }

    #[test]
    fn log_06_what_a_server_says_is_kept_where_mcpr_says_nothing() {
        let record = CallRecord {
            error: None,
            said: Some(Payload::new("no S3CRET1 here")),
            ..record()
        };
        let row = kept_of(&record, Arguments::None, "{}");
        assert_eq!(row.error.unwrap(), "no [redacted] here");
    }

    #[test]
    fn log_06_redacted_arguments_are_cut_and_full_ones_are_not() {
        let long = format!(r#"{{"arguments":{{"a":"{}"}}}}"#, "x".repeat(ARGUMENTS));

        let redacted = kept(Arguments::Redacted, &long).arguments.unwrap();
        let full = kept(Arguments::Full, &long).arguments.unwrap();

        assert!(redacted.ends_with("… (8 bytes more)"), "{}", redacted.len());
        assert_eq!(full.len(), ARGUMENTS + 8);
    }

    #[test]
    fn log_06_a_row_tells_the_facts_of_the_record() {
        let row = kept(Arguments::None, "{}");

        assert_eq!((row.status.as_str(), row.code), ("error", Some(-32000)));
        assert_eq!((row.duration_us, row.request_id.as_str()), (1500, "7"));
        assert_eq!(row.project.as_deref(), Some("web"));
        assert!(row.at_ms > 1_700_000_000_000 && row.at_ms <= now_ms());
    }
}
