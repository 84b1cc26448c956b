//! What is kept of a call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, SystemTime};

use mcpr_config::Arguments;
use mcpr_protocol::{Edit, Method, Object, RawJson};
use mcpr_store::{CallBatch, CallRow};
use mcpr_telemetry::{CallRecord, Payload, Secrets, Status};

use super::veil::veiled;

/// Redacted arguments are cut here.
const ARGUMENTS: usize = 64 << 10;
/// Errors of servers are cut here.
pub(crate) const ERROR: usize = 4 << 10;
/// The most of a name that is kept, in bytes.
pub(crate) const NAME: usize = 1 << 10;
/// How many short texts a call has.
const TEXTS: usize = 7;
/// The length of one that is missing.
const MISSING: u32 = u32::MAX;
/// So much memory is kept for the next calls.
const KEEP: usize = 256 << 10;
/// What a request says of what it uses, where that is not arguments alone.
const TELLING: [&str; 6] = ["name", "arguments", "uri", "ref", "argument", "context"];

/// Calls as they ended, in memory that is used again. They have no ids yet, their arguments are all that their
/// requests said, and secrets may be in them.
#[derive(Default)]
pub(super) struct Drafts {
    heads: Vec<Head>,
    /// The short texts of all of them, one behind the other.
    texts: String,
    /// What the long ones take.
    long: usize,
}

/// A call, but for its short texts.
struct Head {
    at_ms: i64,
    duration_us: u64,
    request_id: u64,
    status: Status,
    /// Whether the arguments must be redacted before they are written.
    redact: bool,
    error: Option<Box<str>>,
    params: Option<Box<str>>,
    lengths: [u32; TEXTS],
}

/// One call of them.
pub(super) struct Draft<'d> {
    head: &'d Head,
    texts: [Option<&'d str>; TEXTS],
}

impl Drafts {
    /// Adds what is to be kept of a call.
    pub(super) fn add(&mut self, record: &CallRecord<'_>, facts: Facts) {
        let texts = [
            Some(record.correlation_id),
            Some(record.method),
            record.server,
            record.tool,
            record.principal,
            record.client,
            record.project,
        ];
        texts.iter().flatten().for_each(|text| self.texts.push_str(text));
        self.long += facts.long();
        self.heads.push(Head {
            at_ms: facts.at_ms,
            duration_us: u64::try_from(record.duration.as_micros()).unwrap_or(u64::MAX),
            request_id: record.request_id,
            status: record.status,
            redact: facts.redact,
            error: facts.error,
            params: facts.params,
            // A text that is longer than 4 GiB has not come through any limit.
            lengths: texts.map(|text| text.map_or(MISSING, |text| text.len() as u32)),
        });
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    /// About the bytes they take.
    pub(super) fn size(&self) -> usize {
        self.heads.len() * size_of::<Head>() + self.texts.len() + self.long
    }

    /// One after the other.
    pub(super) fn iter(&self) -> impl Iterator<Item = Draft<'_>> {
        let mut rest = &*self.texts;
        let mut next = move |length: u32| {
            let (text, behind) = rest.split_at_checked(length as usize)?;
            rest = behind;
            Some(text)
        };
        self.heads.iter().map(move |head| Draft {
            head,
            texts: head.lengths.map(&mut next),
        })
    }

    /// Forgets them, and keeps their memory for others, unless it has become much.
    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.heads.shrink_to(KEEP / size_of::<Head>());
        self.texts.clear();
        self.texts.shrink_to(KEEP);
        self.long = 0;
    }
}

/// What takes a while to find out of a call.
pub(super) struct Facts {
    at_ms: i64,
    redact: bool,
    error: Option<Box<str>>,
    params: Option<Box<str>>,
}

impl Facts {
    pub(super) fn of(record: &CallRecord<'_>, arguments: Arguments) -> Self {
        // All that it has said, until there is time to look for what is to be kept of it.
        let said = || record.params.map_or("", Payload::reveal).into();
        Self {
            at_ms: millis(SystemTime::now().checked_sub(record.duration)),
            redact: arguments == Arguments::Redacted,
            error: record.reason().map(Into::into),
            params: (arguments != Arguments::None).then(said),
        }
    }

    fn long(&self) -> usize {
        [&self.error, &self.params]
            .into_iter()
            .flatten()
            .map(|text| text.len())
            .sum()
    }
}

