//! The script of a fake server: what it serves, and how it misbehaves.
//!
//! Tables and lists that name a request take `METHOD` or `METHOD:NAME`, where NAME is the tool, the prompt
//! or the URI asked for; the longer key wins.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::interview::Interview;
use crate::message::{Request, quoted};
use crate::old_tasks::OldTasks;
use crate::tasks::Tasks;

/// One JSON text kept exactly as it was written.
pub(crate) type Raw = Box<RawValue>;

/// A table from request to something scripted.
pub(crate) type Script<V> = BTreeMap<String, V>;

/// Everything a spec file may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Spec {
    /// Entries of `tools/list`, served byte for byte.
    pub(crate) tools: Vec<Raw>,
    /// Entries of `prompts/list`.
    pub(crate) prompts: Vec<Raw>,
    /// Entries of `resources/list`.
    pub(crate) resources: Vec<Raw>,
    /// Entries of `resources/templates/list`.
    pub(crate) templates: Vec<Raw>,
    /// Exact results: a JSON value, or a string that holds the text.
    pub(crate) raw: Script<Raw>,
    /// Exact error objects.
    pub(crate) error: Script<Raw>,
    /// Exact error objects that are given only once for each key.
    pub(crate) error_once: Script<Raw>,
    /// Seconds to wait before an answer; the key `start` delays the reading of the first message.
    pub(crate) delay: Script<f64>,
    /// Requests that are never answered.
    pub(crate) silent: Vec<String>,
    /// Whole texts of answers, message or not; `{id}` stands for the id of the request.
    pub(crate) reply: Script<String>,
    /// Requests that are answered with an id that nobody used.
    pub(crate) wrong_id: Vec<String>,
    /// Entries per page of each list.
    pub(crate) page: Option<usize>,
    /// Every page names the same next cursor, and the lists never end.
    pub(crate) cursor_loop: bool,
    /// Notifications around each `tools/call`.
    pub(crate) notify: Vec<Notice>,
    /// Progress during each `tools/call` that brought a token.
    pub(crate) progress: Option<Progress>,
    /// What the client is asked during requests.
    pub(crate) interview: Vec<Interview>,
    /// Stateless era: calls become tasks.
    pub(crate) tasks: Option<Tasks>,
    /// Session era: calls of tools that say so become tasks.
    pub(crate) old_tasks: Option<OldTasks>,
    /// Entries of `tools/list` instead of the tools, until one is called.
    pub(crate) old_tools: Vec<Raw>,
    /// Adds the tools `env`, `cwd`, `echo`, `add` and `pid`.
    pub(crate) env_tool: bool,
    /// Adds the tool `touch`, which says that the resource `uri` has changed; with `within` it says so
    /// in the call's own answer.
    pub(crate) touch_tool: bool,
    /// Resources that are left out of what a `subscriptions/listen` is told to hear.
    pub(crate) unheard: Vec<String>,
    /// How many resources one `subscriptions/listen` may name; one with more is refused.
    pub(crate) most_heard: Option<usize>,
    /// Pings the client once after the handshake, and exits with code 4 if no answer comes in 2 s.
    pub(crate) ping_client: bool,

    /// Which eras it speaks.
    pub(crate) era: Era,
    /// The protocol version it insists on, whatever the client asks for.
    pub(crate) version: Option<String>,
    /// Instructions for the model.
    pub(crate) instructions: Option<String>,
    /// Capabilities instead of those that follow from what it serves.
    pub(crate) capabilities: Option<Raw>,
    /// Its `serverInfo`.
    #[serde(rename = "serverInfo")]
    pub(crate) server_info: Option<Raw>,
    /// Freshness of its stateless lists.
    #[serde(rename = "ttlMs")]
    pub(crate) ttl_ms: u64,
    /// Who may share them, `private` by default.
    #[serde(rename = "cacheScope")]
    pub(crate) cache_scope: Option<String>,
    /// Leaves `resultType` out of stateless results, as some real servers do.
    pub(crate) forget_result_type: bool,

    /// Appends every received message to this file, one JSON line each.
    pub(crate) log: Option<PathBuf>,
    /// Exits with code 3 when one of these arrives.
    pub(crate) exit_on: OneOrMany,
    /// Exits with code 3 at the first message after this many.
    pub(crate) exit_after: Option<usize>,
    /// Goes on after the end of stdin and after SIGTERM.
    pub(crate) stubborn: bool,

    /// stdio: reads nothing more once one of these has come, and lives on.
    pub(crate) deaf_on: OneOrMany,
    /// stdio: lines before the first reply.
    pub(crate) noise: Vec<String>,
    /// stdio: raw bytes in hex (spaces allowed) before the first reply.
    pub(crate) hex: String,
    /// stdio: one line of this many bytes before the first reply.
    pub(crate) flood: usize,
    /// stdio: moves `noise`, `hex` and `flood` to the first reply to this request.
    pub(crate) junk_on: Option<String>,
    /// stdio: lines before every reply.
    pub(crate) mid: Vec<String>,
    /// stdio: raw bytes in hex before every reply.
    pub(crate) mid_hex: String,
    /// stdio: what ends each line, `\n` by default.
    pub(crate) eol: Option<String>,
    /// stdio: bytes on stderr, without a line end, for each message.
    pub(crate) stderr: usize,
    /// stdio: text on stderr at the start.
    pub(crate) stderr_text: String,

    /// HTTP: opens a session at `initialize` and insists on it afterwards.
    pub(crate) session: bool,
    /// HTTP: requests after which a session is forgotten.
    pub(crate) ttl: Option<usize>,
    /// HTTP: what a forgotten or unknown session is told instead of 404.
    pub(crate) gone: Option<Mask>,
    /// HTTP: the status of GET instead of a stream.
    pub(crate) get: Option<u16>,
    /// HTTP: the status of an accepted notification instead of 202.
    pub(crate) accepted: Option<u16>,
    /// HTTP: every answer is a stream.
    pub(crate) sse: bool,
    /// HTTP: lines of a stream end with CR LF.
    pub(crate) crlf: bool,
    /// HTTP: other liberties of the event-stream grammar.
    pub(crate) sse_style: Vec<SseStyle>,
    /// HTTP: the exact content type of answers.
    pub(crate) ctype: Option<String>,
    /// HTTP: 307 to the same path with a trailing slash.
    pub(crate) slash: bool,
    /// HTTP: redirects every request to this URL.
    pub(crate) redirect: Option<String>,
    /// HTTP: the status of `redirect`, 307 by default.
    pub(crate) redirect_status: Option<u16>,
    /// HTTP: one answer for everything.
    pub(crate) mask: Option<Mask>,
    /// HTTP: reads every request and answers none.
    pub(crate) hang: bool,
    /// HTTP: answers to these break off after the head.
    pub(crate) cut: Vec<String>,
    /// HTTP and SSE: seconds after which an open GET stream ends.
    pub(crate) close_after: Option<f64>,
    /// SSE: the data of the `endpoint` event; `{s}` stands for the session.
    pub(crate) endpoint: Option<String>,
}

