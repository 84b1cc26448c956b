//! The shape of the source tree: layers, names, sizes.

mod cli_page;
mod deploy;
mod failure_modes;
mod layers;
mod links;
mod names;
mod proofs;
mod protocol_support;
mod security;
mod tidy;
