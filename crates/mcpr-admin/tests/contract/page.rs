//! `docs/admin-api.md` is made of the table of operations, of what their types say, and of the JSON on the wire.

mod contract;
mod json;
mod source;
mod tables;
mod wire;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use mcpr_admin::{ROUTES, STREAMS};

use self::contract::{Contract, anchor};

const PAGE: &str = "docs/admin-api.md";

/// What makes the page anew.
const UPDATE: &str = "UPDATE_DOCS=1 cargo nextest run -p mcpr-admin --test contract page_of_the_admin_api";

/// What is generated begins below this and a name, and ends at the other.
const BEGIN: &str = "<!-- Generated: ";
const END: &str = "<!-- End of what is generated -->";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE)
}

/// The page with what is generated made anew.
fn renewed(page: &str) -> String {
    let contract = Contract::read();
    let mut parts = page.split(BEGIN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.split('.').next().unwrap_or_default();
        let (_, rest) = part.split_once(END).expect("what is generated ends");
        let generated = contract.part(name).replace("\n\n\n", "\n\n");
        let _ = write!(
            text,
            "{BEGIN}{name}. To make it anew: {UPDATE} -->\n\n{}\n\n{END}{rest}",
            generated.trim()
        );
    }
    text
}

#[test]
fn the_page_of_the_admin_api_says_what_the_contract_says() {
    let written = fs::read_to_string(path()).expect("the page can be read");
    let page = renewed(&written);
    if env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(path(), &page).expect("the page can be written");
    }
    let different = || {
        let mut pairs = page.lines().zip(written.lines().chain(std::iter::repeat("")));
        pairs.find(|(now, before)| now != before).unwrap_or_default()
    };
    assert!(
        page == written,
        "{PAGE} is not what the contract says: {:?}\nmake it anew: {UPDATE}",
        different()
    );
}

#[test]
fn the_page_has_every_operation_and_no_other() {
    let page = fs::read_to_string(path()).expect("the page can be read");
    let headings: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    let streams = STREAMS.iter().map(|route| format!("{} as a stream", route.path));
    let known: BTreeSet<String> = ROUTES
        .iter()
        .map(|route| route.path.to_owned())
        .chain(streams)
        .collect();
    let absent: Vec<_> = known
        .iter()
        .filter(|path| !headings.contains(path.as_str()))
        .collect();
    assert!(absent.is_empty(), "{PAGE} lacks {absent:?}");

    let posts = page
        .lines()
        .filter_map(|line| line.strip_prefix("`POST /admin/v1/"));
    let told: BTreeSet<&str> = posts.filter_map(|line| line.split('`').next()).collect();
    let gone: Vec<_> = told
        .iter()
        .filter(|path| !ROUTES.iter().chain(STREAMS).any(|route| route.path == **path))
        .collect();
    assert!(gone.is_empty(), "{PAGE} tells of {gone:?}, which are gone");
}

#[test]
fn every_link_within_the_page_leads_somewhere() {
    let page = fs::read_to_string(path()).expect("the page can be read");
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let anchors: BTreeSet<String> = headings
        .map(|line| anchor(line.trim_start_matches('#').trim()).replace(' ', "-"))
        .collect();
    let links = page
        .split("](#")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let lost: BTreeSet<&str> = links.filter(|link| !anchors.contains(*link)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}
