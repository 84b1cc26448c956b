//! Embedding: what a program can add to the gateway that it runs.

mod balance;
mod handle;
mod layers;
mod local;
mod mounted;
mod native;
mod tokens;
