//! `connect`

use std::env;
use std::time::Duration;

use mcpr_admin::ExitCode;
use mcpr_config::clients::endpoint;
use mcpr_config::{Locations, Process};
use mcpr_core::front::bridge;
use mcpr_telemetry::{Level, Options};
use mcpr_transport::http::client::{Limits, Link, Proxies, Target};
use tokio::io::{stdin, stdout};
use tokio::runtime::Builder;
use tokio::time::timeout;

use crate::cli::Connect;
use crate::log;
use crate::problem::Problem;
use crate::signals::Signals;

/// The endpoint of a gateway.
const PATH: &str = "/mcp";

/// How long a gateway may take to say whether it lets anybody in.
const KNOCK: Duration = Duration::from_secs(30);

/// Connects standard input and output to a running gateway.
pub(super) fn run(args: &Connect) -> Result<ExitCode, Problem> {
    let target = target(args)?;
    let level = env::var("MCPR_LOG_LEVEL")
        .ok()
        .and_then(|level| level.parse().ok());
    let _telemetry = log::begin(Options {
        level: level.unwrap_or(Level::Warn),
        stdio_mode: true,
        ..Options::default()
    })?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(connect(&target));
    // A read of standard input cannot be called off.
    runtime.shutdown_background();
    ended
}

async fn connect(target: &Target) -> Result<ExitCode, Problem> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        ended = bridged(target) => ended?,
        _ = signals.end() => {}
    }
    Ok(ExitCode::Ok)
}

async fn bridged(target: &Target) -> Result<(), Problem> {
    let link = Link::new(target, Limits::default());
    let knocked = timeout(KNOCK, bridge::knock(&link)).await;
    knocked
        .map_err(|_| silent(target))?
        .map_err(|refused| not_let_in(refused, target))?;
    Ok(bridge::serve(link, stdin(), stdout()).await?)
}

fn silent(target: &Target) -> Problem {
    Problem::new(ExitCode::TimedOut, format!("{target} does not answer"))
        .hint("see how that gateway is doing with `mcpr-ctl status`, or say where another one is with --url")
}

fn not_let_in(refused: bridge::Refused, target: &Target) -> Problem {
    let hint = match &refused {
        bridge::Refused::Denied(_) => "put a token of that gateway into MCPR_TOKEN".to_owned(),
        bridge::Refused::NotRunning(_) => {
            "start one with `mcpr-gateway`, or say where it is with --url".to_owned()
        }
        _ => format!("`mcpr-gateway` shows the right URL when it starts; {target} was asked"),
    };
    Problem::from(refused).hint(hint)
}

fn target(args: &Connect) -> Result<Target, Problem> {
    let token = env::var("MCPR_TOKEN").ok();
    // A file that it was read from may have ended with a line end.
    let token = token.as_deref().map(str::trim).filter(|token| !token.is_empty());
    let bearer = token.map(|token| format!("Bearer {token}"));
    let authorization = bearer.as_deref().map(|bearer| ("Authorization", bearer));
    let project = args.project.as_deref().map(|project| ("X-MCPR-Project", project));
    let toolset = args.toolset.as_deref().map(|toolset| ("X-MCPR-Toolset", toolset));
    let headers = authorization.into_iter().chain(project).chain(toolset);
    Ok(match &args.url {
        Some(url) => Target::new(&endpoint(url), headers)?.through(&Proxies::from_env())?,
        None => Target::local(&Locations::from_env(&[], &Process)?.paths.socket, PATH, headers)?,
    })
}
