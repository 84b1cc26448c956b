//! The words of MCP, without any I/O.
//!
//! A message is parsed once, into an envelope whose payloads ([`RawJson`]) are slices of the
//! buffer it arrived in. Changes are said as splices ([`Edit`]): these bytes become those, every
//! other byte stays. Nothing in this crate knows a socket, a server or a configuration.

mod ability;
mod batch;
mod declined;
mod edit;
mod envelope;
mod error;
mod halves;
mod header;
mod id;
mod level;
mod message;
mod meta;
mod method;
mod object;
mod plain;
mod raw;
mod rope;
mod version;
mod walk;
mod word;

pub use ability::{Abilities, Ability};
pub use declined::declined;
pub use edit::Edit;
pub use envelope::{Envelope, EnvelopeError, progress_token};
pub use error::{ErrorObject, code};
pub use header::{HeaderCodecError, decode_value, encode_value};
pub use id::Id;
pub use level::{LogLevel, UnknownLevel};
pub use message::{Broken, Fault, Message, Notification, Request, Response};
pub use meta::key;
pub use method::{Method, notification};
pub use object::{Member, Object, ObjectError};
pub use raw::{NotJson, RawJson};
pub use rope::Rope;
pub use version::{Era, UnknownVersion, Version};
pub use word::{Mark, Word};
