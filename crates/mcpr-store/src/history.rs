//! Past calls.

pub(crate) mod batch;

use async_trait::async_trait;

pub use self::batch::CallBatch;
use crate::StoreError;

/// A call that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallRow<Text = String> {
    /// Its id; ids sort by time.
    pub id: Text,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// The number of the request in the log of its run.
    pub request_id: Text,
    /// What belongs together: a session, or the request alone.
    pub correlation_id: Text,
    /// The method.
    pub method: Text,
    /// The server that had it.
    pub server: Option<Text>,
    /// The tool, by its server's name.
    pub tool: Option<Text>,
    /// `ok`, `tool_error`, `error` or `cancelled`.
    pub status: Text,
    /// The code of an error.
    pub code: Option<i64>,
    /// Its message.
    pub error: Option<Text>,
    /// The key of the principal that called.
    pub principal: Text,
    /// The program it said it is.
    pub client: Option<Text>,
    /// The project it called in.
    pub project: Option<Text>,
    /// The arguments, as far as they are kept.
    pub arguments: Option<Text>,
}

/// Which calls are meant; every member that is set narrows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallQuery {
    /// Those of this server.
    pub server: Option<String>,
    /// Those of this tool, by its server's name.
    pub tool: Option<String>,
    /// Those that ended so.
    pub status: Option<String>,
    /// Those of this principal.
    pub principal: Option<String>,
    /// Those of this method.
    pub method: Option<String>,
    /// Those that began then or later.
    pub since_ms: Option<i64>,
    /// Those that began before.
    pub until_ms: Option<i64>,
    /// Those that took longer, in microseconds.
    pub slower_than_us: Option<u64>,
    /// Those that have this in their tool, error or arguments; ASCII letters may be upper or lower case.
    pub text: Option<String>,
    /// Those with an earlier id.
    pub before: Option<String>,
    /// Those with a later id.
    pub after: Option<String>,
    /// At the most so many; 0 for all.
    pub limit: usize,
    /// No more once they take so many bytes ([`CallRow::bytes`]); 0 for however many.
    pub bytes: u64,
    /// Without their arguments.
    pub brief: bool,
}

/// Keeps past calls. The last second may be lost in a power cut.
#[async_trait]
pub trait HistoryStore {
    /// Keeps these calls; one whose id is there already stays as it is.
    async fn put_calls(&self, calls: CallBatch) -> Result<(), StoreError>;

    /// The calls that are meant, the newest first.
    async fn calls(&self, query: CallQuery) -> Result<Vec<CallRow>, StoreError>;

    /// The call with this id, or whose id alone begins so.
    async fn call(&self, id: &str) -> Result<Option<CallRow>, StoreError>;

    /// Forgets the calls that are meant; how many there were.
    async fn delete_calls(&self, query: CallQuery) -> Result<u64, StoreError>;

    /// Forgets calls that began before a time, and the oldest beyond so many bytes ([`CallBatch::bytes`]); how many
    /// there were.
    async fn prune_calls(&self, older_than_ms: Option<i64>, max_bytes: u64) -> Result<u64, StoreError>;
}

impl CallRow {
    /// The same, with its texts borrowed.
    pub fn as_ref(&self) -> CallRow<&str> {
        CallRow {
            id: &self.id,
            at_ms: self.at_ms,
            duration_us: self.duration_us,
            request_id: &self.request_id,
            correlation_id: &self.correlation_id,
            method: &self.method,
            server: self.server.as_deref(),
            tool: self.tool.as_deref(),
            status: &self.status,
            code: self.code,
            error: self.error.as_deref(),
            principal: &self.principal,
            client: self.client.as_deref(),
            project: self.project.as_deref(),
            arguments: self.arguments.as_deref(),
        }
    }

    /// What it takes, roughly.
    pub fn bytes(&self) -> u64 {
        let optional = [
            &self.server,
            &self.tool,
            &self.error,
            &self.client,
            &self.project,
            &self.arguments,
        ];
        let optional: usize = optional.into_iter().flatten().map(String::len).sum();
        let fixed = [
            &self.id,
            &self.request_id,
            &self.correlation_id,
            &self.method,
            &self.status,
            &self.principal,
        ];
        let fixed: usize = fixed.into_iter().map(String::len).sum();
        (optional + fixed + 64) as u64
    }
}

impl CallQuery {
    /// Whether a call is meant, but for the limit.
    pub(crate) fn means(&self, call: &CallRow) -> bool {
        let same = |wanted: &Option<String>, is: Option<&str>| wanted.is_none() || wanted.as_deref() == is;
        let contains = |wanted: &String| {
            let wanted = wanted.to_ascii_lowercase();
            let texts = [&call.tool, &call.error, &call.arguments];
            texts
                .into_iter()
                .flatten()
                .any(|text| text.to_ascii_lowercase().contains(&wanted))
        };
        same(&self.server, call.server.as_deref())
            && same(&self.tool, call.tool.as_deref())
            && same(&self.status, Some(&call.status))
            && same(&self.principal, Some(&call.principal))
            && same(&self.method, Some(&call.method))
            && self.since_ms.is_none_or(|since| call.at_ms >= since)
            && self.until_ms.is_none_or(|until| call.at_ms < until)
            && self.slower_than_us.is_none_or(|limit| call.duration_us > limit)
            && self.before.as_ref().is_none_or(|before| call.id < *before)
            && self.after.as_ref().is_none_or(|after| call.id > *after)
            && self.text.as_ref().is_none_or(contains)
    }

    /// Whether these, which were found, are as many as were asked for: there may be more.
    pub fn is_filled_by(&self, found: &[CallRow]) -> bool {
        let mut room = Room::of(self);
        found.iter().for_each(|call| room.spend(call));
        !room.is_left()
    }
}

/// How much more a search may find.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    calls: usize,
    bytes: u64,
}

impl Room {
    pub(crate) fn of(query: &CallQuery) -> Self {
        Self {
            calls: if query.limit == 0 { usize::MAX } else { query.limit },
            bytes: if query.bytes == 0 { u64::MAX } else { query.bytes },
        }
    }

    pub(crate) fn is_left(self) -> bool {
        self.calls > 0 && self.bytes > 0
    }

    fn spend(&mut self, call: &CallRow) {
        self.calls = self.calls.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(call.bytes());
    }

    /// Finds those that are meant among these, as far as there is room.
    pub(crate) fn fill(
        &mut self,
        calls: impl IntoIterator<Item = CallRow>,
        query: &CallQuery,
        found: &mut Vec<CallRow>,
    ) {
        for mut call in calls.into_iter().filter(|call| query.means(call)) {
            if !self.is_left() {
                return;
            }
            call.arguments = call.arguments.filter(|_| !query.brief);
            self.spend(&call);
            found.push(call);
        }
    }
}
