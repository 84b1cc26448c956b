//! Placeholder until the crates below exist.
fn main() {}
