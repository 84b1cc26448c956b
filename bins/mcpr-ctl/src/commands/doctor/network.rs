//! The gateway itself, its port and who is let in.

use mcpr_admin::{ClientError, Target};
use mcpr_config::Config;
use mcpr_transport::http::server::{BindError, Bound, Holder};

use super::door::Door;
use super::report::Check;
use super::scene::{Running, Scene};
use crate::occupant::Occupant;
use crate::out::facts::joined;
use crate::problem::chain;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn checks(scene: &Scene) -> Vec<Check> {
    let mut checks = vec![gateway(scene)];
    match &scene.gateway {
        Ok(running) => {
            let found = [pending(running), Some(listening(running)), door(running)];
            checks.extend(found.into_iter().flatten());
        }
        Err(_) if scene.elsewhere => {}
        // It runs, so the port is its own.
        Err(ClientError::Unauthorized { .. } | ClientError::Refused(_)) => {}
        Err(_) => checks.extend(scene.config.iter().map(|config| port(scene, config))),
    }
    checks
}

/// Whether one answers, and whether it is of this version.
fn gateway(scene: &Scene) -> Check {
    const CHECK: &str = "gateway";
    match &scene.gateway {
        Ok(running) if running.status.version == VERSION => Check::ok(
            CHECK,
            format!("mcpr {VERSION} answers (pid {})", running.status.pid),
        ),
        Ok(running) => {
            let found = &running.status.version;
            Check::warning(
                CHECK,
                format!("the gateway is mcpr {found}, mcpr-ctl is {VERSION}"),
            )
            .fix("`mcpr-ctl stop`, then start `mcpr-gateway` of the same version")
        }
        Err(ClientError::NotRunning { target, .. }) => {
            if let Some(check) = unreached(scene, target) {
                return check;
            }
            let what = format!(
                "no gateway is running at {target}: how servers are doing and whether tokens are asked for was not checked"
            );
            Check::unchecked(CHECK, what).fix("start one: `mcpr-gateway`")
        }
        Err(error @ ClientError::Forbidden { .. }) => {
            Check::problem(CHECK, chain(error)).fix("run mcpr-ctl as the user that the gateway runs as")
        }
        Err(error @ ClientError::Unauthorized { .. }) => {
            Check::problem(CHECK, chain(error)).fix("put a token with the scope admin into MCPR_TOKEN")
        }
        Err(error) => Check::problem(CHECK, chain(error))
            .fix("look into the gateway's log; `mcpr-ctl stop` and `mcpr-gateway` start it anew"),
    }
}

/// That one runs here all the same, if so.
fn unreached(scene: &Scene, target: &Target) -> Option<Check> {
    let paths = &scene.locations.as_ref()?.paths;
    let is_usual = matches!(target, Target::Socket { path, .. } if *path == paths.socket);
    let occupant = Occupant::of(paths).filter(|_| is_usual)?;
    Some(Check::problem("gateway", occupant.told(paths)).fix(occupant.way_out()))
}

/// What the configuration says and the gateway does not do yet.
fn pending(running: &Running) -> Option<Check> {
    let settings = joined(&running.status.needs_restart)?;
    let what = format!("{settings} changed since the gateway started, and counts after a restart of it");
    Some(Check::warning("gateway", what).fix("`mcpr-ctl stop`, then start `mcpr-gateway` again"))
}

/// Where it listens.
fn listening(running: &Running) -> Check {
    let pid = running.status.pid;
    match &running.status.listen[..] {
        [] => Check::ok("port", format!("it serves its client on a pipe (pid {pid})")),
        listen => Check::ok("port", format!("{} is ours (pid {pid})", listen.join(", "))),
    }
}

/// Whether it asks for tokens.
fn door(running: &Running) -> Option<Check> {
    const CHECK: &str = "access";
    let listen = running.status.listen.first()?;
    Some(match running.door? {
        Door::Tokens => Check::ok(CHECK, "clients need a token"),
        Door::Open => {
            let what = "it runs with --no-auth: every program on this machine can use all tools";
            Check::warning(CHECK, what).fix("start it without --no-auth, and give each client a token")
        }
        Door::Silent => {
            let what = format!("it says that it listens at {listen}, and does not answer there");
            Check::problem(CHECK, what)
                .fix("look into the gateway's log; `mcpr-ctl stop` and `mcpr-gateway` start it anew")
        }
        Door::Unclear => Check::unchecked(
            CHECK,
            format!("what answers at {listen} does not tell whom it lets in"),
        ),
    })
}

/// Whether a gateway that starts now gets its port.
fn port(scene: &Scene, config: &Config) -> Check {
    const CHECK: &str = "port";
    let listen = config.gateway.listen;
    match Bound::tcp(listen) {
        Ok(_) => Check::ok(
            CHECK,
            format!("port {} on {} is free", listen.port(), listen.ip()),
        ),
        Err(BindError::InUse { addr, holder }) => {
            let what = format!(
                "port {} on {} is taken by {}",
                addr.port(),
                addr.ip(),
                named(&holder)
            );
            Check::problem(CHECK, what + &other_home(scene, holder.as_ref())).fix(ways_out(holder.as_ref()))
        }
        Err(error) => Check::problem(CHECK, chain(&error)).fix("mcpr-ctl config set listen 127.0.0.1:3282"),
    }
}

fn named(holder: &Option<Holder>) -> String {
    match holder {
        Some(Holder { pid, command }) => format!("`{command}` (process {pid})"),
        None => "a process that the system does not name".to_owned(),
    }
}

/// A gateway that has the port and is not the one that was looked for.
fn other_home(scene: &Scene, holder: Option<&Holder>) -> String {
    let socket = scene.locations.as_ref().map(|locations| &locations.paths.socket);
    match (holder, socket) {
        (Some(holder), Some(socket)) if holder.command.starts_with("mcpr-gateway") => {
            format!(
                ", which does not answer at {}: it may have another MCPR_HOME",
                socket.display()
            )
        }
        _ => String::new(),
    }
}

fn ways_out(holder: Option<&Holder>) -> String {
    match holder {
        Some(Holder { pid, .. }) => format!("`kill {pid}` ends it; or `mcpr-gateway --port N`"),
        None => "`mcpr-gateway --port N`, or end that process".to_owned(),
    }
}
