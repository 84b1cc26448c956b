//! `serve`

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcpr_admin::ExitCode;
use mcpr_core::front::http::{self, Door};
use mcpr_telemetry::{Format, Telemetry, fatal};
use mcpr_transport::http::server::{Bound, Options};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::claim::Claim;
use crate::cli::Serve;
use crate::doors::{self, Doors};
use crate::host::{Host, SERVERS_GRACE, runtime};
use crate::manager::{Manager, Notice};
use crate::problem::{Problem, chain};
use crate::settings::Settings;
use crate::signals::{Reload, Signals};
use crate::{log, memory, orphans, out, summary, welcome};

/// How long the operator's door may take to close.
const LEAVE: Duration = Duration::from_millis(1500);

/// Serves clients over HTTP until it is told to stop.
pub(super) fn run(args: &Serve, mut manager: Manager) -> Result<ExitCode, Problem> {
    let mut settings = Settings::load(&args.files.config, &args.overrides(), args.log.file())?;
    settings.memory = args.log.memory();
    let network = doors::network(&settings.config.gateway, manager.sockets())?;
    let door = door(args.no_auth, network.iter().filter_map(Bound::local_addr))?;
    let doors = Doors::take(&settings.config.gateway, network, &settings.paths, door)?;
    let telemetry = log::start(&settings, false)?;
    let url = doors.url();
    // Who wants JSON on stderr wants nothing else there, but a token is shown once or never.
    let talks = settings.config.gateway.log.format != Some(Format::Json);
    let head = summary::head(&url, &settings, telemetry.log_path());
    keep_running(settings, doors, &telemetry, &manager, async |host: &Host| {
        if door == Door::Tokens {
            welcome::first_token(host, &url).await;
        }
        if talks {
            out::tell(head).await;
            summary::servers(host).await;
        }
    })
}

/// Whom the network's door lets in.
fn door(no_auth: bool, mut listen: impl Iterator<Item = SocketAddr>) -> Result<Door, Problem> {
    if !no_auth {
        return Ok(Door::Tokens);
    }
    let Some(outside) = listen.find(|address| !address.ip().is_loopback()) else {
        return Ok(Door::Open);
    };
    let what = format!(
        "--no-auth serves whoever can reach the address, and {} can be reached from outside",
        outside.ip()
    );
    Err(Problem::new(ExitCode::Usage, what)
        .hint("listen on 127.0.0.1, or leave it out and give each client a token"))
}

/// Runs a gateway behind these doors until it is told to stop; `greet` talks to people meanwhile.
pub(super) fn keep_running(
    mut settings: Settings,
    doors: Doors,
    telemetry: &Arc<Telemetry>,
    manager: &Manager,
    greet: impl AsyncFnOnce(&Host),
) -> Result<ExitCode, Problem> {
    let runtime = runtime()?;
    let tracer = log::tracer();
    settings.tracer = tracer.clone();
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = live(settings, doors, telemetry, manager, greet) => ended,
            () = manager.keep_calm() => Ok(ExitCode::Ok), // That has no end.
        }
    });
    if let Err(problem) = &ended {
        fatal!(reason = problem.message, "the gateway ends");
    }
    // What is still at work after all was given its time is not waited for.
    runtime.shutdown_background();
    tracer.shut_down();
    ended
}

