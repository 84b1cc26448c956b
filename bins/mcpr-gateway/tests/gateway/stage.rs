//! A home of its own for each story, and the program in it.

use std::fmt;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::is_complete;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A home for one story.
pub(crate) struct Stage {
    home: TempDir,
    /// Where the program finds the temporary files of the system.
    temporary: TempDir,
    variables: Vec<(&'static str, String)>,
}

/// What one command did.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
    home: String,
    typed: String,
}

/// A program that runs, with what it says.
pub(crate) struct Running {
    child: Child,
    input: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    /// What has been heard on stderr.
    pub(crate) told: Vec<String>,
}

impl Stage {
    /// An empty home.
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            temporary: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    /// A home with a configuration.
    pub(crate) fn with(config: &Value) -> Self {
        let stage = Self::new();
        stage.write("mcpr.json", &format!("{config:#}"));
        stage
    }

    /// A home with these demo servers.
    pub(crate) fn serving(names: &[&str]) -> Self {
        let server = |name: &&str| ((*name).to_owned(), demo_server(name));
        let servers: serde_json::Map<_, _> = names.iter().map(server).collect();
        Self::with(&json!({ "mcpServers": servers }))
    }

    /// Sets a variable for the program.
    pub(crate) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Writes a file into the home.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// A path in the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The names of what is in the home.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.home.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// All that is in the log files.
    pub(crate) fn logs(&self) -> String {
        let files = fs::read_dir(self.path("logs"))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files.map(|file| fs::read_to_string(file).unwrap()).collect()
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_in("", words)
    }

    /// Runs the program to its end in a folder of the home.
    pub(crate) fn run_in(&self, folder: &str, words: &[&str]) -> Ran {
        let mut command = self.command(words);
        let command = command.stdin(Stdio::null()).current_dir(self.path(folder));
        let output = command.output().unwrap();
        Ran {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap(),
            home: self.home.path().display().to_string(),
            typed: words.join(" "),
        }
    }

    /// Starts the program.
    pub(crate) fn start(&self, words: &[&str]) -> Running {
        Running::new(self.command(words).spawn().unwrap())
    }

    /// Starts the program with these variables.
    pub(crate) fn start_with(&self, words: &[&str], variables: &[(&str, &str)]) -> Running {
        Running::new(
            self.command(words)
                .envs(variables.iter().copied())
                .spawn()
                .unwrap(),
        )
    }

    /// Starts the program with a file of this mode in place of standard error; gives its path too.
    pub(crate) fn start_into_file(&self, mode: u32, words: &[&str]) -> (Running, PathBuf) {
        let path = self.path("err.log");
        let file = File::create(&path).unwrap();
        file.set_permissions(Permissions::from_mode(mode)).unwrap();
        let child = self.command(words).stderr(file).spawn().unwrap();
        (Running::new(child), path)
    }

    /// Starts a command in whose place the program comes, with all that it gets otherwise.
    pub(crate) fn start_under(&self, outer: &[&str], words: &[&str]) -> Running {
        self.start_reading(Stdio::piped(), outer, words)
    }

    /// Starts the program as systemd does that passes it a socket. The shell gets the socket as its input, so that it
    /// is open nowhere but in descriptor 3, neither in the program nor in what another test starts meanwhile.
    pub(crate) fn start_passing(&self, socket: OwnedFd, name: &str, words: &[&str]) -> Running {
        let passing = format!(
            "exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES={name}; exec \"$@\""
        );
        self.start_reading(socket.into(), &["bash", "-c", &passing, "bash"], words)
    }

    fn start_reading(&self, input: Stdio, outer: &[&str], words: &[&str]) -> Running {
        let mut command = Command::new(outer[0]);
        let inner = self.command(words);
        command.args(&outer[1..]).arg(program()).args(words);
        command.env_clear().current_dir(self.home.path());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::new(command.spawn().unwrap())
    }

    /// Starts a gateway on a free port and waits until its servers are known to be up or down.
    pub(crate) fn serve(&self) -> Running {
        let mut gateway = self.start(&["serve", "--port", "0"]);
        gateway.hears("; `mcpr-ctl status` shows more");
        until("the lists are complete", || {
            is_complete(&self.path("ctl.sock")).then_some(())
        });
        gateway
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program());
        let kept = std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "LLVM_PROFILE_FILE");
        command.args(words).env_clear().envs(kept);
        command
            .env("MCPR_HOME", self.home.path())
            .env("HOME", self.home.path());
        command.env("TMPDIR", self.temporary.path());
        command
            .envs(self.variables.iter().cloned())
            .current_dir(self.home.path());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// The program under test.
pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_mcpr-gateway")
}

