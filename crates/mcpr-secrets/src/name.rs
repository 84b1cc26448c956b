//! What can name a secret, and what can be one.

/// The longest name.
const LONGEST_NAME: usize = 128;

/// The longest value: certificates fit, and whatever a server can be given in a variable.
const LONGEST_VALUE: usize = 64 * 1024;

/// A text that cannot name a secret.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a secret is named by 1 to {LONGEST_NAME} letters, digits, `_`, `-` or `.`, without `.` at its beginning"
)]
pub struct InvalidName;

/// A text that cannot be a secret. It is not shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidValue {
    /// There is nothing in it.
    #[error("the value is empty, which no server can be given as a secret")]
    Empty,
    /// It is longer than anything that is meant.
    #[error("the value is longer than {LONGEST_VALUE} bytes")]
    TooLong,
    /// It has the character NUL, which no variable can hold.
    #[error("the value has the character NUL, which no variable can hold")]
    Nul,
}

/// Whether a text can stand in `${secret:…}`. It is also the name of a file in one folder, and leads
/// nowhere else.
pub fn is_name(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(legal)
}

/// Whether a secret can be kept under a name.
///
/// # Errors
///
/// [`InvalidName`], which says what a name may be.
pub fn check_name(text: &str) -> Result<(), InvalidName> {
    (is_name(text) && text.len() <= LONGEST_NAME)
        .then_some(())
        .ok_or(InvalidName)
}

/// Whether a text can be kept as a secret.
///
/// # Errors
///
/// [`InvalidValue`], which does not show it.
pub fn check_value(text: &str) -> Result<(), InvalidValue> {
    match text {
        "" => Err(InvalidValue::Empty),
        text if text.len() > LONGEST_VALUE => Err(InvalidValue::TooLong),
        text if text.contains('\0') => Err(InvalidValue::Nul),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cfg_03_a_name_leads_to_one_file_of_one_folder() {
        for good in ["a", "GITHUB_TOKEN", "jira-token", "v1.2"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", ".x", "../x", "a/b", "a b", "ü", &"x".repeat(129)] {
            assert_eq!(check_name(bad), Err(InvalidName), "{bad}");
        }
    }

    #[test]
    fn log_04_a_value_that_is_refused_is_not_shown() {
        let refused = ["", "a\0b", &"x".repeat(64 * 1024 + 1)].map(|value| check_value(value).unwrap_err());

        assert_eq!(
            refused,
            [InvalidValue::Empty, InvalidValue::Nul, InvalidValue::TooLong]
        );
        assert!(!refused.map(|why| why.to_string()).concat().contains("a\0b"));
        assert_eq!(check_value("-----BEGIN KEY-----\nabc\n"), Ok(()));
    }
}
