//! How long the tests of endurance are.

/// The variable that asks for the long forms; `tests/run --long` sets it to 1.
const VARIABLE: &str = "MCPR_LONG";

/// Whether the long forms are wanted.
pub fn is_long() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "1")
}

/// How much of something a test does: so much as a part of all tests, or so much in its long form.
pub fn extent<T>(short: T, long: T) -> T {
    if is_long() { long } else { short }
}

/// Tells a figure of a long form on stdout; short forms are no measurements.
pub fn figure(what: &str, value: impl std::fmt::Display) {
    #[expect(clippy::print_stdout, reason = "whoever runs the long forms reads it there")]
    if is_long() {
        println!("figure: {what}: {value}");
    }
}