async fn live(
    settings: Settings,
    doors: Doors,
    telemetry: &Telemetry,
    manager: &Manager,
    greet: impl AsyncFnOnce(&Host),
) -> Result<ExitCode, Problem> {
    let reloads = settings.origin.is_some();
    let mut signals = match reloads {
        true => Signals::listen()?,
        false => Signals::with_hangup()?,
    };
    let reload = Reload::listen()?;
    let (url, urls) = (doors.url(), doors.urls());
    let memory = settings.memory;
    let host = tokio::select! {
        host = Host::start(settings, telemetry, urls) => host?,
        _ = signals.end() => return Ok(ExitCode::Ok),
    };
    if doors.operators == Door::Guarded {
        welcome::lacks_operators(&host).await;
    }
    let mut fronts = Fronts::open(&host, doors);
    tracing::info!(url, "listening");
    manager.tell(Notice::Ready("starting servers"));
    let lost = tokio::select! {
        lost = fronts.lost() => Some(lost),
        signal = signals.end() => {
            tracing::info!(reason = signal, "stopping");
            None
        }
        () = host.gateway.stopping() => None,
        () = reload.obey(&host.gateway, manager), if reloads => None,
        () = for_ever(summary::tell(&host, manager)) => None,
        () = for_ever(host.gateway.follow_files()) => None,
        () = for_ever(greet(&host)) => None,
        () = for_ever(orphans::bury(&host.guardian)) => None,
        () = for_ever(memory::tell(memory)) => None,
    };
    manager.tell(Notice::Stopping);
    tokio::select! {
        () = fronts.close(&host) => {}
        signal = signals.end() => {
            tracing::warn!(reason = signal, "asked again: ending at once");
            return Ok(ExitCode::Interrupted);
        }
    }
    lost.map_or(Ok(ExitCode::Ok), Err)
}

/// Does something, and then waits for the others.
pub(super) async fn for_ever(work: impl Future<Output = ()>) {
    work.await;
    std::future::pending().await
}

/// What serves clients and the operator.
struct Fronts {
    network: JoinSet<io::Result<()>>,
    control: JoinSet<io::Result<()>>,
    _claim: Claim,
}

impl Fronts {
    fn open(host: &Host, doors: Doors) -> Self {
        let Doors {
            network,
            control,
            door,
            operators,
            options,
            tls,
            claim,
        } = doors;
        let secured = Options {
            tls,
            ..options.clone()
        };
        let mut fronts = Self {
            network: JoinSet::new(),
            control: JoinSet::new(),
            _claim: claim,
        };
        for bound in network {
            let serving = http::serve(host.gateway.clone(), bound, door, secured.clone());
            fronts.network.spawn(serving);
        }
        match control {
            Ok(control) => {
                fronts
                    .control
                    .spawn(http::serve(host.gateway.clone(), control, operators, options));
            }
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "mcpr-ctl cannot reach this gateway"
            ),
        }
        fronts
    }

    /// Waits until clients are no longer served although nobody wanted that.
    async fn lost(&mut self) -> Problem {
        match self.network.join_next().await {
            Some(Ok(Err(error))) => Problem::new(
                ExitCode::Failed,
                format!("the address cannot be served: {}", chain(&error)),
            ),
            // An orderly end comes with the gateway's, and that is seen elsewhere.
            Some(Ok(Ok(()))) | None => std::future::pending().await,
            Some(Err(error)) => Problem::failed(&error),
        }
    }

    /// Closes the doors, lets the last answers out while the servers end, and takes leave of the
    /// operator last.
    async fn close(&mut self, host: &Host) {
        host.wind_down().await;
        tokio::join!(gone(&mut self.network), host.shut_down_within(SERVERS_GRACE));
        // An end that took too long is not told of there.
        let _ = timeout(LEAVE, gone(&mut self.control)).await;
    }
}

async fn gone(fronts: &mut JoinSet<io::Result<()>>) {
    while fronts.join_next().await.is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_03_only_loopback_goes_without_tokens() {
        let door = |no_auth, listen: &[&str]| {
            let addresses = listen.iter().map(|address| address.parse().unwrap());
            door(no_auth, addresses).map_err(|problem| problem.exit)
        };

        assert_eq!(door(true, &["127.0.0.1:1"]), Ok(Door::Open));
        assert_eq!(door(true, &["[::1]:1", "127.0.0.1:1"]), Ok(Door::Open));
        assert_eq!(door(true, &["0.0.0.0:1"]), Err(ExitCode::Usage));
        assert_eq!(door(true, &["127.0.0.1:1", "[::]:1"]), Err(ExitCode::Usage));
        assert_eq!(door(false, &["0.0.0.0:1"]), Ok(Door::Tokens));
    }
}
