//! What a list says about the servers behind it (AGG-12).

use std::fmt;

use mcpr_protocol::RawJson;
use serde::ser::{SerializeMap, Serializer};

use crate::ServerName;

/// How a server is doing, in one word for clients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ServerState {
    /// Connected and listed.
    Ok,
    /// On its way up; its items may be missing.
    Starting,
    /// Its items are those of an earlier listing.
    Stale,
    /// Not reachable.
    Down,
    /// It wants to be authorized first.
    AuthRequired,
    /// Its entry in the configuration cannot be used.
    Misconfigured,
}

/// The state of each server in the scope of a list, in the order they were put in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct States(Vec<(ServerName, ServerState, Option<String>)>);

impl ServerState {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Starting => "starting",
            Self::Stale => "stale",
            Self::Down => "down",
            Self::AuthRequired => "auth-required",
            Self::Misconfigured => "misconfigured",
        }
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl serde::Serialize for ServerState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl States {
    /// Starts with no server.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says how a server is doing; what was said of it before is replaced in its place.
    pub fn set(&mut self, server: ServerName, state: ServerState, reason: Option<String>) {
        match self.0.iter_mut().find(|(known, ..)| *known == server) {
            Some(entry) => *entry = (server, state, reason),
            None => self.0.push((server, state, reason)),
        }
    }

    /// How a server is doing.
    pub fn get(&self, server: &ServerName) -> Option<ServerState> {
        self.0
            .iter()
            .find(|(known, ..)| known == server)
            .map(|(_, state, _)| *state)
    }

    /// The states in order, with their reasons.
    pub fn iter(&self) -> impl Iterator<Item = (&ServerName, ServerState, Option<&str>)> {
        self.0
            .iter()
            .map(|(server, state, reason)| (server, *state, reason.as_deref()))
    }

    /// The value of `_meta["dev.mcpr/servers"]`.
    pub fn render(&self) -> RawJson {
        RawJson::render(self)
    }
}

impl serde::Serialize for States {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (server, state, reason) in self.iter() {
            map.serialize_entry(server, &Entry { state, reason })?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
struct Entry<'a> {
    state: ServerState,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agg_12_each_server_has_its_state_in_order_and_a_reason_where_there_is_one() {
        let mut states = States::new();
        states.set("web".parse().unwrap(), ServerState::Starting, None);
        states.set(
            "git".parse().unwrap(),
            ServerState::AuthRequired,
            Some("no \"token\"".into()),
        );
        states.set("web".parse().unwrap(), ServerState::Ok, None);
        let text = r#"{"web":{"state":"ok"},"git":{"state":"auth-required","reason":"no \"token\""}}"#;
        assert_eq!(states.render().as_str(), text);
        assert_eq!(States::new().render().as_str(), "{}");
    }
}
