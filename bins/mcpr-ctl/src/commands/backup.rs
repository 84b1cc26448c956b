//! Copies what a gateway keeps, whether or not it runs.

use std::fs::File;
use std::path::{Path, PathBuf};

use mcpr_admin::ExitCode;
use mcpr_auth::Timestamp;
use mcpr_config::{Locations, Vault};
use serde::Serialize;

use crate::cli::{Backup, Global};
use crate::connect::{locations, refuse_own};
use crate::out::phrase::size;
use crate::out::{Out, path};
use crate::problem::Problem;

/// What was written.
#[derive(Debug, Serialize)]
struct Written {
    /// The copy of the database.
    #[serde(serialize_with = "path::shown")]
    file: PathBuf,
    bytes: u64,
    /// The copy of the secrets, if there are any.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "path::shown_if_any"
    )]
    secrets: Option<PathBuf>,
}

/// `backup`
pub(super) async fn backup(global: &Global, out: &Out, asked: &Backup) -> Result<ExitCode, Problem> {
    if global.gateway.is_some() || global.socket.is_some() {
        let problem =
            Problem::usage("a backup is made of the files on this machine, whether or not a gateway runs");
        return Err(
            problem.hint("run it there without --gateway and --socket; MCPR_HOME says which files are meant")
        );
    }
    let locations = locations(global)?;
    let paths = &locations.paths;
    let file = target(asked)?;
    let written = write(&locations, &file, asked.force)?;
    out.report(&written, |written, _| page(written))?;
    let vault = Vault::at(&paths.secrets);
    // It may be in the keyring of the system instead.
    if written.secrets.is_some() && vault.key_path().exists() {
        let key = vault.key_path().display();
        out.note(&format!(
            "the key of the secrets is not in it: keep a copy of {key} apart"
        ));
    }
    Ok(ExitCode::Ok)
}

fn page(written: &Written) -> String {
    let mut page = format!("{}  {}\n", written.file.display(), size(written.bytes));
    if let Some(secrets) = &written.secrets {
        page += &format!("{}\n", secrets.display());
    }
    page
}

/// The whole path of the file to write.
fn target(asked: &Backup) -> Result<PathBuf, Problem> {
    let usual = || {
        let now = Timestamp::now().to_string().replace(':', "-");
        PathBuf::from(format!("mcpr-{now}.db"))
    };
    let file = asked.file.clone().unwrap_or_else(usual);
    Ok(std::path::absolute(&file)?)
}

fn write(locations: &Locations, file: &Path, force: bool) -> Result<Written, Problem> {
    let paths = &locations.paths;
    let beside = beside(file);
    refuse_own(locations, &[file, beside.as_path()])?;
    let _alone = alone_in(file);
    if !force {
        refuse_present([file, beside.as_path()])?;
    }
    let copied = mcpr_store::backup(&paths.database, file)?;
    let Some(bytes) = copied else {
        let what = format!("there is no database yet at {}", paths.database.display());
        return Err(Problem::not_found(what).hint("the first start of `mcpr-gateway` makes it"));
    };
    let has_secrets = Vault::at(&paths.secrets).copy_to(&beside)?;
    Ok(Written {
        file: file.to_owned(),
        bytes,
        secrets: has_secrets.then_some(beside),
    })
}

/// Waits until no other backup is written into the folder of this file, and keeps others out until it is dropped. Not
/// every file system has locks.
fn alone_in(file: &Path) -> Option<File> {
    let folder = File::open(file.parent()?).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Where the secrets go.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".secrets.json");
    name.into()
}

fn refuse_present(files: [&Path; 2]) -> Result<(), Problem> {
    match files.into_iter().find(|file| file.symlink_metadata().is_ok()) {
        Some(file) => {
            let what = format!("{} is there already", file.display());
            Err(Problem::usage(what).hint("name another file, or replace it with --force"))
        }
        None => Ok(()),
    }
}
