//! A text that must not be seen, on its way to whoever it is for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The text of a token, or the value of a secret. `Debug` is blank; only JSON and [`Secret::reveal`] show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text that must not be seen.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that shows or sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_04_a_secret_does_not_show_in_debug() {
        assert_eq!(format!("{:?}", Secret::new("mcpr_pat_x")), "Secret(..)");
    }
}
