//! A home of its own for each story, and the program in it.

use std::fmt;
use std::io::Write;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::gateway::Gateway;

/// A home for one story, with or without a gateway.
pub(crate) struct Stage {
    home: TempDir,
    gateway: Option<Gateway>,
    variables: Vec<(&'static str, String)>,
}

/// What one command did.
pub(crate) struct Ran {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) code: i32,
    home: String,
    typed: String,
}

impl Stage {
    /// An empty home.
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            gateway: None,
            variables: Vec::new(),
        }
    }

    /// A gateway that runs in this home and gives these answers.
    pub(crate) fn gateway(answers: &[(&'static str, u16, &'static str)]) -> Self {
        let mut stage = Self::new();
        stage.gateway = Some(Gateway::start(&stage.home.path().join("ctl.sock"), answers));
        stage
    }

    /// Starts a gateway in this home that gives these answers.
    pub(crate) fn run_gateway(&mut self, answers: &[(&'static str, u16, &'static str)]) {
        self.gateway = Some(Gateway::start(&self.path("ctl.sock"), answers));
    }

    /// Has the gateway give another answer from now on.
    pub(crate) fn answer(&self, path: &'static str, status: u16, text: &'static str) {
        self.gateway.as_ref().unwrap().answer(path, status, text);
    }

    /// Ends the gateway.
    pub(crate) fn end_gateway(&mut self) {
        self.gateway = None;
        std::fs::remove_file(self.path("ctl.sock")).unwrap();
    }

    /// Sets a variable for the program.
    pub(crate) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// A path in the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// What the gateway was asked, one line each.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.gateway.as_ref().map(Gateway::asked).unwrap_or_default()
    }

    /// Runs the program with these words.
    pub(crate) fn ctl(&self, words: &[&str]) -> Ran {
        self.ctl_reading(words, "")
    }

    /// Runs the program with these words and this standard input.
    pub(crate) fn ctl_reading(&self, words: &[&str], input: &str) -> Ran {
        self.ran(self.command(words), words, input)
    }

    /// Runs the program with these words so that it can make no file longer than so many KiB: it hears of that what
    /// it hears of a disk that fails.
    pub(crate) fn ctl_cramped(&self, room: u32, words: &[&str]) -> Ran {
        let command = self.command(words);
        let mut shell = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", 2 * room);
        shell
            .args(["-c", &script])
            .arg(command.get_program())
            .args(command.get_args());
        self.ran(self.at_home(shell), words, "")
    }

    fn ran(&self, mut command: Command, words: &[&str], input: &str) -> Ran {
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        Ran {
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap(),
            home: self.home.path().to_str().unwrap().to_owned(),
            typed: words.join(" "),
        }
    }

    /// Runs the program while nobody reads what it writes, from its first byte on, and tells how it ended.
    pub(crate) fn unread(&self, words: &[&str]) -> (i32, String) {
        // A shut socket takes nothing, whoever still holds it. The other end of a pipe may be open a moment
        // longer in a process that another test is about to start.
        let (stdout, reader) = UnixStream::pair().unwrap();
        reader.shutdown(Shutdown::Read).unwrap();
        let mut command = self.command(words);
        command.stdout(OwnedFd::from(stdout));
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }

    /// Starts the program with these words, and does not wait for it.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        self.command(words).spawn().unwrap()
    }

    /// Nothing of the environment of the tests reaches the program.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpr-ctl"));
        command.args(words);
        self.at_home(command)
    }

    fn at_home(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .env("MCPR_HOME", self.home.path())
            .current_dir(self.home.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Ran {
    /// Standard output as text.
    pub(crate) fn out(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// A file name for the transcript.
    pub(crate) fn name(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { ' ' };
        let words: String = self.typed.chars().map(plain).collect();
        words.split_whitespace().collect::<Vec<_>>().join("-")
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap()
    }
}

impl fmt::Display for Ran {
    /// A transcript: what was typed, both streams, and how it ended. Tabs show as `→`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |text: &str| text.replace(&self.home, "HOME").replace('\t', "→");
        writeln!(f, "$ mcpr-ctl {}\n{}", known(&self.typed), known(self.out()))?;
        if !self.stderr.is_empty() {
            writeln!(f, "[stderr]\n{}", known(&self.stderr))?;
        }
        write!(f, "[exit {}]", self.code)
    }
}

/// Looks again and again until something is there, and gives that.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "never: {what}");
        thread::yield_now();
    }
}
