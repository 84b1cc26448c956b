//! Pages that name the tests that prove them: a table whose cells hold numbers in brackets, and under it a list of
//! the tests by these numbers.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::tidy::root;

/// The texts between backticks, in order.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The whole names of the tests in a line of the lists: a short one is in the module before it.
fn tests(line: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in quoted(line) {
        let module = all.last().and_then(|last| last.rsplit_once("::"));
        let whole = match (name.strip_prefix("::"), module) {
            (Some(short), Some((module, _))) => format!("{module}::{short}"),
            _ => name.to_owned(),
        };
        all.push(whole);
    }
    all
}

/// The number of a line of the lists, and what follows it.
pub(crate) fn listed(line: &str) -> Option<(u32, &str)> {
    let (number, rest) = line.split_once(". ")?;
    Some((number.parse().ok()?, rest))
}

/// The numbers in brackets.
pub(crate) fn marks(text: &str) -> BTreeSet<u32> {
    let opened = text.split('[').skip(1);
    opened
        .filter_map(|rest| rest.split_once(']')?.0.parse().ok())
        .collect()
}

pub(crate) fn cells(row: &str) -> Vec<&str> {
    let row = row.trim_matches('|');
    row.split('|').map(str::trim).collect()
}

/// The source that a program of tests, or a crate, begins with, and the folder of its modules.
struct Program {
    source: PathBuf,
    folder: PathBuf,
}

impl Program {
    fn in_folder(folder: PathBuf) -> Self {
        let names = ["main.rs", "lib.rs"].map(|name| folder.join(name));
        let source = names.into_iter().find(|path| path.exists());
        Self {
            source: source.unwrap_or_else(|| folder.with_extension("rs")),
            folder,
        }
    }

    /// The text of a module, which its parents must declare.
    fn module(&self, names: &[&str]) -> Option<String> {
        let mut text = fs::read_to_string(&self.source).ok()?;
        let mut path = self.folder.clone();
        for name in names {
            let declared = format!("mod {name};");
            text.lines().any(|line| line.ends_with(&declared)).then_some(())?;
            path.push(name);
            text = fs::read_to_string(path.with_extension("rs")).ok()?;
        }
        Some(text)
    }
}

/// The sources of the module that holds a test by its name; a crate and its programs of tests may have one each.
fn sources(parts: &[&str]) -> Vec<String> {
    let Some((first, modules)) = parts.split_first() else {
        return Vec::new();
    };
    if !first.starts_with("mcpr-") {
        let program = Program::in_folder(root().join("tests/tests").join(first));
        return program.module(modules).into_iter().collect();
    }
    let homes = ["crates", "bins"].map(|folder| root().join(folder).join(first));
    let Some(home) = homes.into_iter().find(|home| home.exists()) else {
        return Vec::new();
    };
    let unit = Program::in_folder(home.join("src")).module(modules);
    let program = modules.split_first();
    let integration =
        program.and_then(|(name, modules)| Program::in_folder(home.join("tests").join(name)).module(modules));
    unit.into_iter().chain(integration).collect()
}

/// Whether a source holds a test of that name.
fn holds(source: &str, test: &str) -> bool {
    let is_it = |line: &str| {
        line.trim_start()
            .trim_start_matches("async ")
            .starts_with(&format!("fn {test}("))
    };
    let lines: Vec<&str> = source.lines().collect();
    lines
        .windows(2)
        .any(|two| is_it(two[1]) && two[0].trim_start().starts_with("#[") && two[0].contains("test"))
}

fn exists(name: &str) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let Some((test, module)) = parts.split_last() else {
        return false;
    };
    sources(module).iter().any(|source| holds(source, test))
}

/// Checks that a section names each of its tests once, in their order, and no other than its rows are proven by; and that
/// each row is proven.
pub(crate) fn each_is_proven(section: &str, rows: &[&str]) {
    let title = section.lines().next().unwrap_or_default();
    let used: BTreeSet<u32> = rows.iter().flat_map(|row| marks(row)).collect();
    let named = section.lines().filter_map(listed).map(|(number, _)| number);
    assert_eq!(
        Vec::from_iter(used),
        Vec::from_iter(named),
        "in the section {title}"
    );
    for row in rows {
        let proof = cells(row).pop().unwrap_or_default();
        assert!(!marks(proof).is_empty(), "no test for this: {row}");
    }
}

/// Checks that the tests exist that a page names, and that it names at least so many.
pub(crate) fn every_named_test_exists(page: &str, least: usize) {
    let names = page.lines().filter_map(listed).flat_map(|(_, line)| tests(line));
    let names: BTreeSet<String> = names.collect();
    assert!(names.len() >= least, "{names:?}");
    let gone: Vec<_> = names.iter().filter(|name| !exists(name)).collect();
    assert!(gone.is_empty(), "{gone:#?}");
}
