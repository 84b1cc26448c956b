//! `docs/protocol-support.md` names tests that exist, and leaves out no method and no notification.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::tidy::root;

const PAGE: &str = "docs/protocol-support.md";
const METHODS: &str = "crates/mcpr-protocol/src/method.rs";

/// The first column of pairings, by which a table of them is known.
const PAIRINGS: &str = "| session → session |";

fn page() -> String {
    fs::read_to_string(root().join(PAGE)).expect("the page")
}

/// The texts between backticks, in order.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
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
fn listed(line: &str) -> Option<(u32, &str)> {
    let (number, rest) = line.split_once(". ")?;
    Some((number.parse().ok()?, rest))
}

/// The numbers in brackets.
fn marks(text: &str) -> BTreeSet<u32> {
    let opened = text.split('[').skip(1);
    opened
        .filter_map(|rest| rest.split_once(']')?.0.parse().ok())
        .collect()
}

fn cells(row: &str) -> Vec<&str> {
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
    let home = root().join("crates").join(first);
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

#[test]
fn every_test_that_the_page_names_exists() {
    let page = page();
    let names = page.lines().filter_map(listed).flat_map(|(_, line)| tests(line));
    let names: BTreeSet<String> = names.collect();
    assert!(names.len() > 100, "{names:?}");
    let gone: Vec<_> = names.iter().filter(|name| !exists(name)).collect();
    assert!(gone.is_empty(), "{gone:#?}");
}

#[test]
fn every_cell_of_a_pairing_names_a_test_and_every_named_test_proves_a_cell() {
    for section in page().split("\n#").skip(1) {
        let title = section.lines().next().unwrap_or_default();
        let rows: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).collect();
        let used = rows.iter().flat_map(|row| marks(row)).collect::<BTreeSet<_>>();
        let listed = section.lines().filter_map(listed).map(|(number, _)| number);
        assert_eq!(used, listed.collect(), "in the section {title}");
        let of_pairings = rows.first().is_some_and(|head| head.contains(PAIRINGS));
        for row in rows.iter().skip(2).filter(|_| of_pairings) {
            let unproven = cells(row).into_iter().skip(1).find(|cell| marks(cell).is_empty());
            assert_eq!(unproven, None, "no test for this in {row}");
        }
    }
}

#[test]
fn the_page_names_every_method_and_every_notification() {
    let source = fs::read_to_string(root().join(METHODS)).expect("the methods");
    let named = |line: &str| {
        let (before, value) = line.split_once(" = \"")?;
        let is_one = before.trim().starts_with("pub const ") || !before.trim().contains(' ');
        is_one.then(|| value.split('"').next().unwrap_or_default().to_owned())
    };
    let names: Vec<String> = source.lines().filter_map(named).collect();
    assert!(
        names.len() > 30 && names.contains(&"tools/call".into()),
        "{names:?}"
    );
    let page = page();
    let quoted: BTreeSet<&str> = page.lines().flat_map(quoted).collect();
    let missing: Vec<_> = names
        .iter()
        .filter(|name| !quoted.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_page_names_every_scenario_that_cannot_cross() {
    let page = page();
    for file in ["across.rs", "through.rs"] {
        let path = root().join("tests/tests/conformance").join(file);
        let source = fs::read_to_string(path).expect("the lists of what cannot cross");
        let scenarios = source
            .lines()
            .filter_map(|line| line.trim().strip_prefix("scenario: \""));
        for scenario in scenarios.filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!("`{scenario}`")), "{scenario} of {file}");
        }
    }
}
