//! `docs/security.md` proves each promise with a test that exists.

use std::fs;

use crate::proofs::{each_is_proven, every_named_test_exists};
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
        let tables = section.split("\n\n").filter(|part| part.contains("proof |"));
        let rows = tables.flat_map(|table| table.trim().lines().skip(2));
        each_is_proven(section, &rows.collect::<Vec<_>>());
    }
}
