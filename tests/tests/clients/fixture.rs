//! Requests that were recorded.

use std::collections::BTreeSet;
use std::path::PathBuf;

use mcpr_tests::recorder::Sent;
use serde_json::Value;

/// The requests of one client in order, each on a line of its own in the file.
pub(crate) struct Fixture(pub(crate) Vec<Sent>);

impl Fixture {
    /// What was sent, with names for the texts that are never the same. Sessions are named in the order in
    /// which they come.
    pub(crate) fn of(sent: Vec<Sent>, marks: &[(&str, &str)]) -> Self {
        let mut sessions: Vec<String> = Vec::new();
        for session in sent.iter().filter_map(|sent| sent.header("mcp-session-id")) {
            if !sessions.iter().any(|known| known == session) {
                sessions.push(session.to_owned());
            }
        }
        let named = sessions
            .into_iter()
            .zip(1..)
            .map(|(id, number)| (id, format!("session-{number}")));
        let named: Vec<_> = named.collect();
        let named = named.iter().map(|(id, name)| (id.as_str(), name.as_str()));
        let marks: Vec<_> = named.chain(marks.iter().copied()).collect();
        Self(sent.iter().map(|sent| renamed(sent, &marks)).collect())
    }

    /// The fixture of that name of a client.
    pub(crate) fn read(client: &str, name: &str) -> Self {
        let path = path(client, name);
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(serde_json::from_str(&text).unwrap())
    }

    /// Checks that a client still sends what it sent when its fixture was recorded, or records it.
    pub(crate) fn check(&self, client: &str, name: &str) {
        if std::env::var_os("MCPR_RECORD").is_some() {
            return self.write(client, name);
        }
        let recorded = Self::read(client, name).essence();
        assert_eq!(
            self.essence(),
            recorded,
            "{client} no longer says what {name} says; see MCPR_RECORD in main.rs"
        );
    }

    fn write(&self, client: &str, name: &str) {
        let lines: Vec<_> = self
            .0
            .iter()
            .map(|sent| serde_json::to_string(sent).unwrap())
            .collect();
        std::fs::create_dir_all(path(client, name).parent().unwrap()).unwrap();
        std::fs::write(path(client, name), format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
    }

    /// All that does not depend on which of several requests at once was the first, nor in which of
    /// several sessions.
    fn essence(&self) -> BTreeSet<String> {
        self.0.iter().map(essence).collect()
    }
}

fn path(client: &str, name: &str) -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    tests
        .join("fixtures/clients")
        .join(client)
        .join(format!("{name}.json"))
}

fn renamed(sent: &Sent, marks: &[(&str, &str)]) -> Sent {
    let mut text = serde_json::to_string(sent).unwrap();
    for (mark, name) in marks {
        text = text.replace(mark, name);
    }
    serde_json::from_str(&text).unwrap()
}

fn essence(sent: &Sent) -> String {
    let headers = sent
        .headers
        .iter()
        .filter(|(_, value)| !value.starts_with("session-"));
    let mut message = sent.message();
    if let Some(members) = message.as_object_mut() {
        members.remove("id");
    }
    if let Some(meta) = message
        .pointer_mut("/params/_meta")
        .and_then(Value::as_object_mut)
    {
        meta.remove("progressToken");
    }
    format!("{} {:?} {message}", sent.line, headers.collect::<Vec<_>>())
}
