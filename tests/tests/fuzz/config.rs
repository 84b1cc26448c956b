//! Configuration files: whatever one holds, it is read or refused with its place, and no secret is told.

use std::io;
use std::path::{Path, PathBuf};

use mcpr_config::{Config, ConfigError, Document, Environment, Fault, Kept, ServerState, VaultError};
use mcpr_protocol::RawJson;
use mcpr_tests::fuzz::{Dice, Target, Verdict};
use proptest::{prop_assert, prop_assert_eq};

/// The value of every variable and the text of every file but the configuration.
const SECRET: &str = "hush-7Qm2-hush";
/// A byte order mark.
const MARK: &str = "\u{feff}";
const FILE: &str = "/etc/mcpr/mcpr.json";

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "0",
    "-1",
    "1e99",
    "\"x\"",
    "{}",
    "[]",
    "// c\n",
    "/* c */",
    "\u{feff}",
    "\r\n",
    "${X}",
    "${env:X}",
    "${X:-y}",
    "${file:/f}",
    "${secret:S}",
    "${userHome}",
    "${",
    "\"mcpServers\":",
    "\"servers\":",
    "\"mcpr\":",
    "\"command\":",
    "\"url\":",
    "\"args\":",
    "\"env\":",
    "\"headers\":",
    "\"timeouts\":",
    "\"5m\"",
    "\"off\"",
    "\"group\":\"g\"",
    "\"replicas\":3",
    "\"disabled\":true",
    "\"limits\":",
    "\"rate\":\"5/s\"",
    "\"tls\":",
    "\"https://u:p@h/\"",
];

/// A machine with one file, whose every variable and other file holds a secret.
struct Machine<'a>(&'a [u8]);

impl Environment for Machine<'_> {
    fn variable(&self, _: &str) -> Option<String> {
        Some(SECRET.to_owned())
    }

    fn home(&self) -> Option<PathBuf> {
        Some("/home/ann".into())
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        Path::new("/etc/mcpr").join(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let content = if path == Path::new(FILE) {
            self.0
        } else {
            SECRET.as_bytes()
        };
        Ok(content.to_vec())
    }

    fn read_private(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(SECRET.as_bytes().to_vec())
    }

    fn kept_secret(&self, _: &Path, _: &str) -> Result<Option<String>, VaultError> {
        Ok(Some(SECRET.to_owned()))
    }

    fn kept_secrets(&self, _: &Path) -> Result<Vec<Kept>, VaultError> {
        Ok(Vec::new())
    }
}

fn load(text: &[u8]) -> Result<Config, ConfigError> {
    Config::from_files(&[FILE.into()], &Machine(text))
}

/// All that a person is told about a configuration.
fn told(read: &Result<Config, ConfigError>) -> Vec<String> {
    match read {
        Ok(config) => {
            let misconfigured = config.servers.iter().filter_map(|server| match &server.state {
                ServerState::Misconfigured(fault) => Some(fault.to_string()),
                _ => None,
            });
            let warnings = config.warnings.iter().map(|finding| finding.fault.to_string());
            let shown = config.servers.iter().map(|server| server.shown.clone());
            misconfigured.chain(warnings).chain(shown).collect()
        }
        Err(error) => vec![error.to_string(), format!("{error:?}")],
    }
}

/// Whether a fault says where in the file it is, or is one of the whole file and names that.
fn has_a_place(fault: &Fault, text: &[u8]) -> Verdict {
    let Some(place) = &fault.place else {
        prop_assert!(fault.what.contains(FILE), "{:?}", fault);
        return Ok(());
    };
    let lines = 1 + text.iter().filter(|byte| **byte == b'\n').count();
    prop_assert!(
        (1..=lines).contains(&place.line) && place.column > 0,
        "{:?}",
        fault
    );
    Ok(())
}

/// Whether a server that is added is there, and the text is what it was once it is removed.
fn can_be_changed(text: &[u8]) -> Verdict {
    let Ok(mut document) = Document::open(Path::new(FILE), &Machine(text)) else {
        return Ok(());
    };
    let (before, servers) = (document.text().to_owned(), document.servers());
    if document.has_server("added")
        || document
            .set_server("added", &RawJson::from_static(r#"{"command":"x"}"#))
            .is_err()
    {
        prop_assert!(document.has_server("added") || document.text() == before);
        return Ok(());
    }
    let with = [servers.clone(), vec!["added".to_owned()]].concat();
    let (mut now, mut with) = (document.servers(), with);
    now.sort();
    with.sort();
    prop_assert_eq!(now, with, "{}", document.text());
    prop_assert!(document.remove_server("added").is_ok());
    prop_assert_eq!(document.servers(), servers, "{}", document.text());
    Ok(())
}

fn property(bytes: &[u8], _: Dice) -> Verdict {
    let read = load(bytes);
    for text in told(&read) {
        prop_assert!(!text.contains(SECRET), "{}", text);
    }
    if let Err(ConfigError::Invalid(fault)) = &read {
        has_a_place(fault, bytes)?;
    }
    if std::str::from_utf8(bytes).is_ok_and(|text| !text.starts_with(MARK)) {
        let marked = load(&[MARK.as_bytes(), bytes].concat());
        prop_assert_eq!(marked.is_ok(), read.is_ok());
    }
    can_be_changed(bytes)
}

#[test]
fn cfg_02_b61_whatever_a_file_holds_it_is_judged_and_no_secret_is_told() {
    Target::new("config").words(WORDS).holds(property);
}
