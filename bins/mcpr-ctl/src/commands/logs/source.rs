//! Where the log is: the running gateway says it; without one it is that of the last run.

use std::net::IpAddr;
use std::path::PathBuf;

use mcpr_admin::{ClientError, Status};
use mcpr_config::{Config, LogFile, Process};

use super::tail::Tail;
use crate::cli::Global;
use crate::connect::{Gateway, locations, paths};
use crate::occupant::absence;
use crate::out::Out;
use crate::problem::Problem;

/// Whose log is read.
#[derive(Debug)]
pub(super) struct Source<'a> {
    global: &'a Global,
    gateway: Gateway,
    /// Whether no gateway was running at first.
    offline: bool,
}

impl<'a> Source<'a> {
    /// Finds the log.
    pub(super) async fn find(global: &'a Global, out: &Out) -> Result<(Self, PathBuf), Problem> {
        if global.gateway.as_deref().is_some_and(|url| !is_here(url)) {
            let problem = Problem::failed("the log of a gateway on another machine cannot be read from here");
            return Err(problem.hint("run `mcpr-ctl logs` there; `mcpr-ctl status` tells which file it is"));
        }
        let gateway = Gateway::locate(global)?;
        let (path, offline) = match gateway.ask(&Status {}).await {
            Ok(status) => (status.log_file.map(PathBuf::from).ok_or_else(unlogged)?, false),
            Err(ClientError::NotRunning { .. }) if global.gateway.is_none() && global.socket.is_none() => {
                (last_run(global)?, true)
            }
            Err(error) => return Err(error.into()),
        };
        if offline {
            out.note(&format!(
                "{}; this is the last log, {}",
                absence(&paths(global)?),
                path.display()
            ));
        }
        Ok((
            Self {
                global,
                gateway,
                offline,
            },
            path,
        ))
    }

    /// The gateway, which may not run.
    pub(super) fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Opens a log.
    pub(super) fn open(&self, path: PathBuf) -> Result<Tail, Problem> {
        Tail::open(&path).map_err(|error| {
            let problem = Problem::failed(format!("the log {} cannot be read: {error}", path.display()));
            problem.hint("run mcpr-ctl on the machine of the gateway, as the user that it runs as")
        })
    }

    /// The file in which the log goes on, if that is another one than before.
    pub(super) async fn next(&self, tail: &Tail) -> Option<Tail> {
        let now = match self.gateway.ask(&Status {}).await {
            Ok(status) => status.log_file.map(PathBuf::from),
            Err(_) if self.offline => last_run(self.global).ok(),
            Err(_) => None,
        };
        match now.filter(|now| now != tail.path()) {
            Some(other) => Tail::open(&other).ok(),
            None if tail.is_replaced() => Tail::open(tail.path()).ok(),
            None => None,
        }
    }
}

/// The file of the last run: the one that the configuration names, else the newest in the folder.
fn last_run(global: &Global) -> Result<PathBuf, Problem> {
    let locations = locations(global)?;
    // A configuration that is not valid names no file; the last run may have had another one.
    let configured = Config::load(&locations, &Process)
        .ok()
        .map(|config| config.gateway.log.file);
    if let Some(LogFile::At(path)) =
        configured.filter(|file| matches!(file, LogFile::At(path) if path.exists()))
    {
        return Ok(path);
    }
    let folder = locations.paths.logs;
    let newest = mcpr_telemetry::last_run(&folder).ok().flatten();
    newest.ok_or_else(|| {
        let problem = Problem::not_found(format!("there is no log in {}", folder.display()));
        problem.hint("a gateway writes one when it runs; start one with `mcpr-gateway`")
    })
}

fn unlogged() -> Problem {
    let problem = Problem::failed("the gateway writes no log file, only to its standard error");
    problem.hint("start it with `--log-file auto`, or set log.file to \"auto\"")
}

/// Whether a URL leads to this machine.
fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next(),
        None => authority.split(':').next(),
    };
    let host = host.unwrap_or_default();
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_is_here_if_its_address_is() {
        let here = [
            "http://127.0.0.1:3282/mcp",
            "http://localhost",
            "http://[::1]:3282",
        ];
        let elsewhere = [
            "http://box:3282/mcp",
            "http://10.0.0.1",
            "http://localhost.example/",
            "http://[fe80::1]",
        ];

        assert!(here.into_iter().all(is_here));
        assert!(!elsewhere.into_iter().any(is_here));
    }
}
