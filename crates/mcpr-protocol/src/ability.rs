//! What a client can be asked, as far as mcpr carries it.

use std::fmt;

use crate::{Era, Method, Object, RawJson, Version, key};
use serde_json::{Map, Value, json};

/// The one kind of interface that MCP Apps has so far.
const APPS_TYPE: &str = "text/html;profile=mcp-app";

/// One thing that a client can be asked, or can make of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Ability {
    /// For its roots.
    Roots = 1,
    /// For a message of its model.
    Sampling = 1 << 1,
    /// For one in which the model may use tools.
    SamplingTools = 1 << 2,
    /// For one with what other servers said (`includeContext`).
    SamplingContext = 1 << 3,
    /// To fill in a form.
    Form = 1 << 4,
    /// To visit a URL.
    Url = 1 << 5,
    /// Not a question: it can take a task for an answer, and come back for the result.
    Tasks = 1 << 6,
    /// Not a question: it shows the user interfaces of tools.
    Apps = 1 << 7,
}

/// What one client can be asked, and can make of an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Abilities(u8);

impl Ability {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::Roots,
        Self::Sampling,
        Self::SamplingTools,
        Self::SamplingContext,
        Self::Form,
        Self::Url,
        Self::Tasks,
        Self::Apps,
    ];

    /// The revisions that can say it.
    fn is_known_to(self, version: Version) -> bool {
        match self {
            // Apps came without a revision of its own: peers of the session era declare it too.
            Self::Roots | Self::Sampling | Self::Apps => true,
            Self::Form => version >= Version::V2025_06_18,
            Self::SamplingTools | Self::SamplingContext | Self::Url => version >= Version::V2025_11_25,
            Self::Tasks => version.era() == Era::Stateless,
        }
    }
}

impl Abilities {
    /// A client that declares nothing.
    pub const NONE: Self = Self(0);

    /// Everything that mcpr carries: what a connection declares that all clients share, so that
    /// servers show all they have.
    pub const ALL_RELAYED: Self = Self(u8::MAX);

    /// Reads the `capabilities` that a client of `version` declares; what is not understood, or
    /// not part of that revision, counts as absent.
    pub fn read(version: Version, capabilities: &RawJson) -> Self {
        let Ok(declared) = Object::read(capabilities) else {
            return Self::NONE;
        };
        let all = [
            Self::NONE.with_if(Ability::Roots, has(&declared, "roots")),
            sampling(&declared),
            elicitation(&declared),
            extensions(&declared),
        ];
        Self(all.into_iter().fold(0, |bits, some| bits | some.0)).known_to(version)
    }

    /// Whether nothing is declared.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether the client can be asked this.
    pub fn has(self, ability: Ability) -> bool {
        self.0 & ability as u8 != 0
    }

    /// The same with one more.
    #[must_use]
    pub fn with(self, ability: Ability) -> Self {
        Self(self.0 | ability as u8)
    }

    /// The part that is about questions; without it a client never has to be asked.
    #[must_use]
    pub fn questions(self) -> Self {
        Self(self.0 & !(Ability::Tasks as u8 | Ability::Apps as u8))
    }

    /// The part that a peer of `version` has words for.
    #[must_use]
    pub fn known_to(self, version: Version) -> Self {
        let known = Ability::ALL
            .into_iter()
            .filter(|ability| ability.is_known_to(version));
        Self(self.0 & known.fold(0, |bits, ability| bits | ability as u8))
    }

    /// Whether all of `other` is in it.
    pub fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a server may put this question to the client.
    pub fn allows(self, method: &Method, params: Option<&RawJson>) -> bool {
        let params = params.and_then(|params| Object::read(params).ok());
        let says = |member| {
            let value = params.as_ref().and_then(|params| params.get(member));
            value.filter(|value| !value.is_null())
        };
        match method {
            Method::RootsList => self.has(Ability::Roots),
            Method::CreateMessage if says("tools").or_else(|| says("toolChoice")).is_some() => {
                self.has(Ability::Sampling) && self.has(Ability::SamplingTools)
            }
            Method::CreateMessage => self.has(Ability::Sampling),
            Method::Elicit => match says("mode").map(|mode| mode.to_text()) {
                None => self.has(Ability::Form),
                Some(Some(mode)) if mode == "form" => self.has(Ability::Form),
                Some(Some(mode)) if mode == "url" => self.has(Ability::Url),
                Some(_) => false,
            },
            _ => false,
        }
    }

