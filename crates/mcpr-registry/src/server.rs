//! Names of servers.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name of a server: its key in the configuration file.
///
/// 1 to 64 printable characters without `/`, so that it can be a segment of an exposed URI.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(Arc<str>);

/// A text that cannot name a server.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` cannot name a server: 1 to 64 printable characters without `/`")]
pub struct InvalidName(pub String);

impl ServerName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What `server.tool` means among these servers: names of servers and tools may have dots, so it is the one
/// with the longest name that fits. Nothing if none does, or no tool is named.
pub fn server_and_tool<'s, 'n>(
    name: &'n str,
    servers: impl IntoIterator<Item = &'s ServerName>,
) -> Option<(&'s ServerName, &'n str)> {
    let parts = |server: &'s ServerName| {
        let tool = name.strip_prefix(server.as_str())?.strip_prefix('.')?;
        Some((server, tool)).filter(|(_, tool)| !tool.is_empty())
    };
    let fitting = servers.into_iter().filter_map(parts);
    fitting.max_by_key(|(server, _)| server.as_str().len())
}

impl FromStr for ServerName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let printable = |c: char| !c.is_control() && c != '/';
        let fits = (1..=64).contains(&text.chars().count()) && text.chars().all(printable);
        if fits {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName(text.to_owned()))
        }
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl serde::Serialize for ServerName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for ServerName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cfg_04_a_name_is_1_to_64_printable_characters_without_a_slash() {
        let longest = "é".repeat(64);
        for name in ["git", "my server", "a.b", "{x}", longest.as_str()] {
            assert_eq!(name.parse::<ServerName>().unwrap().as_str(), name);
        }
        for name in ["", "a/b", "a\nb", &"x".repeat(65)] {
            assert_eq!(name.parse::<ServerName>(), Err(InvalidName(name.to_owned())));
        }
    }

    #[test]
    fn the_server_with_the_longest_name_that_fits_is_meant() {
        let servers = ["a", "a.b", "c"].map(|name| name.parse::<ServerName>().unwrap());
        for (name, meant) in [
            ("a.b.c", Some(("a.b", "c"))),
            ("a.b", Some(("a", "b"))),
            ("a.bc", Some(("a", "bc"))),
            ("c.", None),
            ("c", None),
            ("x.y", None),
        ] {
            let found = server_and_tool(name, &servers).map(|(server, tool)| (server.as_str(), tool));
            assert_eq!(found, meant, "{name}");
        }
    }

    #[test]
    fn a_name_is_read_from_json_through_the_same_door() {
        assert_eq!(
            serde_json::from_str::<ServerName>("\"git\"").unwrap().as_str(),
            "git"
        );
        let error = serde_json::from_str::<ServerName>("\"a/b\"")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("`a/b` cannot name a server"), "{error}");
    }
}
