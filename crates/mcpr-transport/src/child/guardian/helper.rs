//! The guardian process itself.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::super::herd::Herd;

/// What the gateway has told.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wards {
    run: String,
    groups: BTreeSet<i32>,
}

/// How long the children may take to end before they are killed.
const GRACE: Duration = Duration::from_secs(1);

/// Does the work of a guardian process, and returns when it is done.
///
/// Reads from `told` what there is to watch. When that ends, which is when the gateway has died or
/// has closed it, sends SIGTERM to every process group that is left and to every process that
/// carries the mark of the gateway's run, and SIGKILL a second later to those that are still there.
pub fn run(told: impl BufRead) {
    let wards = told
        .lines()
        .map_while(Result::ok)
        .fold(Wards::default(), Wards::hear);
    let herd = wards.herd();
    herd.terminate();
    herd.end(Instant::now() + GRACE, |step| {
        thread::sleep(step);
        false
    });
}

impl Wards {
    /// Takes one line: `run ID`, `+GROUP` or `-GROUP`.
    fn hear(mut self, line: String) -> Self {
        let group = |text: &str| text.parse().ok().filter(|group| *group > 1);
        if let Some(run) = line.strip_prefix("run ") {
            run.clone_into(&mut self.run);
        } else if let Some(entered) = line.strip_prefix('+').and_then(group) {
            self.groups.insert(entered);
        } else if let Some(left) = line.strip_prefix('-').and_then(group) {
            self.groups.remove(&left);
        }
        self
    }

    fn herd(self) -> Herd {
        let groups = self.groups.into_iter().filter_map(Pid::from_raw).collect();
        Herd {
            groups,
            mark: self.run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_and_go() {
        let lines = ["run a1", "+10", "+11", "-10", "nonsense", "+1", "+x", "-99"];
        let wards = lines
            .map(str::to_owned)
            .into_iter()
            .fold(Wards::default(), Wards::hear);
        assert_eq!(
            wards,
            Wards {
                run: "a1".into(),
                groups: [11].into()
            }
        );
    }
}
