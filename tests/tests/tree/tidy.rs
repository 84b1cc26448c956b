//! Files one can read in a sitting, and no trace of where they were written.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a source file; a file that needs more is two rooms.
const LINES: usize = 700;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the workspace")
        .to_owned()
}

fn sources() -> Vec<PathBuf> {
    files(&["crates", "bins", "tests", "examples"], "rs")
}

/// The files below these folders whose names end so.
pub(crate) fn files(folders: &[&str], extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders {
        walk(&root().join(folder), extension, &mut found);
    }
    found
}

fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace").flatten() {
        let path = entry.path();
        let skipped = ["target", "node_modules"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && !skipped {
            walk(&path, extension, found);
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for path in sources() {
        let text = fs::read_to_string(&path).expect("a source file");
        assert!(
            text.trim_start().starts_with("//!"),
            "{} begins without `//!`",
            path.display()
        );
    }
}

#[test]
fn no_file_is_too_long_to_be_read_in_a_sitting() {
    for path in sources() {
        let lines = fs::read_to_string(&path).expect("a source file").lines().count();
        assert!(lines <= LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn mod_rs_is_not_used() {
    let found: Vec<_> = sources()
        .into_iter()
        .filter(|path| path.ends_with("mod.rs"))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}
