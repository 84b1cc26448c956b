//! `docs/security.md` proves each promise with a test that exists.

use std::collections::BTreeSet;
use std::fs;

use crate::proofs::{cells, every_named_test_exists, listed, marks};
use crate::tidy::root;

fn page() -> String {
    fs::read_to_string(root().join("docs/security.md")).expect("the page")
}

#[test]
fn every_test_that_the_page_of_security_names_exists() {
    every_named_test_exists(&page(), 30);
}

#[test]
fn every_promise_of_security_names_a_test_and_every_named_test_proves_one() {
    for section in page().split("\n## ").skip(1) {
        let title = section.lines().next().unwrap_or_default();
        let tables: Vec<&str> = section
            .split("\n\n")
            .filter(|part| part.contains("proof |"))
            .collect();
        let rows = || tables.iter().flat_map(|table| table.trim().lines().skip(2));
        let used: BTreeSet<u32> = rows().flat_map(marks).collect();
        let named: Vec<u32> = section
            .lines()
            .filter_map(listed)
            .map(|(number, _)| number)
            .collect();
        // Each number once, in their order.
        assert_eq!(Vec::from_iter(used), named, "in the section {title}");
        for row in rows() {
            let proof = cells(row).pop().unwrap_or_default();
            assert!(!marks(proof).is_empty(), "no test for this: {row}");
        }
    }
}
