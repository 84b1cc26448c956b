//! A gateway as users start it: a process of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::client::{Session, Stateless};
use crate::gateway::{Builder, FILE, configuration};
use crate::http::{Connection, Request};
use crate::{Brood, Footprint, binary, wait_until, zombies_of};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A gateway that runs as a process. It is killed when dropped.
#[derive(Debug)]
pub struct Program {
    /// Where it listens, on loopback, in each of its lives.
    pub port: u16,
    /// A token that may do everything.
    pub token: String,
    home: Arc<tempfile::TempDir>,
    brood: Brood,
    variables: Vec<(String, String)>,
    child: Mutex<Option<Child>>,
}

impl Builder {
    /// Lays out a gateway that is to run as a process, marked as one of `brood`; [`Program::launch`] starts it.
    pub async fn program(self, brood: &Brood) -> Program {
        let (home, port) = self.laid_out();
        let mut program = Program {
            port,
            token: String::new(),
            home,
            brood: brood.clone(),
            variables: Vec::new(),
            child: Mutex::default(),
        };
        let made = program
            .ctl(&["tokens", "create", "--name", "test", "--scope", "admin"])
            .await;
        program.token = made["secret"].as_str().expect("a secret").to_owned();
        program
    }
}

impl Program {
    /// Has this variable too, as has `mcpr-ctl`.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The folder with its files.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Starts the process.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn launch(&self) {
        self.launch_with(&[], &[]);
    }

    /// Starts the process with these variables beside the usual ones, and these flags.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn launch_with(&self, variables: &[(&str, &str)], flags: &[&str]) {
        let stderr = File::options()
            .create(true)
            .append(true)
            .open(self.home.path().join("stderr"))
            .expect("a file for stderr");
        self.spawn(stderr.into(), variables, flags);
    }

    /// Starts the process with these flags, and this as its stderr.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn launch_onto(&self, stderr: Stdio, flags: &[&str]) {
        self.spawn(stderr, &[], flags);
    }

    fn spawn(&self, stderr: Stdio, variables: &[(&str, &str)], flags: &[&str]) {
        let mut command = self.command("mcpr-gateway");
        command
            .args(["serve", "--port", &self.port.to_string()])
            .envs(variables.iter().copied())
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr);
        *self.child.lock() = Some(command.spawn().expect("the gateway starts"));
    }

    /// Waits until it takes connections.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub async fn listening(&self) {
        let end = Instant::now() + PATIENCE;
        while Connection::try_open(self.port).await.is_err() {
            assert!(Instant::now() < end, "it does not listen: {}", self.complaints());
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Starts the process, and waits until no server is starting any more.
    pub async fn run(&self) {
        self.run_with(&[]).await;
    }

    /// The same with these variables beside the usual ones.
    pub async fn run_with(&self, variables: &[(&str, &str)]) {
        self.launch_with(variables, &[]);
        self.listening().await;
        self.await_servers(|servers| servers.iter().all(is_settled)).await;
    }

    /// Its process id.
    ///
    /// # Panics
    ///
    /// When it does not run.
    pub fn pid(&self) -> u32 {
        let child = self.child.lock();
        child.as_ref().and_then(Child::id).expect("the gateway runs")
    }

    /// What its process holds.
    pub fn footprint(&self) -> Footprint {
        Footprint::of(self.pid())
    }

    /// Waits until exactly so many of its processes run, itself and its guardian among them, and it has
    /// buried all others.
    ///
    /// # Panics
    ///
    /// When that does not come.
    pub async fn is_tidy(&self, count: usize) {
        let end = Instant::now() + PATIENCE;
        loop {
            let (running, dead) = (self.brood.processes(), zombies_of(self.pid()));
            if running.len() == count && dead.is_empty() {
                return;
            }
            let names: Vec<_> = running.iter().map(|pid| command_line(*pid)).collect();
            assert!(
                Instant::now() < end,
                "not {count} processes run but {names:#?}, and {dead:?} are not buried: {}",
                self.complaints()
            );
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Asks it to end, and waits for that.
    ///
    /// # Panics
    ///
    /// When it does not end.
    pub async fn terminate(&self) -> ExitStatus {
        self.signal("TERM");
        self.ended().await
    }

    /// Kills it.
    pub async fn kill(&self) {
        self.signal("KILL");
        self.ended().await;
    }

    /// Sends it a signal.
    ///
    /// # Panics
    ///
    /// When it does not run.
    pub fn signal(&self, name: &str) {
        assert!(signal(name, self.pid()), "the gateway hears SIG{name}");
    }

    /// Runs `mcpr-ctl` on it, and gives what it prints.
    ///
    /// # Panics
    ///
    /// When that fails.
    pub async fn ctl(&self, words: &[&str]) -> Value {
        let mut command = self.command("mcpr-ctl");
        let output = command.args(words).arg("--json").output().await;
        let output = output.expect("mcpr-ctl runs");
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
    }

    /// Runs `mcpr-ctl` on it with this standard input and these variables beside the usual ones.
    ///
    /// # Panics
    ///
    /// When it cannot be run.
    pub async fn ctl_with(&self, words: &[&str], input: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = self.command("mcpr-ctl");
        command.args(words).envs(variables.iter().copied());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("mcpr-ctl runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        // One that does not read is no concern here.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        child.wait_with_output().await.expect("it ends")
    }

    /// Runs `mcpr-ctl` on it, and gives its exit code and all that it prints.
    ///
    /// # Panics
    ///
    /// When it cannot be run.
    pub async fn told(&self, words: &[&str]) -> (i32, String) {
        let mut command = self.command("mcpr-ctl");
        let output = command.args(words).output().await.expect("mcpr-ctl runs");
        let text = [output.stdout, output.stderr].concat();
        let code = output.status.code().expect("it ends by itself");
        (code, String::from_utf8_lossy(&text).into_owned())
    }

    /// Carries out an operation of the admin API.
    pub async fn operate(&self, path: &str, body: &Value) -> Value {
        let request = Request::post(&format!("/admin/v1/{path}"), body.to_string());
        request.token(&self.token).send(self.port).await.message()
    }

    /// Waits until what it says of its servers fits, and gives that.
    ///
    /// # Panics
    ///
    /// When it never does.
    pub async fn await_servers(&self, fits: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut listed = self.operate("servers/list", &json!({})).await;
            let servers: Vec<Value> =
                serde_json::from_value(listed["servers"].take()).expect("a list of servers");
            if fits(&servers) {
                return servers;
            }
            assert!(Instant::now() < end, "the servers stay so: {servers:?}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until a server fits, and gives it.
    pub async fn await_server(&self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let named = |servers: &[Value]| servers.iter().find(|server| server["name"] == name).cloned();
        let servers = self.await_servers(|servers| named(servers).is_some_and(|server| fits(&server)));
        named(&servers.await).expect("it was there")
    }

    /// Waits until a server is ready, and gives it.
    pub async fn ready(&self, name: &str) -> Value {
        self.await_server(name, |server| server["state"] == "ok").await
    }

    /// The text of its configuration file with these servers.
    pub fn configuration(&self, servers: &[(&str, Value)], own: &Value) -> String {
        let servers: Vec<_> = servers
            .iter()
            .map(|(name, entry)| ((*name).to_owned(), entry.clone()))
            .collect();
        configuration(&servers, own)
    }

    /// The path of its configuration file.
    pub fn file(&self) -> PathBuf {
        self.home.path().join(FILE)
    }

    /// A client of the newest revision with a session.
    pub async fn client(&self) -> Session {
        Session::open(self.port, &self.token, "2025-11-25").await
    }

    /// A stateless client.
    pub fn stateless(&self) -> Stateless {
        Stateless {
            port: self.port,
            token: self.token.clone(),
        }
    }

    /// Waits until it has said this on stderr.
    pub async fn says(&self, part: &str) {
        let what = format!("`{part}` on stderr");
        wait_until(PATIENCE, &what, || self.complaints().contains(part).then_some(())).await;
    }

    /// What it has written to stderr so far, in all its lives.
    pub fn complaints(&self) -> String {
        std::fs::read_to_string(self.home.path().join("stderr")).unwrap_or_default()
    }

    async fn ended(&self) -> ExitStatus {
        let child = self.child.lock().take();
        let mut child = child.expect("the gateway runs");
        let status = timeout(PATIENCE, child.wait()).await.expect("it ends");
        status.expect("it can be waited for")
    }

    /// One of mcpr's programs, with nothing of the environment that could be meant for others.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(binary(name));
        let (variable, mark) = self.brood.variable();
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("MCPR_HOME", self.home.path())
            .env(variable, mark)
            .envs(self.variables.iter().cloned())
            .kill_on_drop(true);
        command
    }
}

/// Sends a signal to a process; false if there is none.
pub fn signal(name: &str, pid: u32) -> bool {
    let sent = std::process::Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .stderr(Stdio::null())
        .status();
    sent.is_ok_and(|status| status.success())
}

/// What a process was started with.
fn command_line(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    format!("{pid}: {}", String::from_utf8_lossy(&line).replace('\0', " "))
}

fn is_settled(server: &Value) -> bool {
    !matches!(server["state"].as_str(), Some("starting" | "stale"))
}
