//! What an operator can ask, one type for each thing, and what comes back.

pub(crate) mod history;
pub(crate) mod log;
pub(crate) mod pins;
pub(crate) mod projects;
pub(crate) mod prompts;
pub(crate) mod relayed;
pub(crate) mod resources;
pub(crate) mod running;
pub(crate) mod secrets;
pub(crate) mod status;
pub(crate) mod switches;
pub(crate) mod tokens;
pub(crate) mod tools;
pub(crate) mod toolsets;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// One thing an operator can ask of a gateway.
///
/// Its JSON is strict: an unknown member is refused, so that a newer client's wish (an expiry, a
/// limit) is never silently ignored. Outputs are lenient: unknown members are skipped.
pub trait Operation: Serialize + DeserializeOwned + Send + 'static {
    /// What comes back when it was carried out.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// Where it is sent: the path below [`PREFIX`](crate::PREFIX).
    const PATH: &'static str;

    /// Whether the scope `read` allows it: it changes nothing, reaches no server and tells nothing
    /// about tokens. All others need `admin`.
    const READ_ONLY: bool;
}

/// One thing an operator can ask of a gateway whose answer comes as a stream of server-sent events;
/// the data of each is an [`Item`](Self::Item) as JSON.
///
/// What is refused at once is answered like any [`Operation`], with a status and a
/// [`Failure`](crate::Failure).
pub trait Streamed: Serialize + DeserializeOwned + Send + 'static {
    /// What comes, one after the other.
    type Item: Serialize + DeserializeOwned + Send + 'static;

    /// Where it is sent: the path below [`PREFIX`](crate::PREFIX).
    const PATH: &'static str;

    /// Whether the scope `read` allows it, as with an [`Operation`].
    const READ_ONLY: bool;

    /// Whether the path has no other answer than a stream; else only those get one whose `Accept`
    /// names `text/event-stream`.
    const ALWAYS: bool;

    /// Reads one that was sent.
    ///
    /// # Errors
    ///
    /// The [`Failure`](crate::Failure) that the sender gets.
    fn read(body: &[u8]) -> Result<Self, crate::Failure> {
        crate::dispatch::parse(Self::PATH, body)
    }
}
