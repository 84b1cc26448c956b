//! The shape of the source tree: layers, names, sizes.

mod layers;
mod protocol_support;
mod tidy;
