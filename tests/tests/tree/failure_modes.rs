//! `docs/failure-modes.md` proves each row with a test that exists.

use std::fs;

use crate::proofs::{each_is_proven, every_named_test_exists};
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
        let table = section.lines().filter(|line| line.starts_with('|'));
        each_is_proven(section, &table.skip(2).collect::<Vec<_>>());
    }
}
