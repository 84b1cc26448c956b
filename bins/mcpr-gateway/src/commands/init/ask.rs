//! Asks a person.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::problem::Problem;

/// Whether there is a person who can be asked.
pub(super) fn is_anybody_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question; only a clear yes is one.
pub(super) fn yes(question: &str) -> Result<bool, Problem> {
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush())?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(is_yes(&answer))
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert!(is_yes("y\n") && is_yes(" YES "));
        assert!(!is_yes("\n") && !is_yes("") && !is_yes("no") && !is_yes("yess"));
    }
}
