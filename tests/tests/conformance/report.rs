//! What a suite has found, and how two findings differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::Deserialize;

use crate::suite;

/// The worst of each check, which may have been made several times.
#[derive(Debug)]
pub(crate) struct Report(BTreeMap<Key, Check>);

/// A scenario and a check of it.
pub(crate) type Key = (String, String);

/// What a check has found.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Check {
    id: String,
    pub(crate) status: Status,
    #[serde(default, rename = "errorMessage")]
    error: Option<String>,
}

/// How a check has ended, from the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Status {
    Info,
    Skipped,
    Success,
    Warning,
    Failure,
}

/// A check that went worse through the gateway.
#[derive(Debug)]
pub(crate) struct Gap {
    pub(crate) key: Key,
    direct: Option<Status>,
    through: Option<Status>,
    error: String,
}

/// Gaps as a table.
pub(crate) struct Table<'a>(pub(crate) &'a [&'a Gap]);

impl Report {
    /// Reads the results that a suite has left.
    pub(crate) fn read(results: &Path) -> Self {
        let mut worst = BTreeMap::<Key, Check>::new();
        for (scenario, checks) in suite::files(results) {
            let checks: Vec<Check> = serde_json::from_str(&checks).expect("a suite writes checks in JSON");
            for check in checks {
                let key = (scenario.clone(), check.id.clone());
                let known = worst.get(&key);
                if known.is_none_or(|known| known.status < check.status) {
                    worst.insert(key, check);
                }
            }
        }
        Self(worst)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scenarios.
    pub(crate) fn scenarios(&self) -> BTreeSet<&str> {
        self.0.keys().map(|(scenario, _)| scenario.as_str()).collect()
    }

    /// The checks with this end.
    pub(crate) fn with(&self, status: Status) -> Vec<(&Key, &Check)> {
        self.0
            .iter()
            .filter(|(_, check)| check.status == status)
            .collect()
    }

    /// What went worse in `through` than in this one.
    pub(crate) fn gaps(&self, through: &Self) -> Vec<Gap> {
        let keys: BTreeSet<_> = self.0.keys().chain(through.0.keys()).collect();
        let gap = |key: &Key| {
            let (direct, through) = (self.0.get(key), through.0.get(key));
            is_worse(direct, through).then(|| Gap::new(key, direct, through))
        };
        keys.into_iter().filter_map(gap).collect()
    }
}

fn is_worse(direct: Option<&Check>, through: Option<&Check>) -> bool {
    let passed = |check: Option<&Check>| check.is_some_and(|check| check.status == Status::Success);
    let failed = |check: Option<&Check>| check.is_some_and(|check| check.status > Status::Success);
    (passed(direct) && !passed(through)) || (failed(through) && !failed(direct))
}

impl Gap {
    fn new(key: &Key, direct: Option<&Check>, through: Option<&Check>) -> Self {
        let status = |check: Option<&Check>| check.map(|check| check.status);
        let error = through.and_then(|check| check.error.clone());
        Self {
            key: key.clone(),
            direct: status(direct),
            through: status(through),
            error: error.unwrap_or_default(),
        }
    }
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:44} | {:55} | direct  | through | error",
            "scenario", "check"
        )?;
        for gap in self.0 {
            let (scenario, check) = &gap.key;
            let (direct, through) = (word(gap.direct), word(gap.through));
            writeln!(
                f,
                "{scenario:44} | {check:55} | {direct:7} | {through:7} | {}",
                gap.error
            )?;
        }
        Ok(())
    }
}

fn word(status: Option<Status>) -> &'static str {
    match status {
        None => "none",
        Some(Status::Info) => "info",
        Some(Status::Skipped) => "skipped",
        Some(Status::Success) => "success",
        Some(Status::Warning) => "warning",
        Some(Status::Failure) => "failure",
    }
}
