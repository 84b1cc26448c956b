//! The gateway: puts the layers below together and decides the order of things, nothing else.
//!
//! This crate is all that a program needs to have a gateway in it. It opens no socket and no file, sets no subscriber
//! and no signal handler by itself:
//!
//! ```no_run
//! use mcpr_core::{Config, Gateway, Process};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::from_files(&[".mcp.json".into()], &Process)?;
//! let gateway = Gateway::builder(config).start().await?;
//! gateway.settled().await;
//! let result = gateway.client().call("git.git_status", &json!({ "repo_path": "." })).await?;
//! println!("{}", result.as_str());
//! gateway.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! | to | there is |
//! | --- | --- |
//! | say what runs | [`Config::from_files`], [`Config::from_text`], [`Gateway::builder`] |
//! | call tools in this process | [`Gateway::client`], [`LocalClient`], [`CallError`] |
//! | offer tools of this program | [`Tool`], [`Builder::tool`]; with the feature `schemars` also typed ones |
//! | see, change, answer or deny requests | [`Layer`], [`Builder::layer`] |
//! | choose among the backends of a server | [`Balance`], [`Builder::balance`] |
//! | decide who is let in | [`auth::TokenStore`], [`Builder::tokens`] |
//! | keep state | [`store::Store`], [`Builder::store`]; with the feature `sqlite` also in a database |
//! | serve clients | [`front::http::serve`], [`front::pipe`]; in a server of one's own [`Gateway::service`] |
//! | look after it | [`Gateway::operate`] with the operations of [`admin`], [`Gateway::events`] |
//! | end it | [`Gateway::shutdown`]; [`Gateway::leave`] and [`Gateway::finish`] where calls have to come to their end |
//!
//! Features, each of which only adds something: `sqlite` (on by default), `schemars` (typed native tools), `tls` (servers
//! behind https, and an address that speaks it), `tower` ([`Gateway::service`] for tower and axum), `otel` (spans for
//! OpenTelemetry, [`Builder::tracer`]).
//!
//! # How it is made
//!
//! A request flows one way: a front ([`front`]) takes it, `client` and `session` say in whose name
//! and in which words, `dispatch` is the table of methods, `call` finds whose it is, `flight`
//! carries it to the server and back, `record` makes the one record of it and hands it to the `layers`: the gateway's
//! own (log, spans, metrics, history, events) and those of the embedding program, which also come before. What a caller sees is the `sight` of
//! its `scope`: its token, its project, and the toolset it has equipped (`toolsets`, `builtins`).
//! Other flows have one home each: listing (`fold`; `listing` hands out the `pages`), notices
//! (`notices`), what operators ask (`operations`) and change (`plan`, `reload`), and what they
//! watch (`events`).

mod audience;
mod builtins;
mod call;
mod client;
mod clock;
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
mod pins;
mod plan;
mod post;
mod progress;
mod question;
mod quota;
mod rates;
mod record;
mod reload;
mod scope;
mod sealing;
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
mod turned_down;
mod visits;
mod watch;

#[doc(no_inline)]
pub use {
    mcpr_admin as admin, mcpr_auth as auth, mcpr_config as config, mcpr_protocol as protocol,
    mcpr_store as store, mcpr_telemetry as telemetry, mcpr_transport as transport, mcpr_upstream as upstream,
};

pub use ending::Finished;
pub use events::Events;
pub use gateway::{Facts, Gateway};
pub use layers::{Intent, Layer, Verdict};
pub use local::{CallError, LocalClient};
pub use mcpr_config::{Config, Process};
pub use mcpr_protocol::RawJson;
pub use mcpr_router::{Balance, Blame, Candidate, Choice, LeastBusy, Retry, RoundRobin, Spread};
pub use mcpr_telemetry::{CallRecord, Status};
pub use native::{Outcome, Tool};
pub use operations::{Operator, Texts};
pub use scope::Asked;
pub use start::{Builder, StartError};
