//! The gateway: puts the layers below together and decides the order of things, nothing else.
//!
//! A request flows one way: a front ([`front`]) takes it, `client` and `session` say in whose name
//! and in which words, `dispatch` is the table of methods, `call` finds whose it is, `flight`
//! carries it to the server and back, `record` writes it down; the `layers` of an embedding program come before
//! and after. What a caller sees is the `sight` of
//! its `scope`: its token, its project, and the toolset it has equipped (`toolsets`, `builtins`).
//! Other flows have one home each: listing (`fold`; `listing` hands out the `pages`), notices
//! (`notices`), what operators ask (`operations`) and change (`plan`, `reload`), and what they
//! watch (`events`).

mod audience;
mod builtins;
mod call;
mod client;
mod dispatch;
mod doorkeeper;
mod ending;
mod events;
mod fault;
mod flight;
mod fold;
pub mod front;
mod gateway;
mod history;
mod layers;
mod listing;
mod local;
mod memory;
mod metrics;
mod native;
mod notices;
mod operations;
mod pages;
mod plan;
mod post;
mod progress;
mod question;
mod quota;
mod rates;
mod record;
mod reload;
mod scope;
mod session;
mod sight;
mod snapshot;
mod start;
mod stateless;
mod streams;
mod subscriptions;
mod suspension;
mod tasks;
mod toolsets;
mod traces;
mod visits;
mod watch;

pub use ending::Finished;
pub use gateway::{Facts, Gateway};
pub use layers::{Intent, Layer, Verdict};
pub use local::{CallError, LocalClient};
pub use mcpr_protocol::RawJson;
pub use mcpr_router::{Blame, Retry};
pub use mcpr_telemetry::{CallRecord, Status};
pub use native::{Outcome, Tool};
pub use operations::{Operator, Texts};
pub use scope::Asked;
pub use start::{Builder, StartError};
