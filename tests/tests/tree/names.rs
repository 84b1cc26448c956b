//! The pages about the code name modules and items that are there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::proofs::quoted;
use crate::tidy::{files, root};

const PAGES: [&str; 2] = ["docs/architecture.md", "docs/request-path.md"];

/// The folder of a crate that a page calls `core`, or `mcpr_core`.
fn folder_of(name: &str) -> Option<PathBuf> {
    let name = name.strip_prefix("mcpr_").unwrap_or(name);
    let folder = root().join("crates").join(format!("mcpr-{name}")).join("src");
    folder.exists().then_some(folder)
}

/// Whether a path of names such as `core::flight::begin` leads to a module, or to an item of that crate.
fn leads_somewhere(folder: &Path, names: &[&str]) -> bool {
    let as_file = |depth: usize| folder.join(names[..depth].join("/")).with_extension("rs");
    let modules = (0..=names.len())
        .rev()
        .find(|&depth| depth > 0 && as_file(depth).exists());
    names[modules.unwrap_or_default()..]
        .iter()
        .all(|item| is_defined(folder, item))
}

fn is_defined(folder: &Path, item: &str) -> bool {
    let folder = folder.strip_prefix(root()).expect("a folder of the workspace");
    let sources = files(&[folder.to_str().expect("plain names")], "rs");
    let kinds = ["fn", "struct", "enum", "trait", "type", "mod"];
    let ends = ["(", "<", " ", ";", "\n", ":"];
    sources.iter().any(|source| {
        let text = fs::read_to_string(source).unwrap_or_default();
        let defined = |kind: &&str| {
            ends.iter()
                .any(|end| text.contains(&format!("{kind} {item}{end}")))
        };
        kinds.iter().any(defined)
    })
}

#[test]
fn what_the_pages_about_the_code_name_is_there() {
    let (mut found, mut gone) = (0, Vec::new());
    for page in PAGES {
        let text = fs::read_to_string(root().join(page)).expect("the page");
        for name in text.lines().flat_map(quoted).filter(|name| name.contains("::")) {
            let names: Vec<&str> = name.split("::").collect();
            let Some(folder) = folder_of(names[0]) else {
                continue;
            };
            found += 1;
            if !leads_somewhere(&folder, &names[1..]) {
                gone.push(format!("{page}: {name}"));
            }
        }
    }
    assert!(found > 40, "only {found} names were found");
    assert!(gone.is_empty(), "{gone:#?}");
}
