//! Programs that a gateway does not find, and a person at a terminal does.
//!
//! Managers of versions put programs into folders of their own, which only the start-up files of a
//! shell add to `PATH`; a gateway that a desktop or a service manager starts has never read those.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mcpr_config::{Environment, Process};
use mcpr_transport::child::resolve::resolve;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;
use tokio::time::timeout;

/// How long the start-up files of a shell may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Folders below the home, with whose they are; `*` stands for any name.
const FOLDERS: [(&str, &str); 16] = [
    (".nvm/versions/node/*/bin", "nvm"),
    (".local/share/fnm/node-versions/*/installation/bin", "fnm"),
    (".volta/bin", "Volta"),
    (".asdf/shims", "asdf"),
    (".local/share/mise/shims", "mise"),
    (".pyenv/shims", "pyenv"),
    (".pyenv/versions/*/bin", "pyenv"),
    (".rbenv/shims", "rbenv"),
    (".local/bin", "~/.local/bin"),
    (".cargo/bin", "Cargo"),
    (".bun/bin", "Bun"),
    (".deno/bin", "Deno"),
    (".local/share/pnpm", "pnpm"),
    (".npm-global/bin", "npm"),
    ("go/bin", "Go"),
    ("bin", "~/bin"),
];

/// Folders of the machine that not every `PATH` has.
const SYSTEM: [(&str, &str); 4] = [
    ("/usr/local/bin", "/usr/local/bin"),
    ("/opt/homebrew/bin", "Homebrew"),
    ("/home/linuxbrew/.linuxbrew/bin", "Homebrew"),
    ("/snap/bin", "Snap"),
];

/// Where else programs are looked for.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// The `PATH` of a login shell.
    login: Option<String>,
    home: Option<PathBuf>,
}

/// A program that was found after all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) program: PathBuf,
    /// Whose folder it is in.
    pub(super) whose: &'static str,
}

impl Elsewhere {
    /// Asks the login shell for its `PATH`, if there is a command to be looked for.
    pub(super) async fn look(missing: &[String]) -> Self {
        if missing.iter().all(|command| is_path(command)) {
            return Self::default();
        }
        Self {
            login: login_path().await,
            home: Process.home(),
        }
    }

    /// The place of a command.
    pub(super) fn find(&self, command: &str) -> Option<Place> {
        if is_path(command) {
            return None;
        }
        let folders = self.folders().into_iter();
        let known = |(folder, whose): (PathBuf, &'static str)| place(command, folder.as_os_str(), whose);
        folders
            .into_iter()
            .find_map(known)
            .or_else(|| place(command, self.login.as_ref()?.as_ref(), "a login shell"))
    }

    fn folders(&self) -> Vec<(PathBuf, &'static str)> {
        let Some(home) = &self.home else {
            return Vec::new();
        };
        let own = FOLDERS
            .iter()
            .flat_map(|(folder, whose)| matching(home, folder).into_iter().map(|folder| (folder, *whose)));
        let system = SYSTEM
            .iter()
            .map(|(folder, whose)| (PathBuf::from(folder), *whose));
        own.chain(system).collect()
    }
}

fn is_path(command: &str) -> bool {
    command.contains('/')
}

fn place(command: &str, path: &std::ffi::OsStr, whose: &'static str) -> Option<Place> {
    let program = resolve(command, path, None, Path::new("/")).ok()?;
    Some(Place { program, whose })
}

/// The folders that a pattern means; of several the newest, whose name is the last.
fn matching(base: &Path, pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once("*/") else {
        return vec![base.join(pattern)];
    };
    let entries = fs::read_dir(base.join(before)).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path().join(after)).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// The `PATH` that the user has in a terminal.
async fn login_path() -> Option<String> {
    let shell = Process.variable("SHELL").filter(|shell| is_path(shell))?;
    let mut command = Command::new(shell);
    command.args(["-l", "-c", "printf '%s\\n' \"$PATH\""]);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let child = command.stdout(Stdio::piped()).process_group(0).spawn().ok()?;
    let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    let Ok(output) = timeout(PATIENCE, child.wait_with_output()).await else {
        // What the start-up files have begun and not ended goes with the shell.
        let _ = kill_process_group(group?, Signal::KILL);
        return None;
    };
    // Start-up files may greet; the last line is the answer.
    let said = String::from_utf8(output.ok()?.stdout).ok()?;
    said.lines().last().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn b09_a_program_of_a_version_manager_is_found_the_newest_first() {
        let home = tempfile::tempdir().unwrap();
        for version in ["v20.1.0", "v22.3.0"] {
            let folder = home.path().join(".nvm/versions/node").join(version).join("bin");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("npx-of-the-test"), "").unwrap();
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(folder.join("npx-of-the-test"), mode).unwrap();
        }
        let elsewhere = Elsewhere {
            login: None,
            home: Some(home.path().to_owned()),
        };

        let place = elsewhere.find("npx-of-the-test").unwrap();

        assert_eq!(place.whose, "nvm");
        assert!(place.program.ends_with("v22.3.0/bin/npx-of-the-test"));
        assert_eq!(elsewhere.find("/usr/bin/npx-of-the-test"), None);
        assert_eq!(elsewhere.find("no-such-program-anywhere"), None);
    }
}
