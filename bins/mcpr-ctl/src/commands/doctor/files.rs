//! The database, the secrets and the log folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mcpr_config::clients::shell_word;
use mcpr_config::{Config, Locations, LogFile};
use mcpr_store::Inspection;
use rustix::fs::{Access, access, statvfs};
use rustix::io::Errno;

use super::report::Check;
use super::scene::Scene;
use crate::out::phrase;
use crate::problem::chain;

/// With less room than this, in bytes, it is a matter of minutes.
const LEAST_ROOM: u64 = 16 << 20;

pub(super) fn checks(scene: &Scene) -> Vec<Check> {
    let Some(locations) = &scene.locations else {
        return Vec::new();
    };
    let log = scene.config.iter().map(|config| log_folder(locations, config));
    database(&locations.paths.database)
        .into_iter()
        .chain(secrets(locations))
        .chain(log)
        .chain(room(locations))
        .collect()
}

/// Folders whose disk is full: there a gateway goes on without log and history, and can keep nothing.
fn room(locations: &Locations) -> Vec<Check> {
    let folders = [Some(&*locations.paths.logs), locations.paths.database.parent()];
    folders
        .into_iter()
        .flatten()
        .filter_map(|folder| {
            let free = free(there(folder))?;
            let what = format!(
                "the disk of {} has only {} left",
                folder.display(),
                phrase::size(free)
            );
            (free < LEAST_ROOM).then(|| Check::problem("disk", what))
        })
        .collect()
}

/// How many bytes the disk of a folder has left for this user, if the system knows.
fn free(folder: &Path) -> Option<u64> {
    let disk = statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// The permissions of a file or folder, if it is there.
pub(super) fn mode(path: &Path) -> Option<u32> {
    Some(fs::metadata(path).ok()?.permissions().mode())
}

fn database(path: &Path) -> Vec<Check> {
    const CHECK: &str = "database";
    let shown = path.display();
    let mut checks = vec![match mcpr_store::inspect_pages(path) {
        Ok(None) => Check::ok(
            CHECK,
            format!("there is no database yet; the first start makes {shown}"),
        ),
        Ok(Some(found)) if found.schema > 0 => Check::ok(CHECK, facts(path, &found)),
        Ok(Some(_)) => Check::ok(CHECK, format!("the database {shown} is empty")),
        Err(error) => Check::problem(CHECK, chain(&error)),
    }];
    match access(path, Access::WRITE_OK) {
        Err(Errno::ROFS) => {
            let what =
                format!("{shown} is on a read-only file system, so nothing that changes is remembered");
            checks.push(Check::problem(CHECK, what));
        }
        Err(Errno::ACCESS) => {
            let what = format!("{shown} may not be written to, so no gateway can use it");
            checks.push(Check::problem("permissions", what).fix(format!("chmod u+w {}", word(path))));
        }
        _ => {}
    }
    if mode(path).is_some_and(|mode| mode & 0o077 != 0) {
        let what = format!("others may open {shown}");
        checks.push(Check::problem("permissions", what).fix(format!("chmod 600 {}", word(path))));
    }
    checks
}

fn facts(path: &Path, found: &Inspection) -> String {
    let older = match found.is_current() {
        true => String::new(),
        false => ", which the next start brings up to date".to_owned(),
    };
    let size = phrase::size(found.bytes);
    format!(
        "the database {} can be read (schema {}{older}, {size})",
        path.display(),
        found.schema
    )
}

/// Secrets that others may read, and that mcpr therefore refuses.
fn secrets(locations: &Locations) -> Vec<Check> {
    let folder = locations.secrets.own.iter();
    let files = folder.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let shared = files
        .map(|entry| entry.path())
        .filter(|file| file.is_file() && mode(file).is_some_and(|mode| mode & 0o077 != 0));
    let check = |file: PathBuf| {
        let shown = file.display();
        Check::problem(
            "permissions",
            format!("others may read the secret {shown}, so mcpr does not"),
        )
        .fix(format!("chmod 600 {}", word(&file)))
    };
    shared.map(check).collect()
}

fn log_folder(locations: &Locations, config: &Config) -> Check {
    const CHECK: &str = "log";
    let folder = match &config.gateway.log.file {
        LogFile::Off => return Check::ok(CHECK, "no log file is wanted"),
        LogFile::Auto => locations.paths.logs.clone(),
        LogFile::At(file) => file.parent().unwrap_or(Path::new("/")).to_owned(),
    };
    let shown = folder.display();
    let there = there(&folder);
    if !there.is_dir() {
        let what = format!(
            "log files cannot be made in {shown}: {} is no folder",
            there.display()
        );
        return Check::problem(CHECK, what).fix("mcpr-ctl config set log.file auto");
    }
    match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Check::ok(CHECK, format!("log files can be made in {shown}")),
        Err(_) => {
            let what = format!(
                "log files cannot be made in {shown}: {} may not be written to",
                there.display()
            );
            Check::problem(CHECK, what).fix(format!("chmod u+wx {}", word(there)))
        }
    }
}

/// The folder, or the nearest one above it that is there: mcpr makes the rest.
fn there(folder: &Path) -> &Path {
    folder
        .ancestors()
        .find(|folder| folder.exists())
        .unwrap_or(folder)
}

/// A path as a shell reads it.
pub(super) fn word(path: &Path) -> String {
    shell_word(&path.display().to_string())
}
