//! Links in the pages lead to files and headings that are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tidy::{files, root};

/// A link of a page.
struct Link<'a> {
    page: &'a Path,
    target: &'a str,
}

fn pages() -> Vec<PathBuf> {
    files(&["docs", "crates", "tests/peers", ".github"], "md")
        .into_iter()
        .chain(files_of_root())
        .collect()
}

fn files_of_root() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root()).expect("the workspace").flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"))
}

/// The lines of a page that are no code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// The targets of the links in a text, without those into the web.
fn targets(text: &str) -> Vec<&str> {
    let opened = prose(text).flat_map(|line| line.split("](").skip(1));
    let targets = opened
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).collect()
}

/// The anchor of a heading, as sites that show Markdown make it: letters, digits, blanks as dashes.
fn anchor(heading: &str) -> String {
    let lower = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = lower
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    prose(text)
        .filter(|line| line.starts_with('#'))
        .map(anchor)
        .collect()
}

impl Link<'_> {
    /// What is wrong with it, if anything is.
    fn fault(&self) -> Option<String> {
        let (path, anchor) = self.target.split_once('#').unwrap_or((self.target, ""));
        let folder = self.page.parent().expect("a page is in a folder");
        let file = if path.is_empty() {
            self.page.to_owned()
        } else {
            folder.join(path)
        };
        let leads = match anchor {
            "" => file.exists(),
            _ => fs::read_to_string(&file).is_ok_and(|text| anchors(&text).contains(anchor)),
        };
        (!leads).then(|| format!("{}: ({})", self.page.display(), self.target))
    }
}

#[test]
fn every_link_between_the_pages_leads_somewhere() {
    let pages = pages();
    let texts = pages.iter().map(|page| fs::read_to_string(page).expect("a page"));
    let texts: Vec<_> = pages.iter().zip(texts).collect();
    let links = texts.iter().flat_map(|(page, text)| {
        let target = |target| Link { page, target };
        targets(text).into_iter().map(target)
    });
    let links: Vec<_> = links.collect();
    assert!(links.len() > 200, "only {} links were found", links.len());

    let broken: Vec<_> = links.iter().filter_map(Link::fault).collect();

    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_page_is_reached_from_the_readme() {
    let mut reached = BTreeSet::new();
    let mut next = vec![root().join("README.md")];
    while let Some(page) = next.pop() {
        let Ok(page) = page.canonicalize() else { continue };
        if !reached.insert(page.clone()) {
            continue;
        }
        let text = fs::read_to_string(&page).unwrap_or_default();
        let folder = page.parent().expect("a page is in a folder");
        let paths = targets(&text)
            .into_iter()
            .filter_map(|target| target.split('#').next());
        let pages = paths.filter(|path| path.ends_with(".md"));
        next.extend(pages.map(|path| folder.join(path)));
    }
    // Decisions are read by their numbers.
    let decisions = root().join("docs/decisions");
    let all = files(&["docs"], "md");
    let lost: Vec<_> = all
        .iter()
        .filter(|page| !page.starts_with(&decisions))
        .filter(|page| !reached.contains(&page.canonicalize().expect("it is there")))
        .collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn anchors_are_made_as_sites_make_them() {
    assert_eq!(
        anchor("## What is tried, and what is not"),
        "what-is-tried-and-what-is-not"
    );
    assert_eq!(anchor("### `tokens/create`"), "tokenscreate");
}
