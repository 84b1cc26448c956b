//! Disks that are full, read-only or broken, and clocks that jump.
//!
//! The home of each gateway is a disk of its own: a small one in memory that only its process sees, in
//! a user namespace of its own (user_namespaces(7)). Where the system allows none, these tests fail and say how.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod clock;
mod damaged;
mod full;
mod read_only;
mod stage;
