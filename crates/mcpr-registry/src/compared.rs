//! What a server lists, beside what is approved of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Change, Deviation, Offers, Pin, PinPolicy, Pins, compare};

/// How the tools of a server compare with what is approved of them.
#[derive(Debug)]
pub struct Compared {
    /// What becomes of those that differ.
    pub policy: PinPolicy,
    /// What was compared.
    pub offers: Arc<Offers>,
    /// What is approved.
    pub approved: Arc<Pins>,
    /// What the server lists as tools.
    pub now: Pins,
    /// What differs, by the server's names. Tools that are kept away anyway are left out.
    pub deviations: BTreeMap<Arc<str>, Deviation>,
}

/// A tool that is not as it was approved.
#[derive(Debug)]
pub struct Difference<'c> {
    /// The server's name of it.
    pub tool: &'c str,
    /// What is approved.
    pub before: Option<&'c Pin>,
    /// What is listed.
    pub after: Option<&'c Pin>,
    /// What the change means for calls, as short sentences.
    pub notes: Vec<String>,
}

impl Compared {
    /// Compares what a server offers with what is approved; what `is_kept_away` differs for nobody.
    pub fn new(
        policy: PinPolicy,
        offers: Arc<Offers>,
        approved: Arc<Pins>,
        is_kept_away: impl Fn(&str) -> bool,
    ) -> Self {
        let now = Pins::of(&offers);
        let mut deviations = approved.deviations(&now);
        deviations.retain(|tool, _| !is_kept_away(tool));
        Self {
            policy,
            offers,
            approved,
            now,
            deviations,
        }
    }

    /// Whether a tool is held back, and why.
    pub fn held(&self, tool: &str) -> Option<Deviation> {
        let deviation = self.deviations.get(tool).copied();
        deviation.filter(|deviation| self.policy == PinPolicy::Block && *deviation != Deviation::Removed)
    }

    /// Whether it keeps a tool out of the catalog. One that was offered before stays in it, so that no
    /// other takes its name; one that is new has no claim to a name yet.
    pub fn keeps_out(&self, tool: &str) -> bool {
        self.held(tool) == Some(Deviation::New)
    }

    /// Whether anything of it is held back.
    pub fn holds(&self) -> bool {
        self.deviations.keys().any(|tool| self.held(tool).is_some())
    }

    /// How many tools differ like this.
    pub fn count(&self, deviation: Deviation) -> u64 {
        let alike = self.deviations.values().filter(|known| **known == deviation);
        alike.count() as u64
    }

    /// All tools that are approved, and those that are new, by name.
    pub fn tools(&self) -> Vec<&Arc<str>> {
        let approved = self.approved.iter().map(|(tool, _)| tool);
        let new = self.deviations.iter();
        let new = new.filter(|(_, deviation)| **deviation == Deviation::New);
        let mut tools: Vec<_> = approved.chain(new.map(|(tool, _)| tool)).collect();
        tools.sort();
        tools
    }

    /// All that differs, by name.
    pub fn differences(&self) -> impl Iterator<Item = Difference<'_>> {
        self.deviations.keys().map(|tool| {
            let (before, after) = (self.approved.get(tool), self.now.get(tool));
            Difference {
                tool,
                before,
                after,
                notes: before.zip(after).map_or_else(Vec::new, notes),
            }
        })
    }

    /// Whether there is such a tool, or was when the tools were approved.
    pub fn knows(&self, tool: &str) -> bool {
        self.approved.get(tool).or_else(|| self.now.get(tool)).is_some()
    }

    /// Whether the definition of a tool is the one with this hash now; whether it is gone, for none.
    pub fn is_now(&self, tool: &str, hash: Option<&str>) -> bool {
        self.now.get(tool).map(|pin| pin.hash.as_str()) == hash
    }
}

/// What a change means for calls.
fn notes((before, after): (&Pin, &Pin)) -> Vec<String> {
    match compare(&before.definition, &after.definition) {
        Change::Unchanged => Vec::new(),
        Change::Compatible(notes) | Change::Breaking(notes) => notes,
    }
}

#[cfg(test)]
mod tests {
    use mcpr_protocol::RawJson;

    use super::*;

    fn compared(policy: PinPolicy) -> Compared {
        let mut approved = Pins::default();
        for tool in ["gone", "same", "secret"] {
            let definition = format!(r#"{{"name":"{tool}"}}"#);
            approved.put(tool.into(), Pin::stored(definition));
        }
        let listed = [
            r#"{"name":"new"}"#,
            r#"{"name":"same"}"#,
            r#"{"name":"secret","description":"another"}"#,
        ];
        let tools = listed.map(RawJson::from_static).to_vec();
        let offers = Offers {
            tools,
            ..Offers::default()
        };
        Compared::new(policy, Arc::new(offers), Arc::new(approved), |tool| {
            tool == "secret"
        })
    }

    #[test]
    fn pins_what_is_kept_away_does_not_differ_and_is_listed_as_approved() {
        let compared = compared(PinPolicy::Block);

        let tools: Vec<_> = compared.tools().into_iter().map(|tool| &**tool).collect();
        let differing: Vec<_> = compared.differences().map(|found| found.tool).collect();

        assert_eq!(tools, ["gone", "new", "same", "secret"]);
        assert_eq!(differing, ["gone", "new"]);
        assert!(compared.keeps_out("new") && compared.held("secret").is_none());
        assert_eq!(compared.held("gone"), None, "nobody could call it anyway");
    }

    #[test]
    fn pins_only_what_was_looked_at_is_what_is_there_now() {
        let compared = compared(PinPolicy::Warn);
        let hash = compared.now.get("new").unwrap().hash.clone();

        assert!(compared.is_now("new", Some(&hash)) && !compared.is_now("new", None));
        assert!(compared.is_now("gone", None) && !compared.is_now("gone", Some(&hash)));
        assert!(compared.knows("gone") && !compared.knows("never") && !compared.holds());
    }
}
