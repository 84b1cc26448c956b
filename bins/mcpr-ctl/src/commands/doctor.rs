//! Looks for what is wrong, and says how to mend it.
//!
//! `scene` gathers what has to be waited for, all at once; each other file judges one part of it
//! without waiting, and `report` tells.

mod beside;
mod configuration;
mod door;
mod files;
mod names;
mod network;
mod report;
mod scene;
mod secrets;
mod servers;
mod shell;
mod tokens;

use mcpr_admin::ExitCode;
use mcpr_config::Config;

use self::report::{Check, Report};
use self::scene::Scene;
use crate::cli::Global;
use crate::out::Out;
use crate::problem::Problem;

/// `doctor`
pub(super) async fn run(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let scene = Scene::gather(global).await?;
    let secrets = scene.config.as_ref().map(Config::secrets).unwrap_or_default();
    let checks = checks(&scene).await.into_iter();
    let report = Report::of(checks.map(|check| check.scrubbed(&secrets)).collect());
    out.report(&report, report::page)?;
    out.note(&report.verdict());
    Ok(report.exit(scene.config.is_err() && !scene.elsewhere))
}

/// All checks, in the order in which things depend on one another.
async fn checks(scene: &Scene) -> Vec<Check> {
    if scene.elsewhere {
        let of_gateway = [
            network::checks(scene),
            servers::of_gateway(scene),
            tokens::checks(scene),
        ];
        return of_gateway.concat();
    }
    [
        configuration::checks(scene),
        servers::checks(scene).await,
        network::checks(scene),
        names::checks(scene),
        files::checks(scene),
        secrets::checks(scene),
        tokens::checks(scene),
        beside::checks(scene),
    ]
    .concat()
}
