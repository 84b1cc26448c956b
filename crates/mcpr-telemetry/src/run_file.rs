//! The log file of one run, and which older ones stay.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::clock::file_stamp;
use crate::options::FileChoice;

/// So many runs may begin in one second in one folder.
const TRIES: u32 = 1000;

/// The open log file.
#[derive(Debug)]
pub(crate) struct RunFile {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
}

/// Why a run has no log file.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the log file `{}`", path.display())]
pub(crate) struct RunFileError {
    path: PathBuf,
    source: io::Error,
}

/// When a file's run began, as its name tells, and its number among those of that second.
type Age<'n> = (&'n str, u32);

impl RunFile {
    /// Opens the chosen file, and removes the oldest run files of its folder beyond `keep`.
    pub(crate) fn open(
        choice: &FileChoice,
        keep: usize,
        now: SystemTime,
    ) -> Result<Option<Self>, RunFileError> {
        let (path, opened) = match choice {
            FileChoice::None => return Ok(None),
            FileChoice::Path(path) => (path, append(path)),
            FileChoice::Auto(folder) => (folder, create(folder, now)),
        };
        let run = opened.map_err(|source| RunFileError {
            path: path.clone(),
            source,
        })?;
        if let FileChoice::Auto(folder) = choice {
            prune(folder, keep);
        }
        Ok(Some(run))
    }
}

fn append(path: &Path) -> io::Result<RunFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), private_folder)?;
    // A pipe that nobody reads would hold up the start; it is told to be no place for a log instead.
    let file = private(at_once(OpenOptions::new().append(true).create(true))).open(path)?;
    Ok(RunFile {
        file,
        path: path.to_owned(),
    })
}