    /// The `capabilities` that mcpr declares to a server of `version` for such a client.
    pub fn declared(self, version: Version) -> RawJson {
        let known = self.known_to(version);
        let mut declared = Map::new();
        let mut declare = |name: &str, ability, parts: &[(&str, Ability)]| {
            if known.has(ability) || parts.iter().any(|(_, part)| known.has(*part)) {
                declared.insert(name.to_owned(), known.object_of(parts));
            }
        };
        declare("roots", Ability::Roots, &[]);
        let of_sampling = [
            ("tools", Ability::SamplingTools),
            ("context", Ability::SamplingContext),
        ];
        declare("sampling", Ability::Sampling, &of_sampling);
        // In 2025-06-18 there is nothing but forms, and no word for them.
        let modes = [("form", Ability::Form), ("url", Ability::Url)];
        let modes = if version >= Version::V2025_11_25 {
            &modes[..]
        } else {
            &[]
        };
        declare("elicitation", Ability::Form, modes);
        if let Some(roots) = declared
            .get_mut("roots")
            .filter(|_| version.era() == Era::Session)
        {
            // A connection serves one client after the other, each with its own.
            *roots = json!({ "listChanged": true });
        }
        let extensions = known.extensions();
        if !extensions.is_empty() {
            declared.insert("extensions".into(), extensions.into());
        }
        RawJson::render(&declared)
    }

    fn object_of(self, parts: &[(&str, Ability)]) -> Value {
        let here = parts.iter().filter(|(_, part)| self.has(*part));
        here.map(|(name, _)| ((*name).to_owned(), json!({})))
            .collect::<Map<_, _>>()
            .into()
    }

    fn extensions(self) -> Map<String, Value> {
        let mut extensions = Map::new();
        if self.has(Ability::Tasks) {
            extensions.insert(key::TASKS_EXTENSION.into(), json!({}));
        }
        if self.has(Ability::Apps) {
            extensions.insert(key::APPS_EXTENSION.into(), json!({ "mimeTypes": [APPS_TYPE] }));
        }
        extensions
    }

    fn with_if(self, ability: Ability, condition: bool) -> Self {
        if condition { self.with(ability) } else { self }
    }
}

fn has(object: &Object, member: &str) -> bool {
    object.get(member).is_some_and(|value| value.is_object())
}

fn sampling(declared: &Object) -> Abilities {
    let Some(sampling) = declared.object("sampling") else {
        return Abilities::NONE;
    };
    Abilities::NONE
        .with(Ability::Sampling)
        .with_if(Ability::SamplingTools, has(&sampling, "tools"))
        .with_if(Ability::SamplingContext, has(&sampling, "context"))
}

/// Without a word on modes it is forms that are meant (2025-11-25, elicitation: capabilities).
fn elicitation(declared: &Object) -> Abilities {
    let Some(elicitation) = declared.object("elicitation") else {
        return Abilities::NONE;
    };
    let (form, url) = (has(&elicitation, "form"), has(&elicitation, "url"));
    Abilities::NONE
        .with_if(Ability::Form, form || !url)
        .with_if(Ability::Url, url)
}

fn extensions(declared: &Object) -> Abilities {
    let Some(extensions) = declared.object("extensions") else {
        return Abilities::NONE;
    };
    Abilities::NONE
        .with_if(Ability::Tasks, has(&extensions, key::TASKS_EXTENSION))
        .with_if(Ability::Apps, has(&extensions, key::APPS_EXTENSION))
}

