//! `demo`

mod home;
mod tour;

use std::env;
use std::path::Path;
use std::time::Duration;

use mcpr_admin::ExitCode;
use mcpr_config::{Locations, Paths, Process, SecretFolders, Sources};
use mcpr_core::front::http::Door;
use serde_json::json;

use self::home::Home;
use self::tour::{Tour, ctl};
use super::serve::keep_running;
use crate::cli::Demo;
use crate::demo_server::Which;
use crate::doors::{self, Doors};
use crate::host::Host;
use crate::manager::Manager;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::{log, out, summary, welcome};

/// How long its token is good, where its home stays.
const TOKEN_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// Runs a gateway with three servers of its own.
///
/// It has a home of its own that goes with it, so that it never touches the user's; with
/// `MCPR_HOME` that folder is its home, and only the configuration is the demo's.
pub(super) fn run(args: &Demo) -> Result<ExitCode, Problem> {
    let home = Home::make()?;
    let locations = locations(&home)?;
    let mut settings = Settings::read(locations, &Process, &args.overrides(), args.log.file())?;
    settings.memory = args.log.memory();
    let network = doors::network(&settings.config.gateway, Vec::new())?;
    let doors = Doors::take(&settings.config.gateway, network, &settings.paths, Door::Tokens)?;
    let telemetry = log::start(&settings, false)?;
    let url = doors.url();
    let place = settings
        .paths
        .socket
        .parent()
        .unwrap_or(Path::new("/"))
        .to_owned();
    out::say(&summary::head(&url, &settings, telemetry.log_path()));
    keep_running(
        settings,
        doors,
        &telemetry,
        &Manager::default(),
        async |host: &Host| {
            summary::servers(host).await;
            match welcome::make(host, "demo", Some(TOKEN_LIFE)).await {
                Ok(secret) => {
                    let tour = Tour {
                        url: &url,
                        token: secret.reveal(),
                        home: &place,
                        stays: has_home(),
                        ctl: ctl(),
                    };
                    out::tell(tour.text()).await;
                }
                Err(failure) => tracing::error!(reason = failure.message, "no token could be made"),
            }
        },
    )
}

fn locations(home: &Home) -> Result<Locations, Problem> {
    let file = home.write("mcpr.json", &configuration(&env::current_exe()?))?;
    if has_home() {
        return Ok(Locations::from_env(&[file], &Process)?);
    }
    let secrets = SecretFolders::default();
    Ok(Locations {
        sources: Sources::Named(vec![file]),
        paths: Paths::under(home.path()),
        secrets,
    })
}

/// Whether it was given a home that stays.
fn has_home() -> bool {
    env::var_os("MCPR_HOME").is_some_and(|chosen| !chosen.is_empty())
}

/// A configuration like any other: each server is a command.
fn configuration(program: &Path) -> String {
    let server = |which: Which| {
        (
            which.name().to_owned(),
            json!({ "command": program, "args": ["__demo-server", which.name()] }),
        )
    };
    let servers: serde_json::Map<_, _> = Which::ALL.into_iter().map(server).collect();
    format!("{:#}\n", json!({ "mcpServers": servers }))
}
