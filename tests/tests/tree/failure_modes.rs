//! `docs/failure-modes.md` proves each row with a test that exists.

use std::collections::BTreeSet;
use std::fs;

use crate::proofs::{cells, every_named_test_exists, listed, marks};
use crate::tidy::root;

fn page() -> String {
    fs::read_to_string(root().join("docs/failure-modes.md")).expect("the page")
}

#[test]
fn every_test_that_the_page_names_exists() {
    every_named_test_exists(&page(), 60);
}

#[test]
fn every_fault_names_a_test_and_every_named_test_proves_a_fault() {
    for section in page().split("\n## ").skip(1) {
        let title = section.lines().next().unwrap_or_default();
        let rows: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).collect();
        let used: BTreeSet<u32> = rows.iter().flat_map(|row| marks(row)).collect();
        let named: Vec<u32> = section
            .lines()
            .filter_map(listed)
            .map(|(number, _)| number)
            .collect();
        // Each number once, in their order.
        assert_eq!(Vec::from_iter(used), named, "in the section {title}");
        for row in rows.iter().skip(2) {
            let proof = cells(row).pop().unwrap_or_default();
            assert!(!marks(proof).is_empty(), "no test for this: {row}");
        }
    }
}
