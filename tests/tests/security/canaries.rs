//! Secrets that can be told from everything else, and the places in which they are looked for.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Where a canary must not be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shy {
    /// Of servers: they must not get it. Clients and operators know it already.
    OfServers,
    /// Of everybody but the one it was made for.
    OfAll,
}

/// A text that stands nowhere else.
#[derive(Clone, Debug)]
pub(crate) struct Canary {
    pub(crate) text: String,
    shy: Shy,
    /// The one server that it is made for.
    owner: Option<&'static str>,
}

/// All canaries of a test, and where they were seen.
#[derive(Debug, Default)]
pub(crate) struct Canaries {
    all: Vec<Canary>,
    looked_at: Vec<String>,
    leaks: Vec<String>,
}

/// A place that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sink<'s> {
    /// What operators, clients and files get.
    Told,
    /// What this server gets.
    Server(&'s str),
}

impl Canaries {
    /// A canary that nobody but its owner may see.
    pub(crate) fn secret(&mut self, what: &str, owner: Option<&'static str>) -> String {
        self.plant(what, Shy::OfAll, owner)
    }

    /// One that no server may see.
    pub(crate) fn private(&mut self, what: &str) -> String {
        self.plant(what, Shy::OfServers, None)
    }

    /// The same canary in another spelling, such as the base64 of credentials.
    pub(crate) fn also(&mut self, text: String) {
        self.all.push(Canary {
            text,
            shy: Shy::OfAll,
            owner: None,
        });
    }

    fn plant(&mut self, what: &str, shy: Shy, owner: Option<&'static str>) -> String {
        let text = format!("CNRY{}{what}", self.all.len());
        self.all.push(Canary {
            text: text.clone(),
            shy,
            owner,
        });
        text
    }

    /// Looks for canaries that do not belong there.
    pub(crate) fn look(&mut self, place: &str, sink: Sink<'_>, text: &str) {
        self.looked_at.push(place.to_owned());
        for canary in &self.all {
            let may = match sink {
                Sink::Server(name) => canary.owner == Some(name),
                Sink::Told => canary.shy == Shy::OfServers,
            };
            let Some(at) = text.find(&canary.text).filter(|_| !may) else {
                continue;
            };
            let around = text
                .get(at.saturating_sub(80)..(at + 80).min(text.len()))
                .unwrap_or_default();
            self.leaks.push(format!("{place}: {} in …{around}…", canary.text));
        }
    }

    /// The same for all files of a folder but these.
    pub(crate) fn look_into(&mut self, folder: &Path, but: &[&str]) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if but.contains(&&*name) {
                continue;
            }
            if path.is_dir() {
                self.look_into(&path, but);
            } else if let Ok(bytes) = fs::read(&path) {
                self.look(
                    &path.display().to_string(),
                    Sink::Told,
                    &String::from_utf8_lossy(&bytes),
                );
            }
        }
    }

    /// This place was among them.
    pub(crate) fn assert_looked_at(&self, place: &str) {
        assert!(self.looked_at.iter().any(|one| one == place), "not {place}");
    }

    /// None was seen, in any of the places that were looked at.
    pub(crate) fn assert_silence(&self, places: usize) {
        assert!(self.leaks.is_empty(), "{:#?}", self.leaks);
        assert!(self.looked_at.len() >= places, "only {:#?}", self.looked_at);
    }
}

/// What `Basic` credentials look like.
pub(crate) fn basic(user: &str, password: &str) -> String {
    BASE64_STANDARD.encode(format!("{user}:{password}"))
}

#[test]
fn a_canary_is_seen_where_it_does_not_belong_and_nowhere_else() {
    let mut canaries = Canaries::default();
    let (own, private) = (canaries.secret("own", Some("web")), canaries.private("meta"));
    canaries.look("own log", Sink::Server("web"), &own);
    canaries.look("status", Sink::Told, &private);
    canaries.assert_silence(2);

    canaries.look("status", Sink::Told, &format!("é{own}"));
    canaries.look("other log", Sink::Server("git"), &format!("{own}{private}"));

    assert_eq!(canaries.leaks.len(), 3);
}
