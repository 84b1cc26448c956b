//! Telling clients what has changed: lists, resources and tasks.

mod filter;
mod listen;
mod session;

pub(crate) use filter::Filter;
pub(crate) use listen::Listen;
pub(crate) use session::SessionNotices;
