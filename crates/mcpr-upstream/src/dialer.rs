//! Opening real connections: child processes and URLs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpr_registry::ServerName;
use mcpr_transport::child::env::compose;
use mcpr_transport::child::resolve::resolve;
use mcpr_transport::child::{ChildSpec, EnvPolicy, EnvValue, Guardian, NotFound};
use mcpr_transport::http::client::{Limits, Proxies, Streamable, Target};
use mcpr_transport::http::old_sse::OldSse;
use mcpr_transport::stdio::Stdio;
use mcpr_transport::{Event, Failed, FailedKind, Transport};
use tokio::sync::mpsc;

use crate::dial::{Dial, Dialled, Signs, Wire};
use crate::spec::{HttpSpec, Reach, StdioSpec, UpstreamSpec};

/// Starts child processes and connects to URLs.
#[derive(Clone, Debug)]
pub struct Dialer {
    /// Ends the children of a gateway that is killed.
    pub guardian: Guardian,
    /// The longest message a server may send, in bytes.
    pub message_max: usize,
    /// The proxies that stand before servers elsewhere.
    pub proxies: Proxies,
}

impl Default for Dialer {
    /// Without a guardian: the children of a killed process are left to the system's own means.
    /// With the proxies of the environment.
    fn default() -> Self {
        Self {
            guardian: Guardian::none(),
            message_max: 16 << 20,
            proxies: Proxies::from_env(),
        }
    }
}

#[async_trait]
impl Dial for Dialer {
    async fn dial(&self, server: &ServerName, spec: &UpstreamSpec, wire: Wire) -> Result<Dialled, Failed> {
        match (&spec.reach, wire) {
            (Reach::Stdio(stdio), _) => self.spawn(server, stdio).await,
            (Reach::Http(http), Wire::Usual) => {
                let (transport, events) = Streamable::new(&self.target(http)?, self.limits());
                Ok(dialled(transport, events))
            }
            (Reach::Native, _) => {
                let detail = "this program has no tools of its own";
                Err(Failed::unsent(FailedKind::Unreachable, detail))
            }
            (Reach::Http(http), Wire::OldSse) => {
                let (transport, events) = OldSse::connect(&self.target(http)?, self.limits()).await?;
                Ok(dialled(transport, events))
            }
        }
    }
}

impl Dialer {
    async fn spawn(&self, server: &ServerName, spec: &StdioSpec) -> Result<Dialled, Failed> {
        let spec = ChildSpec {
            args: spec.args.clone(),
            env: own_variables(spec),
            env_policy: policy(spec),
            cwd: spec.cwd.clone(),
            line_max: self.message_max,
            ..ChildSpec::new(server.as_str(), &spec.command)
        };
        let spawned = Stdio::spawn(&spec, &self.guardian).await;
        let (transport, events) =
            spawned.map_err(|error| Failed::unsent(FailedKind::Unreachable, chain(&error)))?;
        Ok(Dialled {
            signs: Some(transport.clone()),
            ..dialled(transport, events)
        })
    }

    fn target(&self, spec: &HttpSpec) -> Result<Target, Failed> {
        let headers = spec
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.reveal()));
        let target = Target::new(spec.url.reveal(), headers);
        let target = target.and_then(|target| target.through(&self.proxies));
        target.map_err(|error| Failed::unsent(FailedKind::Unreachable, error))
    }

    fn limits(&self) -> Limits {
        Limits {
            body: self.message_max,
            event: self.message_max,
            ..Limits::default()
        }
    }
}

impl StdioSpec {
    /// The program that starting it from here would run.
    ///
    /// # Errors
    ///
    /// When there is none; the error says where it was looked for.
    pub fn program(&self) -> Result<PathBuf, NotFound> {
        let variables = compose(std::env::vars_os(), policy(self), &own_variables(self));
        let path = variables.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let folder = std::path::absolute(self.cwd.as_deref().unwrap_or(Path::new("."))).unwrap_or_default();
        resolve(&self.command, &path, None, &folder)
    }
}

fn own_variables(spec: &StdioSpec) -> Vec<(String, EnvValue)> {
    let variables = spec.env.iter();
    variables
        .map(|(name, value)| (name.clone(), EnvValue::new(value.reveal())))
        .collect()
}

fn policy(spec: &StdioSpec) -> EnvPolicy {
    if spec.inherit_env {
        EnvPolicy::Inherit
    } else {
        EnvPolicy::Clean
    }
}

fn dialled(transport: Arc<dyn Transport>, events: mpsc::Receiver<Event>) -> Dialled {
    Dialled {
        transport,
        events,
        signs: None,
    }
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl Signs for Stdio {
    fn has_spoken(&self) -> bool {
        Stdio::has_spoken(self)
    }

    fn cpu_time(&self) -> Option<Duration> {
        group_cpu_time(Stdio::pid(self))
    }

    fn pid(&self) -> Option<u32> {
        Stdio::pid(self).try_into().ok()
    }

    fn last_words(&self) -> String {
        Stdio::last_words(self)
    }
}

/// The CPU time of all processes of a group, where `/proc` tells.
fn group_cpu_time(group: i32) -> Option<Duration> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let stats = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let ticks: u64 = stats.filter_map(|stat| ticks_in_group(&stat, group)).sum();
    Some(Duration::from_millis(ticks * 10)) // USER_HZ is 100 wherever Linux runs today.
}

/// User and system time in a line of `/proc/PID/stat`, if the process is of the group (proc(5)).
fn ticks_in_group(stat: &str, group: i32) -> Option<u64> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let of_group = fields.get(2)?.parse() == Ok(group);
    let time = |index: usize| fields.get(index)?.parse::<u64>().ok();
    of_group.then(|| Some(time(11)? + time(12)?)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_process_is_read_whatever_its_name() {
        let stat = "42 (a) b)) S 1 7 7 0 -1 4194560 1 0 0 0 30 12 0 0 20 0 1 0 5 0 0";
        assert_eq!(ticks_in_group(stat, 7), Some(42));
        assert_eq!(ticks_in_group(stat, 8), None);
    }
}