/// Creates a file under a name that no other run has.
fn create(folder: &Path, now: SystemTime) -> io::Result<RunFile> {
    private_folder(folder)?;
    let stamp = file_stamp(now);
    for number in 1..=TRIES {
        let path = folder.join(name(&stamp, number));
        match private(OpenOptions::new().append(true).create_new(true)).open(&path) {
            Ok(file) => {
                hold(&file);
                return Ok(RunFile { file, path });
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// The log file of the run that began last, of those that have one in this folder.
///
/// # Errors
///
/// When the folder cannot be read.
pub fn last_run(folder: &Path) -> io::Result<Option<PathBuf>> {
    Ok(runs(folder)?.into_iter().next())
}

/// Removes all but the newest run files; those of runs that still write are left alone.
fn prune(folder: &Path, keep: usize) {
    let old = runs(folder).unwrap_or_default().into_iter().skip(keep.max(1));
    for path in old.filter(|path| !is_held(path)) {
        // A file that cannot be removed takes room and does no other harm; the next run tries again.
        let _ = fs::remove_file(path);
    }
}

/// The run files of a folder, the newest first. A folder, a pipe or a link of such a name is none.
fn runs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.retain(|name| age(name).is_some());
    names.sort_by(|a, b| age(b).cmp(&age(a)));
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

fn name(stamp: &str, number: u32) -> String {
    match number {
        1 => format!("mcpr_{stamp}.log"),
        _ => format!("mcpr_{stamp}-{number}.log"),
    }
}

/// Reads the name of a run file; `None` for other files, which are never removed.
fn age(name: &str) -> Option<Age<'_>> {
    let stem = name.strip_prefix("mcpr_")?.strip_suffix(".log")?;
    let (stamp, rest) = stem.split_at_checked("2025-01-15T10-30-45".len())?;
    let number = match rest.strip_prefix('-') {
        Some(number) => number.parse().ok()?,
        None if rest.is_empty() => 1,
        None => return None,
    };
    let shape = stamp
        .bytes()
        .map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    shape.eq(*b"0000-00-00T00-00-00").then_some((stamp, number))
}

/// Marks the file as one that a living process writes; the mark ends with the process.
fn hold(file: &File) {
    // Windows locks keep readers away too, and there an open file cannot be removed anyway.
    if cfg!(unix) {
        // Without locks, as on some network file systems, a very old run may lose its file.
        let _ = file.try_lock_shared();
    }
}

fn is_held(path: &Path) -> bool {
    let held = |file: File| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
    cfg!(unix) && at_once(OpenOptions::new().read(true)).open(path).is_ok_and(held)
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Opens without waiting for whoever is at the other end of a pipe.
fn at_once(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK);
    options
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::fixed;
    use std::time::Duration;

    fn open(folder: &Path, keep: usize, after: u64) -> RunFile {
        let choice = FileChoice::Auto(folder.to_owned());
        RunFile::open(&choice, keep, fixed() + Duration::from_secs(after))
            .unwrap()
            .unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn log_02_each_run_has_a_file_named_by_its_start() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("state/logs");

        let runs = [open(&folder, 10, 0), open(&folder, 10, 0), open(&folder, 10, 1)];

        assert_eq!(last_run(&folder).unwrap().as_ref(), Some(&runs[2].path));
        let expected = [
            "mcpr_2025-01-15T10-30-45.log",
            "mcpr_2025-01-15T10-30-45-2.log",
            "mcpr_2025-01-15T10-30-46.log",
        ];
        assert_eq!(runs.map(|run| run.path), expected.map(|name| folder.join(name)));
    }

    #[cfg(unix)]
    #[test]
    fn log_02_only_the_owner_can_read_folder_and_file() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("logs");

        let run = open(&folder, 10, 0);

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&run.path)), (0o700, 0o600));
    }

    #[test]
    fn log_02_the_newest_files_stay_and_strangers_are_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let strangers = [
            "mcpr_2025-01-15.log",
            "mcpr_2025-01-15T10-30-45.log.gz",
            "notes.log",
        ];
        strangers
            .iter()
            .for_each(|name| fs::write(home.path().join(name), "").unwrap());

        (0..12).for_each(|after| drop(open(home.path(), 3, after / 2)));

        let runs = [
            "mcpr_2025-01-15T10-30-49-2.log",
            "mcpr_2025-01-15T10-30-50-2.log",
            "mcpr_2025-01-15T10-30-50.log",
        ];
        let mut expected = [&strangers[..], &runs[..]].concat();
        expected.sort();
        assert_eq!(names(home.path()), expected);
    }

    #[cfg(unix)]
    #[test]
    fn log_02_the_file_of_a_run_that_goes_on_is_not_removed() {
        let home = tempfile::tempdir().unwrap();
        let long = open(home.path(), 1, 0);
        drop(open(home.path(), 1, 1));

        let last = open(home.path(), 1, 2);

        let kept = [&long.path, &last.path].map(|path| path.file_name().unwrap().to_str().unwrap());
        assert_eq!(names(home.path()), kept);
    }

    fn make_pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }

    #[test]
    fn log_02_a_pipe_that_nobody_reads_is_refused_and_not_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join("pipe");
        make_pipe(&pipe);
        assert!(append(&pipe).is_err());
    }

    #[test]
    fn log_02_what_is_no_file_keeps_no_older_file_and_holds_up_no_start() {
        let home = tempfile::tempdir().unwrap();
        let others = ["mcpr_2025-01-15T10-30-48.log", "mcpr_2025-01-15T10-30-49.log"];
        fs::create_dir(home.path().join(others[0])).unwrap();
        make_pipe(&home.path().join(others[1]));
        (0..3).for_each(|after| drop(open(home.path(), 9, after)));

        let last = open(home.path(), 1, 5);

        assert_eq!(
            names(home.path()),
            [others[0], others[1], "mcpr_2025-01-15T10-30-50.log"]
        );
        assert_eq!(last_run(home.path()).unwrap(), Some(last.path));
    }

    #[test]
    fn log_02_a_file_that_cannot_be_looked_into_is_not_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join("pipe");
        make_pipe(&pipe);
        assert!(!is_held(&pipe));
    }

    #[test]
    fn log_02_a_chosen_file_is_appended_to() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("my/own.log");
        let choice = FileChoice::Path(path.clone());

        for line in [&b"one\n"[..], b"two\n"] {
            let mut run = RunFile::open(&choice, 1, fixed()).unwrap().unwrap();
            io::Write::write_all(&mut run.file, line).unwrap();
        }

        assert_eq!(fs::read_to_string(path).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn log_02_a_folder_that_cannot_be_is_named() {
        let home = tempfile::tempdir().unwrap();
        let taken = home.path().join("logs");
        fs::write(&taken, "a file, not a folder").unwrap();

        let error = RunFile::open(&FileChoice::Auto(taken.clone()), 1, fixed()).unwrap_err();

        assert_eq!(
            error.to_string(),
            format!("cannot write the log file `{}`", taken.display())
        );
    }
}
