//! The shape of the source tree: layers, names, sizes.

mod cli_page;
mod layers;
mod protocol_support;
mod tidy;
