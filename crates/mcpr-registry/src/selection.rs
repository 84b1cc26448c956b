//! Choices of tools by their origin names (SET-04).

use std::collections::HashSet;

use crate::{Origin, ServerName};

/// A text in which `*` stands for any run of characters, and everything else for itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern(Box<str>);

/// A choice of tools: names such as `git.status`, in which `*` stands for any run of characters.
///
/// Both halves of a name may hold dots, so names are compared as a whole and never taken apart.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    names: Vec<Box<str>>,
    exact: HashSet<Box<str>>,
    patterns: Vec<Pattern>,
}

impl Pattern {
    /// The pattern of a text.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it fits the whole of `text`, at a cost that grows with the length of both.
    pub fn matches(&self, text: &str) -> bool {
        Self::fits(&self.0, text)
    }

    /// Whether the pattern that is written as `pattern` fits the whole of `text`.
    pub fn fits(pattern: &str, text: &str) -> bool {
        let Some((first, behind)) = pattern.split_once('*') else {
            return text == pattern;
        };
        let (middle, last) = behind.rsplit_once('*').unwrap_or(("", behind));
        let rest = text.strip_prefix(first);
        let Some(rest) = rest.and_then(|rest| rest.strip_suffix(last)) else {
            return false;
        };
        // The leftmost place for each part leaves the most for those behind it.
        let mut parts = middle.split('*');
        let end = parts.try_fold(rest, |rest, part| Some(&rest[rest.find(part)? + part.len()..]));
        end.is_some()
    }

    /// Whether it could fit a text that begins with `start`.
    fn may_begin_with(&self, start: &str) -> bool {
        let literal = self.0.split('*').next().unwrap_or_default();
        literal.starts_with(start) || start.starts_with(literal)
    }
}

impl Selection {
    /// The choice of these names, each counted once.
    pub fn new(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut selection = Self::default();
        let mut seen = HashSet::new();
        for name in names {
            let name: Box<str> = name.as_ref().into();
            if !seen.insert(name.clone()) {
                continue;
            }
            if Self::is_pattern(&name) {
                selection.patterns.push(Pattern(name.clone()));
            } else {
                selection.exact.insert(name.clone());
            }
            selection.names.push(name);
        }
        selection
    }

    /// Whether a name stands for more than itself.
    pub fn is_pattern(name: &str) -> bool {
        name.contains('*')
    }

    /// The names, as they were given.
    pub fn names(&self) -> &[Box<str>] {
        &self.names
    }

    /// Whether a tool is chosen.
    pub fn matches(&self, origin: &Origin) -> bool {
        self.matches_name(&origin.to_string())
    }

    /// Whether a name is chosen, whoever has a tool of it.
    pub fn matches_name(&self, name: &str) -> bool {
        self.exact.contains(name) || self.patterns.iter().any(|pattern| pattern.matches(name))
    }

    /// Whether tools of a server could be chosen.
    pub fn concerns(&self, server: &ServerName) -> bool {
        let start = format!("{server}.");
        self.exact.iter().any(|name| name.starts_with(&start))
            || self.patterns.iter().any(|pattern| pattern.may_begin_with(&start))
    }

    /// The names that stand for themselves.
    pub(crate) fn exact(&self) -> impl Iterator<Item = &str> {
        self.exact.iter().map(|name| &**name)
    }

    /// Those that stand for more.
    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn origin(server: &str, name: &str) -> Origin {
        Origin {
            server: server.parse().unwrap(),
            name: name.into(),
        }
    }

    #[test]
    fn set_04_a_star_stands_for_any_run_of_characters() {
        let fits = |pattern: &str, text: &str| Pattern::new(pattern).matches(text);
        assert!(fits("git.*", "git.status") && fits("*", "") && fits("*.status", "git.status"));
        assert!(fits("g*t.s*s", "git.status") && fits("a*a", "aa") && fits("**", "x"));
        assert!(!fits("a*a", "a") && !fits("git.*", "gits") && !fits("git", "git.status"));
    }

    #[test]
    fn set_04_a_selection_knows_names_and_patterns() {
        let selection = Selection::new(["git.status", "docker.*", "git.status", "docker.*"]);
        assert_eq!(selection.names(), ["git.status".into(), "docker.*".into()]);
        assert!(selection.matches(&origin("git", "status")));
        assert!(selection.matches(&origin("docker", "p.s")));
        assert!(!selection.matches(&origin("git", "push")));
    }

    #[test]
    fn set_04_names_are_compared_as_a_whole_because_both_halves_may_hold_dots() {
        let selection = Selection::new(["a.b.c"]);
        assert!(selection.matches(&origin("a", "b.c")) && selection.matches(&origin("a.b", "c")));
        assert!(!selection.matches(&origin("a", "b")));
    }

    #[test]
    fn set_12_a_selection_tells_which_servers_it_concerns() {
        let concerned = |selection: &[&str]| {
            let selection = Selection::new(selection);
            let servers = ["git", "git.hub", "gi", "docker"];
            let concerns = |server: &&str| selection.concerns(&server.parse().unwrap());
            servers.into_iter().filter(concerns).collect::<Vec<_>>()
        };
        assert_eq!(concerned(&["git.status"]), ["git"]);
        assert_eq!(concerned(&["git.hub.status"]), ["git", "git.hub"]);
        assert_eq!(concerned(&["git*"]), ["git", "git.hub"]);
        assert_eq!(concerned(&["git.*"]), ["git", "git.hub"]);
        assert_eq!(concerned(&["*.status"]), ["git", "git.hub", "gi", "docker"]);
        assert_eq!(concerned(&["docker"]), [""; 0], "a server alone is no tool");
        assert_eq!(concerned(&[]), [""; 0]);
    }

    /// The plainest way: a star takes nothing, or one more character.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match (pattern.first(), text.first()) {
            (None, None) => true,
            (Some('*'), _) => naive(&pattern[1..], text) || (!text.is_empty() && naive(pattern, &text[1..])),
            (Some(a), Some(b)) if a == b => naive(&pattern[1..], &text[1..]),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn set_04_patterns_fit_as_the_plainest_matcher_says(pattern in "[ab*]{0,8}", text in "[ab]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Pattern::new(&pattern).matches(&text), naive(&chars(&pattern), &chars(&text)));
        }
    }
}