impl Draft<'_> {
    /// When it ended, in milliseconds since 1970-01-01 UTC.
    pub(super) fn ended_ms(&self) -> i64 {
        let millis = i64::try_from(self.head.duration_us / 1000).unwrap_or(i64::MAX);
        self.head.at_ms.saturating_add(millis)
    }

    /// About the bytes it takes.
    pub(super) fn size(&self) -> usize {
        let long = [&self.head.error, &self.head.params].into_iter().flatten();
        size_of::<Head>() + long.map(|text| text.len()).sum::<usize>()
    }

    /// Adds it to what is written: without the secrets that are known, and with an id.
    pub(super) fn write(&self, id: &str, secrets: &Secrets, batch: &mut CallBatch) {
        let [correlation_id, method, server, tool, principal, client, project] = self.texts;
        let head = self.head;
        let method = method.unwrap_or_default();
        let error = head
            .error
            .as_ref()
            .map(|error| secrets.scrub_within(error, ERROR));
        // What others have chosen may be anything.
        let names = [server, tool, principal, client, project];
        let [server, tool, principal, client, project] =
            names.map(|name| name.map(|name| secrets.scrub_within(name, NAME)));
        let arguments = head.params.as_ref().and_then(|params| {
            let given = given(method, params);
            match head.redact {
                true => unless_broken(|| veiled(&given, secrets, ARGUMENTS).into_owned()),
                false => Some(given),
            }
        });
        batch.push(&CallRow {
            id,
            at_ms: head.at_ms,
            duration_us: head.duration_us,
            request_id: itoa::Buffer::new().format(head.request_id),
            correlation_id: correlation_id.unwrap_or_default(),
            method,
            server: server.as_deref(),
            tool: tool.as_deref(),
            status: head.status.name(),
            code: code(head.status),
            error: error.as_deref(),
            principal: principal.as_deref().unwrap_or_default(),
            client: client.as_deref(),
            project: project.as_deref(),
            arguments: arguments.as_deref(),
        });
    }
}

/// What is made, or nothing where that panics: a fault of mcpr, for which one call is kept without its arguments and
/// all others are kept whole.
fn unless_broken<T>(make: impl FnOnce() -> T) -> Option<T> {
    let made = catch_unwind(AssertUnwindSafe(make));
    if made.is_err() {
        tracing::error!("a call is kept in the history without its arguments, as they could not be redacted");
    }
    made.ok()
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
            version: "2025-11-25",
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
        let (mut drafts, mut batch) = (Drafts::default(), CallBatch::default());
        drafts.add(&record, Facts::of(&record, arguments));
        drafts
            .iter()
            .for_each(|draft| draft.write("h_1", &secrets, &mut batch));
        batch.calls().next().unwrap()
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
    fn log_06_names_are_kept_without_secrets_and_not_endless() {
        let long = "p".repeat(20_000);
        let record = CallRecord {
            project: Some("S3CRET1"),
            client: Some(&long),
            principal: Some("tk S3CRET1"),
            ..record()
        };
        let row = kept_of(&record, Arguments::None, "{}");
        assert_eq!(
            (row.project.as_deref(), row.principal.as_str()),
            (Some("[redacted]"), "tk [redacted]")
        );
        assert!(row.client.unwrap().len() < 2 * NAME);
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
    fn log_06_what_breaks_over_the_arguments_of_a_call_ends_no_history() {
        assert_eq!(unless_broken(|| 1), Some(1));
        assert_eq!(unless_broken::<()>(|| panic!("a fault")), None);
    }

    #[test]
    fn log_06_calls_that_wait_together_keep_their_own_texts() {
        let (mut drafts, mut batch) = (Drafts::default(), CallBatch::default());
        let servers = [Some("git"), None, Some(""), Some("docs")];
        for server in servers {
            let record = CallRecord { server, ..record() };
            drafts.add(&record, Facts::of(&record, Arguments::None));
        }

        drafts
            .iter()
            .for_each(|draft| draft.write("h_1", &Secrets::default(), &mut batch));

        let told = batch.calls().map(|call| (call.server, call.tool.unwrap()));
        let expected = servers.map(|server| (server.map(str::to_owned), "push".to_owned()));
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert!(drafts.size() > 4 * size_of::<Head>());
        drafts.clear();
        assert_eq!((drafts.len(), drafts.size()), (0, 0));
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
