//! Stories about catalogs and views, told through the public items of the crate.

#![expect(
    clippy::unwrap_used,
    reason = "the lint spares test functions, but not what they share"
)]

mod common;
mod lists;
mod names;
mod overrides;
mod properties;
mod uris;
mod views;
