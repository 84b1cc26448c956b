//! The reference server: `refserver`, which passes every scenario of the official conformance suites.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::bins::binary;

/// The eras that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eras {
    /// Both, at one URL.
    Both,
    /// That of the sessions only.
    Session,
    /// The stateless one only.
    Stateless,
}

/// A reference server over streamable HTTP. It ends when dropped.
#[derive(Debug)]
pub struct Reference {
    child: Child,
    url: String,
}

impl Reference {
    /// Starts it on a port of its own.
    pub fn start(eras: Eras) -> Self {
        let mut command = Command::new(binary("refserver"));
        command.args(["--era", eras.word(), "--port", "0", "--until-eof"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("refserver starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("its stdout is a pipe");
        BufReader::new(stdout)
            .read_line(&mut url)
            .expect("refserver prints its URL");
        Self {
            child,
            url: url.trim_end().to_owned(),
        }
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its entry in a configuration file, with names and URIs as they are.
    pub fn entry(&self) -> Value {
        json!({ "type": "http", "url": self.url, "mcpr": untouched() })
    }

    /// The entry of one over stdio, which the gateway starts.
    pub fn stdio(eras: Eras) -> Value {
        let words = ["--era", eras.word(), "--stdio"];
        json!({ "command": binary("refserver"), "args": words, "mcpr": untouched() })
    }
}

impl Eras {
    fn word(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Session => "session",
            Self::Stateless => "stateless",
        }
    }
}

/// What mcpr is told so that a server's names and URIs stay as they are.
fn untouched() -> Value {
    json!({ "prefix": "", "naming": { "style": "raw" }, "resources": { "uris": "raw" } })
}

impl Drop for Reference {
    fn drop(&mut self) {
        // It may have left by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
