//! What a name becomes by the rules alone, before it is known whether it is free (AGG-02, AGG-05).

use sha2::{Digest, Sha256};

use crate::{Hyphens, Naming, Overrides, PrefixPolicy, ServerName, ServerNaming};

/// The names of mcpr's own tools. No tool of a server is ever exposed under one of them (B109).
pub const BUILT_IN_TOOLS: [&str; 7] = [
    "discover-all-tools",
    "build-toolset",
    "list-toolsets",
    "equip-toolset",
    "unequip-toolset",
    "get-active-toolset",
    "delete-toolset",
];

/// Characters of the hash that stands behind an over-long or colliding name.
const HASH: usize = 6;
/// The shortest limit that leaves room for the hash, its underscore and one more character.
const SHORTEST_LIMIT: usize = HASH + 2;
/// The longest name that MCP itself recommends (2025-11-25, tools: tool names).
const LONGEST_IN_MCP: usize = 128;
/// RFC 4648 section 6, in lower case.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Makes the names of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Namer<'a> {
    pub(crate) server: &'a ServerName,
    pub(crate) own: &'a ServerNaming,
    pub(crate) rules: &'a Naming,
    /// The names that operators gave its tools, by its own.
    pub(crate) overrides: &'a Overrides,
}

/// The name that an item would like to have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wish {
    pub(crate) text: String,
    /// The server's own spelling, which no limit cuts.
    untouched: bool,
}

impl Namer<'_> {
    /// The name without the server.
    pub(crate) fn bare(&self, origin: &str) -> Wish {
        if let Some(wish) = self.overridden(origin) {
            return wish;
        }
        let legal_stays = self.rules.prefix == PrefixPolicy::Never && is_legal_in_mcp(origin);
        if self.own.raw || legal_stays {
            Wish::untouched(origin.to_owned())
        } else {
            Wish::flat(&self.flat(origin))
        }
    }

    /// The name with the prefix of the server, if it has one.
    pub(crate) fn prefixed(&self, origin: &str) -> Wish {
        if let Some(wish) = self.overridden(origin) {
            return wish;
        }
        let Some(prefix) = self.prefix() else {
            return self.bare(origin);
        };
        let separator = &self.rules.separator;
        if self.own.raw {
            return Wish::untouched(format!("{prefix}{separator}{origin}"));
        }
        // A separator that the operator chose stays if it is legal: "-" is no hyphen of a server.
        let separator = flatten(separator, Hyphens::Keep);
        Wish::flat(&format!("{}{separator}{}", self.flat(prefix), self.flat(origin)))
    }

    /// Whether a wish is short enough to be granted.
    pub(crate) fn fits(&self, wish: &Wish) -> bool {
        wish.untouched || wish.text.len() <= self.limit()
    }

    /// What a wish becomes when it does not fit or is taken: the start of it and a hash of server
    /// and name. Rounds after the first are for the one in a billion where that is taken too.
    pub(crate) fn hashed(&self, wish: &Wish, origin: &str, round: usize) -> String {
        let hash = hash(self.server, origin, round);
        if self.own.raw && wish.untouched {
            return format!("{}_{hash}", wish.text);
        }
        let flat = Wish::flat(&self.flat(&wish.text)).text;
        let start = &flat[..flat.len().min(self.limit() - HASH - 1)];
        format!("{start}_{hash}")
    }

    /// Whether the rules, as they are now, could have led to `exposed` under prefix `always`.
    pub(crate) fn could_have_made(&self, exposed: &str, origin: &str) -> bool {
        const ROUNDS: usize = 3;
        let wish = self.prefixed(origin);
        let plain = self.fits(&wish) && wish.text == exposed;
        plain || (0..ROUNDS).any(|round| self.hashed(&wish, origin, round) == exposed)
    }

    /// The name that an operator gave it: the whole of it, as far as clients take it.
    fn overridden(&self, origin: &str) -> Option<Wish> {
        let name = self.overrides.get(origin)?.name.as_deref();
        let name = name.filter(|name| !name.is_empty())?;
        // Its hyphens are the operator's, as those of a separator.
        Some(Wish::flat(&flatten(name, Hyphens::Keep)))
    }

    fn prefix(&self) -> Option<&str> {
        let by_default = (!self.own.raw).then(|| self.server.as_str());
        let prefix = self.own.prefix.as_deref().or(by_default);
        prefix.filter(|prefix| !prefix.is_empty())
    }

    fn flat(&self, text: &str) -> String {
        flatten(text, self.rules.hyphens)
    }

    fn limit(&self) -> usize {
        self.rules.max_length.max(SHORTEST_LIMIT)
    }
}

impl Wish {
    fn untouched(text: String) -> Self {
        Self {
            text,
            untouched: true,
        }
    }

    /// A name that no client takes for a number.
    fn flat(text: &str) -> Self {
        let digit = text.starts_with(|c: char| c.is_ascii_digit());
        let text = format!("{}{text}", if digit { "_" } else { "" });
        Self {
            text,
            untouched: false,
        }
    }
}

