//! What is known of one thing, one line each.

use super::text::one_line;

/// Lines of what is known, below each other; what is not known has none.
pub(crate) fn facts<const N: usize>(facts: [(&str, Option<String>); N]) -> String {
    let widest = facts.iter().map(|(what, _)| what.chars().count()).max();
    let width = widest.unwrap_or(0) + 2;
    let line = |(what, fact): (&str, Option<String>)| Some(format!("  {what:<width$}{}\n", one_line(&fact?)));
    facts.into_iter().filter_map(line).collect()
}

/// Names in one line; nothing for none.
pub(crate) fn joined(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_shown() {
        let shown = facts([
            ("owner", Some("operator".into())),
            ("tags", joined(&[])),
            ("id", Some("a\nb".into())),
        ]);
        assert_eq!(shown, "  owner  operator\n  id     a b\n");
    }
}
