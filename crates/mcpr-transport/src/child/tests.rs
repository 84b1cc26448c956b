//! Stories with real processes.

mod ending;
mod environment;
mod killed;
mod streams;

use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::unix::pipe::{OpenOptions, Receiver};
use tokio::time::timeout;

use super::*;

/// Longer than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(20);

/// Does not wait between the steps of a stop.
const AT_ONCE: Grace = Grace {
    input: Duration::ZERO,
    term: Duration::ZERO,
};

/// A named pipe that processes hold open for writing, as long as they live, and say `up` on.
struct Presence {
    _folder: TempDir,
    path: PathBuf,
    lines: LineReader<Receiver>,
}

impl Presence {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("presence");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let lines = LineReader::new(OpenOptions::new().open_receiver(&path).unwrap());
        Self {
            _folder: folder,
            path,
            lines,
        }
    }

    /// The script with the pipe open as descriptor 9 and `UP` for saying `up` on it.
    fn script(&self, script: &str) -> String {
        format!(
            "exec 9>'{}'; {}",
            self.path.display(),
            script.replace("UP", "echo up >&9")
        )
    }

    /// Waits until so many processes have said `up`.
    async fn all_up(&mut self, count: usize) {
        for _ in 0..count {
            let line = soon(self.lines.next()).await.unwrap();
            assert_eq!(line, Some(text("up")));
        }
    }

    /// Waits until no process has the pipe open any more.
    async fn all_gone(&mut self) {
        assert_eq!(soon(self.lines.next()).await.unwrap(), None);
    }
}

/// A server that is a shell script.
fn sh(script: impl Into<String>) -> ChildSpec {
    ChildSpec {
        args: vec!["-c".into(), script.into()],
        ..ChildSpec::new("test", "sh")
    }
}

fn python(script: &str) -> ChildSpec {
    ChildSpec {
        args: vec!["-c".into(), script.into()],
        ..ChildSpec::new("test", "python3")
    }
}

async fn start(spec: &ChildSpec) -> (Child, Stdout) {
    soon(Child::spawn(spec, &Guardian::none())).await.unwrap()
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.expect("it takes too long")
}

async fn next_line(stdout: &mut Stdout) -> Line {
    soon(stdout.next()).await.unwrap().expect("a line")
}

fn text(text: &str) -> Line {
    Line::Text(bytes::Bytes::copy_from_slice(text.as_bytes()))
}
