//! `docs/protocol-support.md` names tests that exist, and leaves out no method and no notification.

use std::collections::BTreeSet;
use std::fs;

use crate::proofs::{cells, every_named_test_exists, listed, marks, quoted};
use crate::tidy::root;

const PAGE: &str = "docs/protocol-support.md";
const METHODS: &str = "crates/mcpr-protocol/src/method.rs";

/// The first column of pairings, by which a table of them is known.
const PAIRINGS: &str = "| session → session |";

fn page() -> String {
    fs::read_to_string(root().join(PAGE)).expect("the page")
}

#[test]
fn every_test_that_the_page_names_exists() {
    every_named_test_exists(&page(), 100);
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