impl fmt::Debug for Abilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let here = Ability::ALL.into_iter().filter(|ability| self.has(*ability));
        f.debug_set().entries(here).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = r#"{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{}},"tasks":{"list":{}},"experimental":{"x":{}}}"#;

    fn read(version: Version, text: &'static str) -> Abilities {
        Abilities::read(version, &RawJson::from_static(text))
    }

    /// What is declared to a server of the same revision for a client that declares `text`.
    fn passed(version: Version, text: &'static str) -> String {
        read(version, text).declared(version).as_str().to_owned()
    }

    #[test]
    fn each_revision_can_say_what_its_specification_has() {
        let declared = Version::ALL.map(|version| passed(version, EVERYTHING));
        assert_eq!(
            declared,
            [
                r#"{"roots":{"listChanged":true},"sampling":{}}"#,
                r#"{"roots":{"listChanged":true},"sampling":{}}"#,
                r#"{"elicitation":{},"roots":{"listChanged":true},"sampling":{}}"#,
                r#"{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}}}"#,
                r#"{"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}},"roots":{},"sampling":{"context":{},"tools":{}}}"#,
            ]
        );
    }

    #[test]
    fn apps_are_declared_in_every_revision() {
        let text =
            r#"{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}"#;
        assert_eq!(Version::ALL.map(|version| passed(version, text)), [text; 5]);
        let everything = read(Version::V2026_07_28, EVERYTHING);
        assert_eq!(everything.with(Ability::Apps), Abilities::ALL_RELAYED);
    }

    #[test]
    fn elicitation_without_a_mode_means_forms() {
        let modes = |text| {
            let abilities = read(Version::V2025_11_25, text);
            (abilities.has(Ability::Form), abilities.has(Ability::Url))
        };
        assert_eq!(modes(r#"{"elicitation":{}}"#), (true, false));
        assert_eq!(modes(r#"{"elicitation":{"url":{}}}"#), (false, true));
        assert_eq!(modes(r#"{"elicitation":{"form":{},"url":{}}}"#), (true, true));
        assert_eq!(modes(r#"{"elicitation":null}"#), (false, false));
    }

    #[test]
    fn what_an_older_server_has_no_word_for_is_not_declared_to_it() {
        let url_only = read(Version::V2026_07_28, r#"{"elicitation":{"url":{}}}"#);
        assert_eq!(url_only.declared(Version::V2025_06_18).as_str(), "{}");
        assert_eq!(Abilities::NONE.declared(Version::V2026_07_28).as_str(), "{}");
    }

    #[test]
    fn only_what_was_declared_may_be_asked() {
        let plain = read(
            Version::V2025_11_25,
            r#"{"sampling":{},"elicitation":{"form":{}}}"#,
        );
        let asks = |method: Method, params| plain.allows(&method, Some(&RawJson::from_static(params)));
        assert!(asks(Method::CreateMessage, r#"{"messages":[],"tools":null}"#));
        assert!(!asks(Method::CreateMessage, r#"{"messages":[],"tools":[]}"#));
        assert!(!asks(Method::CreateMessage, r#"{"toolChoice":{}}"#));
        assert!(asks(Method::Elicit, r#"{"message":"m"}"#));
        assert!(asks(Method::Elicit, r#"{"mode":"form"}"#));
        assert!(!asks(Method::Elicit, r#"{"mode":"url"}"#));
        assert!(!asks(Method::Elicit, r#"{"mode":5}"#));
        assert!(!plain.allows(&Method::RootsList, None));
        assert!(!plain.allows(&Method::ToolsCall, None));
        assert!(Abilities::ALL_RELAYED.allows(&Method::RootsList, None));
    }

    #[test]
    fn a_class_covers_what_is_in_it() {
        let roots = Abilities::NONE.with(Ability::Roots);
        assert!(Abilities::ALL_RELAYED.covers(roots) && roots.covers(Abilities::NONE));
        assert!(!roots.covers(Abilities::ALL_RELAYED));
        assert_eq!(format!("{roots:?}"), "{Roots}");
        assert_eq!(roots.with(Ability::Tasks).with(Ability::Apps).questions(), roots);
    }
}
