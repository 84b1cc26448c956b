//! The JSON Schema of the format.

/// The JSON Schema of a configuration file, as it is shipped in `schema/mcpr-1.json`.
pub fn schema() -> &'static str {
    include_str!("../../../schema/mcpr-1.json")
}
