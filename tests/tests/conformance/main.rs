//! The official conformance suites: at the reference server, and at a gateway in front of it.

mod across;
mod direct;
mod report;
mod run;
mod suite;
mod through;
