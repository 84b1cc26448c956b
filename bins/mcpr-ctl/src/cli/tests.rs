//! Every command explains itself: one page of `help/` for each, so that a new command without one is seen.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::error::ErrorKind;
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

/// The commands with options that the sources quote, as one would type them: what stands for something is a word.
fn quoted() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut commands = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("bins")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let quoted = text
                    .split('`')
                    .filter(|part| part.starts_with("mcpr-ctl ") && part.contains(" --"));
                commands.extend(quoted.map(filled));
            }
        }
    }
    commands
}

/// With a word in the place of each `{…}`, and on one line.
fn filled(command: &str) -> String {
    let mut filled = String::new();
    for (index, part) in command.split(['{', '}']).enumerate() {
        filled += if index % 2 == 0 { part } else { "read" };
    }
    let words = filled.split_whitespace();
    words
        .filter(|word| !["\\", "///", "//!"].contains(word))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn ctl_04_the_commands_that_messages_name_can_be_typed() {
    let quoted = quoted();
    assert!(quoted.len() > 10, "{quoted:?}");
    let refused = quoted.iter().filter_map(|command| {
        let words = command.split_whitespace();
        let error = Cli::command().try_get_matches_from(words).err()?;
        let told = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        (!told).then(|| format!("{command}: {}", error.kind()))
    });
    assert_eq!(refused.collect::<Vec<_>>(), Vec::<String>::new());
}
