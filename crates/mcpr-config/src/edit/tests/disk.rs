//! Writing to the disk.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::{Process, WriteError};

/// A file in a folder of its own.
fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcpr.json");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The document of this file, with a change.
fn changed(path: &Path) -> Document {
    let mut document = Document::open(path, &Process).unwrap();
    document
        .set(&["mcpr", "listen"], Some(&raw(r#""127.0.0.1""#)))
        .unwrap();
    document
}

#[test]
fn ctl_01_a_file_is_replaced_with_its_permissions_and_nothing_stays_beside_it() {
    let (folder, path) = file("{}");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();

    let document = changed(&path);
    document.write().unwrap();

    assert_eq!(fs::read_to_string(&path).unwrap(), document.text());
    assert_eq!(mode(&path), 0o640);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn ctl_01_a_new_file_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcpr.json");

    changed(&path).write().unwrap();

    assert_eq!(mode(&path), 0o600);
}

#[test]
fn ctl_01_a_link_stays_and_what_it_leads_to_is_replaced() {
    let (folder, path) = file("{}");
    let links = ["one", "two"].map(|name| folder.path().join(name));
    symlink("mcpr.json", &links[0]).unwrap();
    symlink(&links[0], &links[1]).unwrap();

    changed(&links[1]).write().unwrap();

    assert!(fs::symlink_metadata(&links[0]).unwrap().is_symlink());
    assert!(fs::symlink_metadata(&links[1]).unwrap().is_symlink());
    assert!(fs::read_to_string(path).unwrap().contains("listen"));
}

#[test]
fn ctl_01_a_link_to_nothing_leads_to_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.json");
    symlink("target.json", &link).unwrap();

    changed(&link).write().unwrap();

    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(folder.path().join("target.json").exists());
}

#[test]
fn ctl_01_a_file_that_somebody_else_has_changed_meanwhile_is_not_written() {
    let (_folder, path) = file("{}");
    let document = changed(&path);

    fs::write(&path, "{ }").unwrap();
    let error = document.write().unwrap_err();

    assert!(matches!(error, WriteError::Changed(_)), "{error}");
    assert_eq!(fs::read_to_string(path).unwrap(), "{ }");
}

#[test]
fn ctl_01_what_is_unchanged_is_not_written() {
    let (_folder, path) = file("{}");
    let document = Document::open(&path, &Process).unwrap();

    fs::remove_file(&path).unwrap();
    document.write().unwrap();

    assert!(!path.exists());
}

#[test]
fn ctl_04_a_folder_that_is_not_there_is_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let error = changed(&folder.path().join("absent/mcpr.json"))
        .write()
        .unwrap_err();
    assert!(matches!(error, WriteError::Refused { .. }), "{error}");
}

#[test]
fn ctl_01_of_many_that_change_a_file_at_once_those_that_succeed_are_all_in_it() {
    let (_folder, path) = file("{}");
    let add = |index: usize| {
        let mut document = Document::open(&path, &Process).unwrap();
        let name = format!("s{index}");
        document.set_server(&name, &raw(r#"{"command":"x"}"#)).unwrap();
        document.write().is_ok().then_some(name)
    };
    let written: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..64).map(|index| scope.spawn(move || add(index))).collect();
        writers
            .into_iter()
            .filter_map(|writer| writer.join().unwrap())
            .collect()
    });

    let document = Document::open(&path, &Process).unwrap();
    assert!(!written.is_empty());
    assert_eq!(written.len(), document.servers().len(), "{written:?}");
}
