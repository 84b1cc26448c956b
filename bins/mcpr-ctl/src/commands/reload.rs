//! The configuration, read again.

use mcpr_admin::{ExitCode, Reload, Reloaded};

use crate::connect::Gateway;
use crate::out::Out;
use crate::out::facts::{facts, joined};
use crate::out::look::Look;
use crate::out::phrase::counted;
use crate::problem::Problem;

/// `reload`
pub(super) async fn reload(gateway: &Gateway, out: &Out) -> Result<ExitCode, Problem> {
    let reloaded = gateway.ask(&Reload {}).await?;
    out.report(&reloaded, page)?;
    Ok(ExitCode::Ok)
}

fn page(reloaded: &Reloaded, _: &Look) -> String {
    let files = joined(&reloaded.files).unwrap_or_else(|| "no file".to_owned());
    let warnings: String = reloaded
        .warnings
        .iter()
        .map(|warning| format!("  warning: {warning}\n"))
        .collect();
    let facts = facts([
        ("added", joined(&reloaded.added)),
        ("removed", joined(&reloaded.removed)),
        ("changed", joined(&reloaded.changed)),
        ("unchanged", Some(counted(reloaded.unchanged, "server"))),
        ("after a restart", joined(&reloaded.needs_restart)),
    ]);
    format!("read {files}\n{facts}{warnings}")
}