/// Which eras a fake server speaks.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Era {
    /// Opened by `initialize`.
    #[default]
    Session,
    /// 2026-07-28: every request carries an envelope.
    Stateless,
    /// Whichever the request is of.
    Both,
}

/// A notification around each `tools/call`.
///
/// Changed lists and updated resources go out after the answer; everything else belongs to the call and
/// goes out before it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notice {
    pub(crate) method: String,
    /// In its texts, `{args}` stands for the arguments of the call.
    pub(crate) params: Option<Raw>,
    #[serde(default = "once")]
    pub(crate) repeat: usize,
    /// Only calls with this key have it.
    pub(crate) on: Option<String>,
}

/// Progress during a call: the first notice goes out at once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Progress {
    pub(crate) count: usize,
    /// Seconds after each notice.
    pub(crate) interval: f64,
    /// It comes after what the client was asked, not before.
    #[serde(default)]
    pub(crate) after: bool,
}

/// An HTTP answer that has nothing to do with the request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mask {
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) body: String,
    pub(crate) ctype: Option<String>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// The first request that gets it, counted from 1.
    #[serde(default)]
    pub(crate) after: usize,
    /// The last request that gets it.
    pub(crate) until: Option<usize>,
    /// Only requests with this key get it.
    pub(crate) on: Option<String>,
    /// How many of those get it.
    pub(crate) times: Option<usize>,
    #[serde(skip)]
    given: AtomicUsize,
}