/// Turns every character that not all clients take into an underscore.
fn flatten(text: &str, hyphens: Hyphens) -> String {
    let stays = |c: char| c.is_ascii_alphanumeric() || (c == '-' && hyphens == Hyphens::Keep);
    text.chars().map(|c| if stays(c) { c } else { '_' }).collect()
}

fn is_legal_in_mcp(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=LONGEST_IN_MCP).contains(&name.len()) && name.bytes().all(legal)
}

fn hash(server: &ServerName, origin: &str, round: usize) -> String {
    let mut hasher = Sha256::new();
    hasher.update(server.as_str());
    hasher.update([0]);
    hasher.update(origin);
    if round > 0 {
        hasher.update([0]);
        hasher.update(round.to_string());
    }
    base32(&hasher.finalize())
}

/// The first characters of the base32 form of a digest.
fn base32(digest: &[u8]) -> String {
    let bits = digest[..8]
        .iter()
        .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let digit = |index: usize| BASE32[(bits >> (59 - 5 * index)) as usize & 31];
    (0..HASH).map(|index| char::from(digit(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(server: &str, own: &ServerNaming, rules: &Naming, origin: &str) -> String {
        let server = server.parse().unwrap();
        let namer = Namer {
            server: &server,
            own,
            rules,
            overrides: &Overrides::new(),
        };
        let wish = namer.prefixed(origin);
        if namer.fits(&wish) {
            wish.text
        } else {
            namer.hashed(&wish, origin, 0)
        }
    }

    #[test]
    fn the_hash_is_the_start_of_the_base32_form() {
        // RFC 4648 section 10: "foobar" is MZXW6YTBOI.
        assert_eq!(base32(b"foobar\0\0"), "mzxw6y");
    }

    #[test]
    fn agg_05_names_are_flattened() {
        let keep = Naming {
            hyphens: Hyphens::Keep,
            ..Naming::default()
        };
        let examples = [
            ("context7", "resolve-library-id"),
            ("task-master", "get_tasks"),
            ("server", "tool.with.multiple.dots"),
            ("git", "status"),
            ("7zip", "list"),
            ("notes", "Suche für Ärzte"),
            ("日本", "検索"),
            (
                "my-very-long-internal-company-server",
                "and_a_tool_with_a_long_name",
            ),
            ("exactly_fifty", "characters_are_short_enough_to_stay_"),
        ];
        let own = ServerNaming::default();
        let table: String = examples
            .iter()
            .map(|(server, tool)| {
                let name = |rules| named(server, &own, rules, tool);
                let (flat, kept) = (name(&Naming::default()), name(&keep));
                format!(
                    "{server} . {tool} -> {flat}{}\n",
                    if flat == kept {
                        String::new()
                    } else {
                        format!("  (hyphens kept: {kept})")
                    }
                )
            })
            .collect();
        insta::assert_snapshot!(table);
    }

    #[test]
    fn the_separator_of_the_operator_stays_as_far_as_clients_take_it() {
        let with = |separator: &str| Naming {
            separator: separator.into(),
            ..Naming::default()
        };
        let name = |separator| named("git", &ServerNaming::default(), &with(separator), "a-b");
        assert_eq!(
            ["_", "__", "-", "", ".", "·"].map(name),
            ["git_a_b", "git__a_b", "git-a_b", "gita_b", "git_a_b", "git_a_b"]
        );
    }

    #[test]
    fn agg_04_a_server_chooses_its_prefix() {
        let own = |prefix: &str, raw| ServerNaming {
            prefix: Some(prefix.into()),
            raw,
            uris: None,
        };
        let name = |own| named("github", &own, &Naming::default(), "issue.get");
        assert_eq!(name(own("gh", false)), "gh_issue_get");
        assert_eq!(name(own("", false)), "issue_get");
        assert_eq!(name(own("gh", true)), "gh_issue.get");
        assert_eq!(name(own("", true)), "issue.get");
        assert_eq!(
            name(ServerNaming {
                raw: true,
                ..ServerNaming::default()
            }),
            "issue.get"
        );
    }

    #[test]
    fn agg_05_with_prefix_never_what_is_legal_in_mcp_stays() {
        let never = Naming {
            prefix: PrefixPolicy::Never,
            ..Naming::default()
        };
        let server = "s".parse().unwrap();
        let namer = Namer {
            server: &server,
            own: &ServerNaming::default(),
            rules: &never,
            overrides: &Overrides::new(),
        };
        let long = "x".repeat(128);
        let kept = ["a.b-c", "7up", long.as_str()];
        assert_eq!(kept.map(|name| namer.bare(name).text), kept);
        assert!(kept.iter().all(|name| namer.fits(&namer.bare(name))));
        assert_eq!(namer.bare("a b-c").text, "a_b_c");
    }

    #[test]
    fn a_limit_too_small_for_the_hash_is_no_panic() {
        let tiny = Naming {
            max_length: 0,
            ..Naming::default()
        };
        assert_eq!(
            named("git", &ServerNaming::default(), &tiny, "status").len(),
            SHORTEST_LIMIT
        );
    }
}
