//! Keeps servers alive, introduced and listed.
//!
//! A [`Server`] has one backend or several equal ones. Each backend has a task of its own, its
//! `keeper`: it dials, finds out the era, introduces mcpr, reads the lists, hears what changes, and
//! starts again after a loss. Everybody else sees the backend through an [`Upstream`]: a [`Status`] to
//! read or to wait on, and a [`Replica`] to send requests to.

mod ask;
mod audience;
mod dial;
mod dialer;
mod era;
mod feed;
mod floor;
mod fresh;
mod hearing;
mod introduce;
mod keeper;
mod list;
mod merged;
mod pool;
mod replica;
mod roots;
mod server;
mod spec;
mod status;
mod turn;
mod way;
mod wishes;

pub use audience::{Audience, NoAudience};
pub use dial::{Dial, Dialled, Signs, Wire};
pub use dialer::Dialer;
pub use era::{Memory, NoMemory, Verdict};
pub use feed::{Feed, PerFeed};
pub use fresh::{Fresh, Freshness};
pub use introduce::CLIENT_NAME;
pub use pool::{Pool, PoolOptions};
pub use replica::{Company, InFlight, Owed, Replica};
pub use roots::{NOBODY, Roots, Told};
pub use server::Server;
pub use spec::{
    BackendSpec, Backoff, HttpSpec, Isolation, ProtocolChoice, Queue, Reach, Repeat, SecretText, ServerSpec,
    Spread, SseChoice, StdioSpec, Timeouts, UpstreamSpec,
};
pub use status::{Notices, Phase, Status, Upstream};
pub use wishes::{Refusal, Wishes};
