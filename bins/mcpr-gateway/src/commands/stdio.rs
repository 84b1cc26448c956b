//! `stdio`

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use mcpr_admin::ExitCode;
use mcpr_auth::Principal;
use mcpr_core::Asked;
use mcpr_core::front::pipe;
use mcpr_telemetry::Telemetry;
use sha2::{Digest, Sha256};
use tokio::io::{stdin, stdout};
use tokio::time::Instant;

use super::serve::for_ever;
use crate::cli::Stdio;
use crate::host::{Host, SERVERS_GRACE, runtime};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::signals::Signals;
use crate::{log, memory, orphans};

/// How long everything may take from the end of input on. The client waits, and kills after some
/// seconds; then the guardian ends what is left (B47).
const ALL: Duration = Duration::from_millis(2800);

/// Runs a whole gateway on standard input and output, until the client closes its end.
pub(super) fn run(args: &Stdio) -> Result<ExitCode, Problem> {
    let mut settings = Settings::load(&args.files.config, &args.overrides(), args.log.file())?;
    settings.memory = args.log.memory();
    let telemetry = log::start(&settings, true)?;
    let runtime = runtime()?;
    let tracer = log::tracer();
    settings.tracer = tracer.clone();
    let asked = Asked {
        project: args.project.as_deref().map(Into::into),
        toolset: args.toolset.as_deref().map(Into::into),
        ..Asked::default()
    };
    let ended = runtime.block_on(serve(settings, &telemetry, asked));
    // A read of standard input cannot be called off.
    runtime.shutdown_background();
    tracer.shut_down();
    ended
}

async fn serve(settings: Settings, telemetry: &Telemetry, asked: Asked) -> Result<ExitCode, Problem> {
    let mut signals = Signals::listen()?;
    let principal = principal(&settings.config.files);
    let memory = settings.memory;
    let host = tokio::select! {
        host = Host::start(settings, telemetry, Vec::new()) => host?,
        _ = signals.end() => return Ok(ExitCode::Ok),
    };
    let serving = pipe::serve(host.gateway.clone(), principal, asked, stdin(), stdout());
    let mut serving = pin!(serving);
    let served = tokio::select! {
        served = &mut serving => Some(served),
        signal = signals.end() => {
            tracing::info!(reason = signal, "stopping");
            None
        }
        () = host.gateway.follow_files() => None,
        () = for_ever(orphans::bury(&host.guardian)) => None,
        () = for_ever(memory::tell(memory)) => None,
    };
    let end = async {
        let Some(served) = served else {
            let (served, ()) = tokio::join!(serving, host.wind_down());
            host.shut_down_within(SERVERS_GRACE).await;
            return served;
        };
        let since = served.as_ref().map_or(Duration::ZERO, Instant::elapsed);
        host.shut_down_within(ALL.saturating_sub(since)).await;
        served
    };
    tokio::select! {
        served = end => served?,
        _ = signals.end() => return Ok(ExitCode::Interrupted),
    };
    Ok(ExitCode::Ok)
}

/// Whoever starts a gateway with the same files is the same principal.
fn principal(files: &[PathBuf]) -> Principal {
    let mut digest = Sha256::new();
    for file in files {
        let file = file.canonicalize().unwrap_or_else(|_| file.clone());
        digest.update(bytes(&file));
        digest.update([0]);
    }
    let digest: String = digest
        .finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Principal::stdio(&digest)
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_05_the_same_file_is_the_same_principal_however_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcpr.json");
        std::fs::write(&file, "{}").unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();

        let one = principal(std::slice::from_ref(&file));

        assert_eq!(one, principal(&[folder.path().join("sub/../mcpr.json")]));
        assert_ne!(one, principal(&[]));
        assert_ne!(one, principal(&[file.clone(), file]));
    }
}
