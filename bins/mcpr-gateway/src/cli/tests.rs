//! Every command explains itself: one page of `help/` for each, so that a new command without one is seen.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};

use super::Cli;

/// What `--help` shows, by the words that lead to it.
fn pages() -> BTreeMap<String, String> {
    let mut all = Cli::command();
    all.build();
    let mut pages = BTreeMap::new();
    add(&all, "", &mut pages);
    pages
}

fn add(command: &Command, above: &str, pages: &mut BTreeMap<String, String>) {
    let path = format!("{above}{}", command.get_name());
    let below = command
        .get_subcommands()
        .filter(|below| is_typed(below.get_name()));
    below.for_each(|below| add(below, &format!("{path}-"), pages));
    let page = command.clone().render_long_help().to_string();
    assert!(command.get_about().is_some(), "{path} does not say what it does");
    pages.insert(path, page);
}

/// clap's own `help` repeats all others, and what begins with `__` is typed by nobody.
fn is_typed(name: &str) -> bool {
    name != "help" && !name.starts_with("__")
}

#[test]
fn ctl_04_every_command_explains_itself() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("help");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (path, page) in pages() {
            insta::assert_snapshot!(path, page);
        }
    });
}

#[test]
fn ctl_04_no_page_is_left_of_a_command_that_is_gone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/help");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    let kept = files.filter_map(|name| Some(name.strip_suffix(".snap")?.to_owned()));

    let pages = pages();
    let stale: Vec<_> = kept.filter(|name| !pages.contains_key(name)).collect();

    assert!(stale.is_empty(), "remove from src/cli/help: {stale:?}");
}
