//! `tests/scripts/daily.sh`: what operators do, done by a script with `mcpr-ctl --json` and `jq`.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use mcpr_admin::{
    Client, ListProjects, ListServers, ListTokens, ListToolsets, Operation, ServerState, TokenState,
};
use mcpr_tests::{binary, wait_for, wait_until};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// A gateway of its own, as a program.
struct Stage {
    home: TempDir,
    _gateway: Child,
}

impl Stage {
    /// The demo has the server that the script works with.
    async fn demo() -> Self {
        let home = TempDir::with_prefix("daily-").unwrap();
        let gateway = Command::new(binary("mcpr-gateway"))
            .args(["demo", "--port", "0"])
            .env("MCPR_HOME", home.path())
            .env("TMPDIR", home.path())
            .kill_on_drop(true)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let stage = Self {
            home,
            _gateway: gateway.unwrap(),
        };
        stage.settled().await;
        stage
    }

    async fn settled(&self) {
        let socket = self.home.path().join("ctl.sock");
        wait_until(Duration::from_secs(30), "the control socket", || {
            socket.exists().then_some(())
        })
        .await;
        wait_for(Duration::from_secs(30), "servers that are well", async || {
            let list = self.client().run(&ListServers {}).await.ok()?;
            let well = list.servers.iter().all(|server| server.state == ServerState::Ok);
            well.then_some(())
        })
        .await;
    }

    fn client(&self) -> Client {
        Client::socket(self.home.path().join("ctl.sock"))
    }

    async fn ask<O: Operation>(&self, operation: O) -> O::Output {
        self.client().run(&operation).await.unwrap()
    }

    /// Runs the script, with these folders to look for programs in.
    async fn daily(&self, path: &str) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/daily.sh");
        let mut command = Command::new("/bin/sh");
        command
            .arg(script)
            .env_clear()
            .env("PATH", path)
            .env("MCPR_HOME", self.home.path());
        command.output().await.unwrap()
    }

    /// Whether nothing is left of what the script made.
    async fn is_tidy(&self) -> bool {
        let tokens = self.ask(ListTokens {}).await.tokens;
        let mut made = tokens.iter().filter(|token| token.name.starts_with("daily-"));
        self.ask(ListProjects {}).await.projects.is_empty()
            && self.ask(ListToolsets {}).await.toolsets.is_empty()
            && made.all(|token| token.state == TokenState::Revoked)
    }
}

/// Where programs are, `mcpr-ctl` before all others.
fn path() -> String {
    let own = binary("mcpr-ctl").parent().map(Path::to_owned).unwrap();
    let usual = std::env::var("PATH").unwrap_or_default();
    format!("{}:{usual}", own.display())
}

fn complaints(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_script_does_a_day_s_work_and_leaves_nothing_behind() {
    let stage = Stage::demo().await;

    let output = stage.daily(&path()).await;

    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.ends_with("daily: done\n"),
        "{said}{}",
        complaints(&output)
    );
    assert!(stage.is_tidy().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_script_that_fails_half_way_says_where_and_tidies_up() {
    let stage = Stage::demo().await;
    let name = "calc.multiply".to_owned();
    stage.ask(mcpr_admin::DisableTool { name }).await;

    let output = stage.daily(&path()).await;

    let said = complaints(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.starts_with("daily: \"making a toolset, with a pattern in it\" failed"),
        "{said}"
    );
    assert!(stage.is_tidy().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_01_a_script_says_what_it_lacks() {
    let stage = Stage::demo().await;
    let folder = stage.home.path().join("without-jq");
    std::fs::create_dir(&folder).unwrap();
    let linked: PathBuf = folder.join("mcpr-ctl");
    std::os::unix::fs::symlink(binary("mcpr-ctl"), linked).unwrap();

    let without_jq = complaints(&stage.daily(&folder.display().to_string()).await);
    let name = "calc".to_owned();
    stage.ask(mcpr_admin::DisableServer { name }).await;
    let without_calc = complaints(&stage.daily(&path()).await);

    assert!(without_jq.contains("jq is not in PATH"), "{without_jq}");
    assert!(
        without_calc.contains("no running server `calc`"),
        "{without_calc}"
    );
}
