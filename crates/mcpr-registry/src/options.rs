//! How exposed names and URIs are made.

use std::collections::BTreeMap;

/// The naming rules of a gateway (AGG-02, AGG-04, AGG-05).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Naming {
    /// Which names get the prefix of their server.
    pub prefix: PrefixPolicy,
    /// What stands between prefix and name; characters that clients refuse in names become underscores.
    pub separator: String,
    /// The longest exposed name, in characters; 8 is the least that is used.
    pub max_length: usize,
    /// What becomes of hyphens.
    pub hyphens: Hyphens,
    /// What becomes of resource URIs, unless a server says otherwise.
    pub uris: UriPolicy,
    /// Schemes of URIs that always stay as they are.
    pub raw_schemes: Vec<String>,
}

/// Which names get the prefix of their server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrefixPolicy {
    /// All. Names then never depend on which other servers there are.
    Always,
    /// Every member of a conflict.
    Conflict,
    /// None; the later server in the order of the configuration overrides the earlier. Names that
    /// are legal in MCP then stay as they are, dots and all.
    Never,
}

/// What becomes of hyphens in names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hyphens {
    /// `resolve-library-id` becomes `resolve_library_id`.
    Underscore,
    /// They stay.
    Keep,
}

/// What becomes of resource URIs (AGG-09).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UriPolicy {
    /// `file:///a` of server `notes` becomes `resource://notes/file:///a`.
    Wrapped,
    /// They stay.
    Raw,
}

/// What one server says about its own names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerNaming {
    /// The text of the prefix, where [`PrefixPolicy`] wants one; empty for none. By default the
    /// server's name.
    pub prefix: Option<String>,
    /// Whether names stay untouched (`naming.style: "raw"`): no prefix unless one is set, no flattening.
    pub raw: bool,
    /// Another policy for URIs than the gateway's.
    pub uris: Option<UriPolicy>,
}

/// What clients see of a tool in place of what its server says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToolOverride {
    /// Its whole exposed name, without any prefix.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
}

/// The overrides of one server, by its own names of the tools.
pub type Overrides = BTreeMap<String, ToolOverride>;

impl Default for Naming {
    fn default() -> Self {
        Self {
            prefix: PrefixPolicy::Always,
            separator: "_".into(),
            max_length: 50,
            hyphens: Hyphens::Underscore,
            uris: UriPolicy::Wrapped,
            raw_schemes: vec!["ui".into()],
        }
    }
}
