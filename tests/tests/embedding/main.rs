//! Embedding: what a program can add to the gateway that it runs.

mod layers;
mod native;
