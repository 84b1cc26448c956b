//! Finds what cargo has built.

use std::path::{Path, PathBuf};

/// The path of a binary of this workspace, such as `mcpr-gateway`, `mcpr-ctl` or `fakemcp`.
///
/// # Panics
///
/// When it is not built; the text says how to build it.
pub fn binary(name: &str) -> PathBuf {
    let path = profile().join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let found = path.is_file();
    assert!(
        found,
        "{} is missing: run `cargo build --workspace --bins` first",
        path.display()
    );
    path
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    profile()
        .parent()
        .expect("a profile lies in the target folder")
        .to_owned()
}

/// The folder of the current profile, such as `target/debug`.
fn profile() -> PathBuf {
    let own = own_path();
    let folder = own.parent().expect("a program lies in a folder");
    let tests = folder.ends_with("deps") || folder.ends_with("examples");
    if tests {
        folder.parent().unwrap_or(folder)
    } else {
        folder
    }
    .to_owned()
}

fn own_path() -> PathBuf {
    let own = std::env::current_exe().expect("the system tells the path of this program");
    own.canonicalize().unwrap_or(own)
}

/// The folder of this package, with the scripts of the real clients.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
