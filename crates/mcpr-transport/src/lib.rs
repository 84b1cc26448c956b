//! Moves MCP messages between mcpr and its peers.
//!
//! Toward servers: a [`Transport`] is the client end of one connection (a child process, a
//! streamable HTTP endpoint of either era, an old HTTP+SSE endpoint). It assigns no meaning to
//! what it moves beyond what the wire itself needs. Toward clients: [`http::server`] takes
//! connections and hands whole messages to the gateway.

mod backlog;
mod bell;
pub mod child;
mod compact;
mod excerpt;
pub mod exchange;
pub mod failed;
mod gist;
pub mod http;
mod intake;
pub mod outgoing;
mod party;
pub mod pending;
mod spellings;
pub mod sse;
pub mod stdio;

pub use exchange::{Answering, Exchange, Reason};
pub use failed::{Failed, FailedKind, Sent};
pub use outgoing::{Event, Outgoing, Transport};
pub use party::Party;
