//! Embedding: what a program can add to the gateway that it runs.

mod layers;
mod local;
mod native;
