//! What an operator can ask, one type for each thing, and what comes back.

pub(crate) mod prompts;
pub(crate) mod relayed;
pub(crate) mod resources;
pub(crate) mod status;
pub(crate) mod tokens;
pub(crate) mod tools;

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
