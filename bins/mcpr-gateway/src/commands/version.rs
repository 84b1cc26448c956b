//! `version`

use mcpr_admin::ExitCode;
use mcpr_protocol::Version;
use serde_json::json;

use crate::out;
use crate::problem::Problem;

/// Shows the version; to scripts also the revisions of the protocol.
pub(super) fn run(json: bool) -> Result<ExitCode, Problem> {
    let version = env!("CARGO_PKG_VERSION");
    let protocols = Version::ALL.map(Version::as_str);
    let text = if json {
        json!({ "version": version, "protocols": protocols }).to_string()
    } else {
        format!("mcpr-gateway {version}")
    };
    out::data(&format!("{text}\n"))?;
    Ok(ExitCode::Ok)
}
