//! Toward servers over HTTP.
//!
//! [`Streamable`] speaks streamable HTTP as a [`Transport`](crate::Transport). It is made of a
//! [`Link`] (requests to one endpoint, sent again where nothing of them went out), the state of the
//! hop (session and version, as headers) and one exchange per request. [`Link`] is also there for
//! those who move messages without looking into them.

pub(crate) mod address;
mod answer;
mod call;
mod connect;
mod flow;
mod hop;
mod http1;
mod limits;
mod link;
mod listen;
pub(crate) mod parcel;
mod pool;
mod proxy;
mod resume;
mod streamable;
#[cfg(test)]
pub(crate) mod stub;
mod target;
#[cfg(feature = "tls")]
pub mod tls;
mod verdict;

pub use answer::{Answer, Media};
pub use limits::Limits;
pub use link::{Link, Underway};
pub use proxy::Proxies;
pub use streamable::Streamable;
pub use target::{Target, TargetError};

#[cfg(test)]
mod tests;