/// The entry of a demo server.
pub(crate) fn demo_server(name: &str) -> Value {
    json!({ "command": program(), "args": ["__demo-server", name] })
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!(
            "$ mcpr-gateway {}\n{}{}exit {}",
            self.typed, self.stdout, self.stderr, self.code
        );
        f.write_str(&text.replace(&self.home, "[HOME]").replace(program(), "[PROGRAM]"))
    }
}

impl Running {
    fn new(mut child: Child) -> Self {
        let input = child.stdin.take();
        let stdout = lines(child.stdout.take().unwrap());
        let stderr = child.stderr.take().map_or_else(|| channel().1, lines);
        Self {
            child,
            input,
            stdout,
            stderr,
            told: Vec::new(),
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line on stderr that holds this, unless there was one.
    pub(crate) fn hears(&mut self, part: &str) -> String {
        let end = Instant::now() + PATIENCE;
        if let Some(line) = self.told.iter().find(|line| line.contains(part)) {
            return line.clone();
        }
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.stderr.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("`{part}` is not said:\n{}", self.told.join("\n")));
            self.told.push(line.clone());
            if line.contains(part) {
                return line;
            }
        }
    }

    /// The word that follows `mark` in what was heard.
    pub(crate) fn word(&self, mark: &str) -> String {
        let text = self.told.join("\n");
        let from = text
            .find(mark)
            .unwrap_or_else(|| panic!("no `{mark}` in:\n{text}"));
        text[from..]
            .split([' ', '"', '\'', '\n'])
            .next()
            .unwrap()
            .to_owned()
    }

    /// The port that it says it listens on.
    pub(crate) fn port(&self) -> u16 {
        let url = self.word("http://127.0.0.1:");
        url.trim_start_matches("http://127.0.0.1:")
            .trim_end_matches("/mcp")
            .parse()
            .unwrap()
    }

    /// The first token that it shows.
    pub(crate) fn token(&self) -> String {
        self.word("mcpr_pat_")
    }

    /// Writes a line to its standard input.
    pub(crate) fn says(&mut self, line: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line of its standard output, which must be JSON.
    pub(crate) fn answers(&self) -> Value {
        let line = self.stdout.recv_timeout(PATIENCE).expect("a line of output");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Waits for the answer to a request; what comes before is left out.
    pub(crate) fn answers_to(&self, id: u64) -> Value {
        self.answers_with("id", id)
    }

    /// Waits for a message with this member; what comes before is left out.
    pub(crate) fn answers_with(&self, member: &str, value: impl Into<Value>) -> Value {
        let value = value.into();
        loop {
            let message = self.answers();
            if message[member] == value {
                return message;
            }
        }
    }

    /// Closes its standard input.
    pub(crate) fn leave(&mut self) {
        self.input = None;
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        let status = until("it ends", || self.child.try_wait().unwrap());
        self.told.extend(self.stderr.iter());
        status
    }

    /// Waits for its end by itself; gives its exit code.
    pub(crate) fn exit_code(&mut self) -> i32 {
        let status = self.ends();
        assert_eq!(status.signal(), None, "{}", self.told.join("\n"));
        status.code().unwrap()
    }

    /// What is left on its standard output, when it has ended.
    pub(crate) fn rest(&self) -> Vec<String> {
        self.stdout.iter().collect()
    }

    /// The processes that it has started.
    pub(crate) fn children(&self) -> Vec<u32> {
        processes()
            .filter(|(_, parent)| *parent == self.pid())
            .map(|(pid, _)| pid)
            .collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until none of these processes is left.
pub(crate) fn await_none(pids: &[u32]) {
    let gone = || !processes().any(|(pid, _)| pids.contains(&pid));
    until("the children are gone", || gone().then_some(()));
}

/// Waits until something is there: outside of this process nobody says when.
pub(crate) fn until<T>(what: &str, mut there: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(there) = there() {
            return there;
        }
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that a process has started or inherited, dead ones that nobody has buried included.
pub(crate) fn offspring(parent: u32) -> Vec<(u32, String)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let read = |stat: String| {
        let (pid, rest) = stat.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let its_parent: u32 = rest.split(' ').nth(1)?.parse().ok()?;
        (its_parent == parent).then_some((pid.parse().ok()?, name.to_owned()))
    };
    stats.filter_map(read).collect()
}

/// All processes that run, with their parents.
fn processes() -> impl Iterator<Item = (u32, u32)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| parent(&entry.path()))
}

/// The process and its parent, unless it is dead and only waited for (proc(5)).
fn parent(process: &Path) -> Option<(u32, u32)> {
    let pid = process.file_name()?.to_str()?.parse().ok()?;
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let (state, rest) = stat.rsplit_once(") ")?.1.split_once(' ')?;
    (state != "Z").then_some((pid, rest.split(' ').next()?.parse().ok()?))
}

fn lines(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
