//! Finds the program that a command names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::windows;

/// A command names no program that can be started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotFound {
    /// No folder of `PATH` has it.
    #[error("no program `{command}` in PATH ({searched}); install it, or give its full path as the command")]
    InPath {
        /// The command.
        command: String,
        /// The `PATH` that was searched.
        searched: String,
    },
    /// There is no such file.
    #[error("no program at `{path}`", path = .0.display())]
    At(PathBuf),
    /// There is a file that may not be executed.
    #[error("`{path}` is not executable; `chmod +x` makes it so", path = .0.display())]
    NotExecutable(PathBuf),
}

/// Finds the program for `command`.
///
/// A command with a slash is a path, relative to `cwd`; any other is looked for in the folders of
/// `path`, of which relative ones count from `cwd` and empty ones are passed over. With `pathext`
/// the rules are those of Windows: see [`windows::candidates`].
///
/// # Errors
///
/// When there is none; the error says where it was looked for.
pub fn resolve(command: &str, path: &OsStr, pathext: Option<&str>, cwd: &Path) -> Result<PathBuf, NotFound> {
    let names = pathext.map_or_else(
        || vec![command.to_owned()],
        |pathext| windows::candidates(command, pathext),
    );
    if is_path(command, pathext.is_some()) {
        return at(command, &names, cwd);
    }
    std::env::split_paths(path)
        .filter(|folder| !folder.as_os_str().is_empty())
        .flat_map(|folder| names.iter().map(move |name| cwd.join(&folder).join(name)))
        .find(|file| is_program(file))
        .ok_or_else(|| NotFound::InPath {
            command: command.to_owned(),
            searched: path.to_string_lossy().into_owned(),
        })
}

fn is_path(command: &str, windows: bool) -> bool {
    command.contains('/') || (windows && command.contains(['\\', ':']))
}

fn at(command: &str, names: &[String], cwd: &Path) -> Result<PathBuf, NotFound> {
    let files = names.iter().map(|name| cwd.join(name));
    match files.clone().find(|file| is_program(file)) {
        Some(file) => Ok(file),
        None => Err(files
            .clone()
            .find(|file| file.is_file())
            .map_or_else(|| NotFound::At(cwd.join(command)), NotFound::NotExecutable)),
    }
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    /// A folder with files that may be executed.
    fn folder(programs: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in programs {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    #[test]
    fn the_first_folder_that_has_the_program_wins() {
        let (empty, one, two) = (folder(&[]), folder(&["server"]), folder(&["server"]));
        let path = std::env::join_paths([empty.path(), one.path(), two.path()]).unwrap();
        assert_eq!(
            resolve("server", &path, None, Path::new("/")),
            Ok(one.path().join("server"))
        );
    }

    #[test]
    fn b09_a_missing_program_is_named_with_the_path_searched() {
        let error = resolve("nodee", OsStr::new("/no/bin:/no/sbin"), None, Path::new("/")).unwrap_err();
        let text =
            "no program `nodee` in PATH (/no/bin:/no/sbin); install it, or give its full path as the command";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn b61_a_command_with_a_slash_counts_from_the_working_folder() {
        let project = folder(&["bin/server"]);
        let found = resolve("./bin/server", OsStr::new(""), None, project.path());
        assert_eq!(found, Ok(project.path().join("./bin/server")));
    }

    #[test]
    fn a_file_without_the_permission_is_told_apart_from_none() {
        let project = folder(&["server"]);
        let file = project.path().join("server");
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let resolve = |command: &str| resolve(command, OsStr::new(""), None, project.path());
        assert_eq!(
            resolve("./server").unwrap_err(),
            NotFound::NotExecutable(project.path().join("./server"))
        );
        assert_eq!(
            resolve("./other").unwrap_err(),
            NotFound::At(project.path().join("./other"))
        );
    }

    #[test]
    fn an_empty_folder_in_path_is_not_the_working_folder() {
        let project = folder(&["server"]);
        assert!(resolve("server", OsStr::new(":"), None, project.path()).is_err());
    }

    #[test]
    fn b27_the_shell_script_beside_npx_cmd_is_passed_over() {
        let tools = folder(&["npx", "npx.cmd", "Program Files/node/node.exe"]);
        let resolve = |command: &str| {
            resolve(
                command,
                tools.path().as_os_str(),
                Some(".COM;.EXE;.BAT;.CMD"),
                tools.path(),
            )
        };
        assert_eq!(resolve("npx"), Ok(tools.path().join("npx.cmd")));
        assert_eq!(resolve("npx.cmd"), Ok(tools.path().join("npx.cmd")));
        assert_eq!(
            resolve("./Program Files/node/node"),
            Ok(tools.path().join("./Program Files/node/node.exe"))
        );
    }
}
