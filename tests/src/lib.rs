//! The harness of the end-to-end tests.
//!
//! A test is a short story: a [`Fake`] server or a real one from [`peers`], a gateway in front of it, and a
//! client, which is either a real one ([`drivers`]) or exact bytes on a socket ([`http`]) or a pipe
//! ([`pipe`]). Nothing sleeps: what has to happen is awaited with [`wait_until`].

mod bins;
mod brood;
pub mod client;
pub mod clis;
pub mod drivers;
mod either;
mod extent;
mod fake;
mod footprint;
pub mod fuzz;
mod gateway;
pub mod hooked;
pub mod http;
mod log;
mod machine;
pub mod peers;
pub mod pipe;
mod program;
mod proxy;
pub mod raw;
pub mod recorder;
mod reference;
pub mod talk;
mod wait;
pub mod yardstick;

pub use bins::{binary, target};
pub use brood::Brood;
pub use either::Client;
pub use extent::{extent, figure, is_long};
pub use fake::{Fake, Received, Script};
pub use footprint::{Footprint, cpu_time, forget_peak, peak_memory, zombies_of};
pub use gateway::{Builder, Gateway, gateway};
pub use log::logged;
pub use machine::{await_no_process, free_port, processes};
pub use program::{Program, signal};
pub use proxy::{Proxy, ProxyBuilder};
pub use reference::{Eras, Reference};
pub use wait::{wait_for, wait_until};
