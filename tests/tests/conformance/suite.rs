//! The suites, and how to run one.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use mcpr_tests::peers::{self, Words};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

use crate::report::Report;

/// How long a suite may take; whatever it has not told by then it has not found.
const PATIENCE: Duration = Duration::from_secs(80);

/// A suite for servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    /// 0.1.16, all scenarios: the session era.
    All0_1_16,
    /// 0.2.0-alpha.12, what 2025-11-25 requires: the session era.
    Session0_2_0,
    /// 0.2.0-alpha.12, what 2026-07-28 requires, with the extension for tasks: the stateless era.
    Stateless0_2_0,
}

impl Suite {
    /// How many scenarios it has.
    pub(crate) fn scenarios(self) -> usize {
        match self {
            Self::All0_1_16 => 32,
            Self::Session0_2_0 => 33,
            Self::Stateless0_2_0 => 50,
        }
    }

    /// Runs all scenarios at a server.
    pub(crate) async fn run(self, url: &str) -> Report {
        let results = TempDir::new().expect("a temporary folder");
        let words = self.words(url, results.path());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(results.path());
        command.stdin(Stdio::null()).kill_on_drop(true);
        let ended = timeout(PATIENCE, command.output()).await;
        let said = match ended {
            Ok(output) => String::from_utf8_lossy(&output.expect("node starts").stderr).into_owned(),
            Err(_) => format!("the suite did not end within {PATIENCE:?}"),
        };
        let report = Report::read(results.path());
        assert!(!report.is_empty(), "{self:?} at {url} found nothing: {said}");
        report
    }

    fn words(self, url: &str, results: &Path) -> Words {
        let peers = peers::ready();
        let (mut words, which) = match self {
            Self::All0_1_16 => (peers.conformance_0_1(), ["--suite", "all"]),
            Self::Session0_2_0 => (peers.conformance_0_2(), ["--requirements", "2025-11-25"]),
            Self::Stateless0_2_0 => (peers.conformance_0_2(), ["--requirements", "2026-07-28"]),
        };
        let results = results.display().to_string();
        let more = ["server", "--url", url, "--output-dir", &results];
        words.extend(more.into_iter().chain(which).map(str::to_owned));
        words
    }
}

/// The results of each scenario: its name, and its checks in JSON.
pub(crate) fn files(results: &Path) -> Vec<(String, String)> {
    let folders = fs::read_dir(results)
        .expect("the folder of the results")
        .flatten();
    let read = |folder: fs::DirEntry| {
        let name = scenario(folder.file_name().to_str()?)?;
        let checks = fs::read_to_string(folder.path().join("checks.json")).ok()?;
        Some((name, checks))
    };
    folders.filter_map(read).collect()
}

/// The scenario in `server-<scenario>-2026-11-28T04-05-06-789Z`.
fn scenario(folder: &str) -> Option<String> {
    let named = folder.strip_prefix("server-")?;
    let stamp = named.rfind('T')? - "-2026-11-28".len();
    Some(named[..stamp].to_owned())
}
