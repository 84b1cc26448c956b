//! What systemd and a gateway say to each other, and the units that are shipped.

use std::collections::HashMap;
use std::fs;
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::http::ask;
use crate::stage::{Running, Stage, program, until};

/// The service manager's ear.
struct Ear(UnixDatagram);

impl Ear {
    fn of(stage: &Stage) -> Self {
        let ear = UnixDatagram::bind(stage.path("notify")).unwrap();
        ear.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self(ear)
    }

    /// The lines of the next message.
    fn next(&self) -> Vec<String> {
        let mut buffer = [0; 4096];
        let length = self.0.recv(&mut buffer).expect("a message in time");
        let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits for a message with this line, and gives all of its lines.
    fn hears(&self, wanted: &str) -> Vec<String> {
        loop {
            let lines = self.next();
            if lines.iter().any(|line| line == wanted) {
                return lines;
            }
        }
    }
}

/// A server that writes down its variables, all that the gateway lets through.
fn curious(stage: &Stage) -> Value {
    let file = stage.path("env");
    let script = format!("env > {}; exec {} __demo-server calc", file.display(), program());
    json!({ "command": "sh", "args": ["-c", script], "mcpr": { "env": "inherit" } })
}

fn with_curious() -> Stage {
    let stage = Stage::new();
    let file = json!({ "mcpServers": { "calc": curious(&stage) }, "mcpr": { "listen": "127.0.0.1:0" } });
    stage.write("mcpr.json", &file.to_string());
    stage
}

fn variables_of_the_server(stage: &Stage) -> String {
    until("the server has written its variables", || {
        fs::read_to_string(stage.path("env"))
            .ok()
            .filter(|text| text.contains("MCPR_DEPTH="))
    })
}

/// Starts a gateway that gets `listener` as systemd passes it.
fn activated(stage: &Stage, listener: &TcpListener, words: &[&str]) -> Running {
    stage.start_passing(listener.try_clone().unwrap().into(), "mcp", words)
}

#[test]
fn systemd_hears_of_the_start_a_reload_and_the_end() {
    let stage = with_curious();
    let ear = Ear::of(&stage);
    let notify = stage.path("notify").display().to_string();
    let mut gateway = stage.start_with(&["serve"], &[("NOTIFY_SOCKET", &notify)]);

    let ready = ear.hears("READY=1");
    assert!(ready.iter().any(|line| line.starts_with("STATUS=")), "{ready:?}");
    gateway.hears("listening on http://");
    let (status, _) = ask(gateway.port(), None, "tools/list", json!({}));
    assert_eq!(status, 401, "it is ready: it answers");
    ear.hears("STATUS=4 tools, 1 of 1 server ready; `mcpr-ctl status` shows more");

    gateway.signal(Signal::HUP);
    let reloading = ear.hears("RELOADING=1");
    assert!(
        reloading.iter().any(|line| line.starts_with("MONOTONIC_USEC=")),
        "{reloading:?}"
    );
    ear.hears("READY=1");

    gateway.signal(Signal::TERM);
    ear.hears("STOPPING=1");
    assert_eq!(gateway.exit_code(), 0);
    assert!(!variables_of_the_server(&stage).contains("NOTIFY_SOCKET"));
}

#[test]
fn systemd_hears_signs_of_life_as_often_as_it_wants_them() {
    let stage = with_curious();
    let ear = Ear::of(&stage);
    let notify = stage.path("notify").display().to_string();
    let began = Instant::now();
    let wanted = [("NOTIFY_SOCKET", &*notify), ("WATCHDOG_USEC", "200000")];
    let _gateway = stage.start_with(&["serve"], &wanted);

    for _ in 0..5 {
        ear.hears("WATCHDOG=1");
    }

    assert!(
        began.elapsed() >= Duration::from_millis(400),
        "no oftener than that"
    );
    assert!(!variables_of_the_server(&stage).contains("WATCHDOG"));
}

#[test]
fn systemd_passes_the_address_and_no_server_gets_it() {
    let stage = with_curious();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let inode = fs::read_link(format!("/proc/self/fd/{}", listener.as_raw_fd())).unwrap();
    // `--port` does not count: the address is there already.
    let mut gateway = activated(&stage, &listener, &["serve", "--port", "1"]);

    gateway.hears("; `mcpr-ctl status` shows more");

    assert_eq!(gateway.port(), port);
    let (status, answer) = ask(port, Some(&gateway.token()), "tools/list", json!({}));
    assert_eq!(status, 200, "{answer}");
    assert!(!variables_of_the_server(&stage).contains("LISTEN_"));
    let has_it = |entry: fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|link| link == inode);
    let holds =
        |child: &u32| fs::read_dir(format!("/proc/{child}/fd")).is_ok_and(|open| open.flatten().any(has_it));
    until("no server has the socket", || {
        (!gateway.children().iter().any(holds)).then_some(())
    });
    drop(gateway);
    assert!(
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok(),
        "whoever connects meanwhile waits"
    );
}

#[test]
fn what_systemd_passes_must_listen_and_only_loopback_goes_without_tokens() {
    let stage = with_curious();
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let mut open = activated(&stage, &everywhere, &["serve", "--no-auth"]);
    assert_eq!(open.exit_code(), 2);
    open.hears("can be reached from outside");

    let datagrams = UnixDatagram::bind(stage.path("d")).unwrap();
    let mut odd = stage.start_passing(datagrams.into(), "odd", &["serve"]);
    assert_eq!(odd.exit_code(), 1);
    odd.hears("the socket `odd` that the service manager passes does not listen");
}

/// The settings of a shipped unit; a later line wins over an earlier one.
fn unit(name: &str) -> HashMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/deploy/systemd");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.starts_with(['#', '[']) && !line.is_empty());
    lines
        .map(|line| {
            line.split_once('=')
                .unwrap_or_else(|| panic!("no setting: {line}"))
        })
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn the_shipped_units_have_what_the_gateway_needs_and_no_more() {
    let service = unit("mcpr.service");
    for (key, value) in [
        ("Type", "notify-reload"),
        ("NotifyAccess", "main"),
        ("KillMode", "mixed"),
        ("Restart", "on-failure"),
        ("RestartPreventExitStatus", "2 7"),
        ("WatchdogSec", "30s"),
        ("DynamicUser", "yes"),
        ("StateDirectory", "mcpr"),
        ("ConfigurationDirectory", "mcpr"),
        ("RuntimeDirectory", "mcpr"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateDevices", "yes"),
        ("RestrictNamespaces", "yes"),
        ("SystemCallFilter", "@system-service"),
    ] {
        assert_eq!(service.get(key).map(String::as_str), Some(value), "{key}");
    }
    let stop = service["TimeoutStopSec"]
        .trim_end_matches('s')
        .parse::<u64>()
        .unwrap();
    assert!(stop > 8, "the usual end is never cut short");
    let socket = unit("mcpr.socket");
    assert_eq!(socket["ListenStream"], "127.0.0.1:3282");
    assert!(!socket.contains_key("Accept"));
}

#[test]
fn the_command_of_the_shipped_service_starts_a_gateway() {
    let stage = with_curious();
    let ear = Ear::of(&stage);
    let notify = stage.path("notify").display().to_string();
    let command = unit("mcpr.service")["ExecStart"].clone();
    let words: Vec<&str> = command.split(' ').skip(1).collect();

    let _gateway = stage.start_with(&words, &[("NOTIFY_SOCKET", &notify)]);

    ear.hears("READY=1");
}
