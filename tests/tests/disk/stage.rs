//! A gateway whose home is a small disk of its own.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use mcpr_tests::client::Stateless;
use mcpr_tests::http::{Answer, Connection, Request};
use mcpr_tests::{Fake, binary, free_port, signal, wait_for, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Has a program see mounts of its own, which it may make.
const APART: [&str; 3] = ["--user", "--map-root-user", "--mount"];

/// Makes the disk, puts what was laid out on it, and becomes the gateway.
const MOUNT: &str = r#"mount -t tmpfs -o "size=$SIZE" none "$MCPR_HOME" && cp -a "$SEED"/. "$MCPR_HOME" && { $THEN 2>/dev/null || true; } && exec "$@""#;

/// A home and what is laid out for it.
pub(crate) struct Stage {
    /// What is on the disk at first.
    seed: TempDir,
    /// Where the disk is mounted, and nothing for all others.
    home: TempDir,
    /// What the gateway says.
    outside: TempDir,
    /// Its one server.
    fake: Fake,
    pub(crate) port: u16,
    /// A token that may do everything.
    pub(crate) token: String,
    size: String,
    /// What is done to the disk before the gateway starts.
    then: String,
    variables: Vec<(String, String)>,
    child: Option<Child>,
}

impl Stage {
    /// A disk of this size, such as `2m`.
    pub(crate) async fn of(size: &str) -> Self {
        assert_may_mount().await;
        let folder = || tempfile::tempdir().unwrap();
        let mut stage = Self {
            seed: folder(),
            home: folder(),
            outside: folder(),
            fake: Fake::script().with(r#"{"env_tool":true}"#).stdio(),
            port: free_port(),
            token: String::new(),
            size: size.to_owned(),
            then: "true".to_owned(),
            variables: Vec::new(),
            child: None,
        };
        stage.configure(json!({}));
        let made = stage
            .outside_ctl(&["tokens", "create", "--name", "test", "--scope", "admin"])
            .await;
        stage.token = made["secret"].as_str().unwrap().to_owned();
        stage
    }

    /// Lays out a configuration with this as what the gateway is told of itself.
    pub(crate) fn configure(&self, mut own: Value) {
        if own["builtins"].is_null() {
            own["builtins"] = json!(false);
        }
        let file = json!({ "mcpServers": { "a": self.fake.entry() }, "mcpr": own });
        fs::write(self.seeded("mcpr.json"), file.to_string()).unwrap();
    }

    /// A path of what is laid out.
    pub(crate) fn seeded(&self, name: &str) -> PathBuf {
        self.seed.path().join(name)
    }

    /// Has a command be run on the disk before the gateway starts.
    pub(crate) fn then(mut self, command: &str) -> Self {
        command.clone_into(&mut self.then);
        self
    }

    /// Sets a variable of the gateway.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs `mcpr-ctl` on what is laid out, before the start.
    pub(crate) async fn outside_ctl(&self, words: &[&str]) -> Value {
        let mut command = self.ctl_in(self.seed.path());
        let output = command.args(words).arg("--json").output().await.unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Has a gateway run on what is laid out, and end as it should.
    pub(crate) async fn ran_before(self) -> Self {
        let mut command = Command::new(binary("mcpr-gateway"));
        command
            .args(["serve", "--port", &self.port.to_string(), "--log-file", "off"])
            .env("MCPR_HOME", self.seed.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        self.serves().await;
        assert!(signal("TERM", child.id().unwrap()));
        assert!(child.wait().await.unwrap().success());
        self
    }

    /// Starts the gateway.
    pub(crate) fn launch(&mut self) {
        let stderr = File::options()
            .create(true)
            .append(true)
            .open(self.outside.path().join("stderr"))
            .unwrap();
        let mut command = Command::new("unshare");
        command
            .args(APART)
            .args(["sh", "-c", MOUNT, "sh"])
            .arg(binary("mcpr-gateway"))
            .args(["serve", "--port", &self.port.to_string()])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("MCPR_HOME", self.home.path())
            .env("HOME", self.home.path())
            .env("SEED", self.seed.path())
            .env("SIZE", &self.size)
            .env(
                "THEN",
                self.then.replace("HOME", &self.home.path().display().to_string()),
            )
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .kill_on_drop(true);
        self.child = Some(command.spawn().unwrap());
    }

    /// Starts the gateway and waits until its server is ready.
    pub(crate) async fn run(mut self) -> Self {
        self.launch();
        self.serves().await;
        wait_for(PATIENCE, "a server that is ready", async || {
            let list = self.operate("servers/list", json!({})).await.message();
            (list["servers"][0]["state"] == "ok").then_some(())
        })
        .await;
        self
    }

    /// Waits until it answers: connections are taken before that.
    async fn serves(&self) {
        let end = Instant::now() + PATIENCE;
        let ask = Request::post("/admin/v1/status", "{}").token(&self.token);
        while Connection::try_open(self.port).await.is_err() || ask.try_send(self.port).await.is_none() {
            assert!(Instant::now() < end, "it does not answer: {}", self.said());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the gateway has ended by itself, and gives how.
    pub(crate) async fn ended(&mut self) -> Option<i32> {
        let child = self.child.as_mut().unwrap();
        let ended = tokio::time::timeout(PATIENCE, child.wait()).await;
        ended.expect("it ends").unwrap().code()
    }

    /// A path on the disk, as the gateway sees it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let pid = self.pid();
        let home = self.home.path().strip_prefix("/").unwrap();
        Path::new(&format!("/proc/{pid}/root")).join(home).join(name)
    }

    /// Writes until there is no room left.
    pub(crate) fn fill(&self) {
        let mut ballast = File::create(self.path("ballast")).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while ballast.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// Makes room again.
    pub(crate) fn make_room(&self) {
        fs::remove_file(self.path("ballast")).unwrap();
    }

    /// Runs `mcpr-ctl` where the gateway is.
    pub(crate) async fn ctl(&self, words: &[&str]) -> Output {
        let mut command = self.inside(binary("mcpr-ctl").to_str().unwrap());
        command.args(words).env("MCPR_HOME", self.home.path());
        command.output().await.unwrap()
    }

    /// Does this to the database behind mcpr's back.
    pub(crate) async fn meddle(&self, statement: &str) {
        let program = "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2]).fetchall()";
        let mut command = self.inside("python3");
        command
            .args(["-c", program])
            .arg(self.home.path().join("mcpr.db"))
            .arg(statement);
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Carries out an operation of the admin API.
    pub(crate) async fn operate(&self, path: &str, body: Value) -> Answer {
        let request = Request::post(&format!("/admin/v1/{path}"), body.to_string());
        request.token(&self.token).send(self.port).await
    }

    /// Whether a call is answered as ever.
    pub(crate) async fn calls_work(&self) -> bool {
        let answer = self.client().call("a_echo", r#"{"text":"hi"}"#).await;
        answer["result"].is_object()
    }

    /// A client that asks in no session.
    pub(crate) fn client(&self) -> Stateless {
        Stateless {
            port: self.port,
            token: self.token.clone(),
        }
    }

    /// Waits until the gateway has said this.
    pub(crate) async fn says(&self, part: &str) {
        wait_until(PATIENCE, &format!("`{part}` on stderr"), || {
            self.said().contains(part).then_some(())
        })
        .await;
    }

    /// Has call after call be answered until the gateway has said this.
    pub(crate) async fn says_while_called(&self, part: &str) {
        wait_for(PATIENCE, &format!("`{part}` on stderr"), async || {
            assert!(self.calls_work().await);
            self.said().contains(part).then_some(())
        })
        .await;
    }

    /// What the gateway has said so far.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.outside.path().join("stderr")).unwrap_or_default()
    }

    /// Takes what is on the disk as what is laid out, kills the gateway and starts another with that.
    pub(crate) async fn killed_and_run_again(mut self) -> Self {
        // It does nothing more from here on: the disk goes with it.
        assert!(signal("STOP", self.pid()));
        let kept = Command::new("cp")
            .args(["-a", &format!("{}/.", self.path("").display())])
            .arg(self.seed.path())
            .status();
        assert!(kept.await.unwrap().success());
        let mut child = self.child.take().unwrap();
        child.kill().await.unwrap();
        let _ = fs::remove_file(self.seeded("ballast"));
        let _ = fs::remove_file(self.seeded("ctl.sock"));
        self.run().await
    }

    fn pid(&self) -> u32 {
        self.child.as_ref().and_then(Child::id).expect("it runs")
    }

    /// A command that sees the disk.
    fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args([
                "--target",
                &self.pid().to_string(),
                "--user",
                "--mount",
                "--preserve-credentials",
            ])
            .arg(program)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    fn ctl_in(&self, home: &Path) -> Command {
        let mut command = Command::new(binary("mcpr-ctl"));
        command.env_clear().env("MCPR_HOME", home);
        command
    }
}

/// Fails where nobody may have a disk of his own, and says what to do about it.
async fn assert_may_mount() {
    let mut command = Command::new("unshare");
    command.args(APART).args(["mount", "-t", "tmpfs", "none", "/mnt"]);
    let tried = command
        .output()
        .await
        .expect("`unshare` is there: install util-linux");
    let told = String::from_utf8_lossy(&tried.stderr);
    assert!(
        tried.status.success(),
        "these tests need user namespaces with a mount in them: {told}On Ubuntu 23.10 and newer `sudo sysctl -w \
         kernel.apparmor_restrict_unprivileged_userns=0` allows them, on older Debians \
         `kernel.unprivileged_userns_clone=1`; a container must be allowed to mount"
    );
}
