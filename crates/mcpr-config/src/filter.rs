//! Which tools of a server are offered.

use mcpr_registry::{Overrides, Pattern};

/// Which tools of a server are offered, and as what; `*` stands for anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToolFilter {
    /// Only these, unless it is empty.
    pub allow: Vec<String>,
    /// And none of these.
    pub deny: Vec<String>,
    /// Other names and descriptions than the server's, by its names.
    pub overrides: Overrides,
}

/// The allow and deny lists of one server, ready to be asked.
#[derive(Debug)]
pub struct ToolPatterns {
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
}

/// Which of the lists keeps a tool away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeptAway {
    /// None of the patterns in `tools.allow` fits it.
    NotAllowed,
    /// This pattern in `tools.deny` fits it.
    Denied(String),
}

impl ToolFilter {
    /// The lists; `None` where they keep nothing away.
    pub fn patterns(&self) -> Option<ToolPatterns> {
        let patterns = |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect();
        let Self { allow, deny, .. } = self;
        (!allow.is_empty() || !deny.is_empty()).then(|| ToolPatterns {
            allow: patterns(allow),
            deny: patterns(deny),
        })
    }

    /// Tells of a tool whether these lists keep it away.
    pub fn kept_away(&self) -> impl Fn(&str) -> bool + use<> {
        let patterns = self.patterns();
        move |tool| {
            patterns
                .as_ref()
                .is_some_and(|patterns| patterns.keeps_away(tool).is_some())
        }
    }
}

impl ToolPatterns {
    /// Which list keeps a tool away, by its name at the server.
    pub fn keeps_away(&self, tool: &str) -> Option<KeptAway> {
        if let Some(denied) = self.deny.iter().find(|pattern| pattern.matches(tool)) {
            return Some(KeptAway::Denied(denied.as_str().to_owned()));
        }
        let allowed = self.allow.is_empty() || self.allow.iter().any(|pattern| pattern.matches(tool));
        (!allowed).then_some(KeptAway::NotAllowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_stays_away_though_it_is_allowed_and_empty_lists_ask_nothing() {
        let lists = |allow: &[&str], deny: &[&str]| ToolFilter {
            allow: allow.iter().map(ToString::to_string).collect(),
            deny: deny.iter().map(ToString::to_string).collect(),
            ..ToolFilter::default()
        };
        let patterns = lists(&["git_*"], &["*_push"]).patterns().unwrap();

        let denied = KeptAway::Denied("*_push".to_owned());
        assert_eq!(patterns.keeps_away("git_push"), Some(denied));
        assert_eq!(patterns.keeps_away("add"), Some(KeptAway::NotAllowed));
        assert_eq!(patterns.keeps_away("git_status"), None);
        assert!(lists(&[], &[]).patterns().is_none());
    }
}
