//! A suite, run at a server and at a gateway in front of one.

use mcpr_tests::{Eras, Reference, gateway};
use serde_json::{Value, json};

use crate::report::{Gap, Report, Table};
use crate::suite::Suite;

/// Checks of a scenario that cannot pass, and why.
pub(crate) struct Impossible {
    pub(crate) scenario: &'static str,
    pub(crate) checks: &'static [&'static str],
    pub(crate) reason: &'static str,
}

/// Runs a suite at a server of both eras, and at a gateway in front of one with `eras`. Every check that passes
/// there must pass here, but those that cannot; and those must not.
pub(crate) async fn passes_through(suite: Suite, eras: Eras, impossible: &[Impossible]) {
    let reference = Reference::start(eras);
    compare(suite, reference.entry(), impossible).await;
}

/// The same with a server over stdio.
pub(crate) async fn passes_through_to_a_pipe(suite: Suite, eras: Eras, impossible: &[Impossible]) {
    compare(suite, Reference::stdio(eras), impossible).await;
}

async fn compare(suite: Suite, entry: Value, impossible: &[Impossible]) {
    let (direct, through) = tokio::join!(direct(suite), through(suite, entry));
    let gaps = direct.gaps(&through);

    let open: Vec<_> = gaps.iter().filter(|gap| !is_excused(gap, impossible)).collect();
    let rows = Table(&open);
    assert!(open.is_empty(), "{} checks went worse:\n{rows}", open.len());
    let stale: Vec<_> = impossible.iter().flat_map(|entry| entry.stale(&gaps)).collect();
    assert!(
        stale.is_empty(),
        "these pass, take them from the list:\n{}",
        stale.join("\n")
    );
}

fn is_excused(gap: &Gap, impossible: &[Impossible]) -> bool {
    impossible
        .iter()
        .any(|entry| entry.checks.iter().any(|check| entry.names(check, gap)))
}

async fn direct(suite: Suite) -> Report {
    let reference = Reference::start(Eras::Both);
    suite.run(reference.url()).await
}

async fn through(suite: Suite, entry: Value) -> Report {
    // Whatever the gateway adds is not the server's.
    let gateway = gateway()
        .open()
        .own("builtins", json!(false))
        .server("reference", entry);
    let gateway = gateway.ready().await;
    suite.run(&gateway.url()).await
}

impl Impossible {
    fn names(&self, check: &str, gap: &Gap) -> bool {
        gap.key.0 == self.scenario && gap.key.1 == check
    }

    /// What passes, although the reason says that it cannot.
    fn stale(&self, gaps: &[Gap]) -> Vec<String> {
        let passes = |check: &&&str| !gaps.iter().any(|gap| self.names(check, gap));
        let tell = |check| format!("{} {check}, although {}", self.scenario, self.reason);
        self.checks.iter().filter(passes).map(tell).collect()
    }
}