/// A liberty that the event-stream grammar grants.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SseStyle {
    /// A comment before each event.
    Comments,
    /// `data:{…}` without the space.
    NoSpace,
    /// No `event:` line.
    NoEvent,
    /// An `id:` line with each event.
    Ids,
    /// A `retry:` line with each event.
    Retry,
    /// An event with an id and empty data first.
    Priming,
    /// The data split over two lines where JSON allows it.
    Split,
    /// Lines that end with CR alone.
    Cr,
    /// A field that the grammar does not know.
    Unknown,
}

/// One key or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    /// The keys.
    pub(crate) fn keys(&self) -> &[String] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Many(keys) => keys,
        }
    }
}

impl Spec {
    /// Reads a spec file.
    pub(crate) fn read(path: &std::path::Path) -> anyhow::Result<Self> {
        use anyhow::Context as _;
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a fakemcp spec", path.display()))
    }

    /// Whether it has entries for the list that `method` asks for.
    pub(crate) fn entries(&self, method: &str) -> &[Raw] {
        match method {
            "tools/list" => &self.tools,
            "prompts/list" => &self.prompts,
            "resources/list" => &self.resources,
            "resources/templates/list" => &self.templates,
            _ => &[],
        }
    }

    /// Whether stateless requests are understood.
    pub(crate) fn stateless(&self) -> bool {
        self.era != Era::Session
    }

    /// Whether a handshake is understood.
    pub(crate) fn sessions(&self) -> bool {
        self.era != Era::Stateless
    }
}

impl Notice {
    /// Its parameters for a call.
    pub(crate) fn params_for(&self, request: &Request) -> Option<String> {
        let params = self.params.as_ref()?.get();
        let arguments = request
            .params
            .as_ref()
            .map_or("{}", |params| params.arguments_text());
        Some(filled(params, arguments))
    }
}

impl Mask {
    /// Whether request number `nth` gets this answer.
    pub(crate) fn covers(&self, nth: usize, request: Option<&Request>) -> bool {
        let keyed = self
            .on
            .as_ref()
            .is_none_or(|key| request.is_some_and(|request| request.is(key)));
        let covered = keyed && nth >= self.after && self.until.is_none_or(|until| nth <= until);
        let left = |times: usize| self.given.fetch_add(1, Ordering::Relaxed) < times;
        covered && self.times.is_none_or(left)
    }
}

/// What `script` holds for a request.
pub(crate) fn scripted<'a, V>(script: &'a Script<V>, request: &Request) -> Option<&'a V> {
    request.keys().iter().find_map(|key| script.get(key))
}

/// Whether `keys` names a request.
pub(crate) fn named(keys: &[String], request: &Request) -> bool {
    keys.iter().any(|key| request.is(key))
}

/// The text that a scripted value stands for: a string's content, or the value as it was written.
pub(crate) fn exact(raw: &RawValue) -> String {
    serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

/// Bytes written in hex.
pub(crate) fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks_exact(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect()
}

/// Puts the arguments of a call where a text of the script says `{args}`.
pub(crate) fn filled(script: &str, arguments: &str) -> String {
    let text = quoted(arguments);
    script.replace("{args}", &text[1..text.len() - 1])
}

fn once() -> usize {
    1
}
