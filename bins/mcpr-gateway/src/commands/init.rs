//! `init`

mod ask;
mod report;
mod sources;

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mcpr_admin::ExitCode;
use mcpr_config::clients::{Known, Plan, endpoint_of};
use mcpr_config::{Config, ConfigError, DEFAULT_PORT, Document, Fault, Locations, Process, WriteError};
use mcpr_protocol::RawJson;

use self::report::{Report, Written};
use self::sources::Sources;
use crate::cli::Init;
use crate::out;
use crate::problem::Problem;

/// For its owner alone: what clients had to themselves is nobody else's business here either.
const PRIVATE: u32 = 0o600;

/// Takes the servers of clients over into a configuration of mcpr's own.
pub(super) fn run(args: &Init) -> Result<ExitCode, Problem> {
    let output = output(args)?;
    let mut sources = Sources::look(args, &output)?;
    let known = Known::read(&output, &Process)
        .map_err(|fault| invalid(fault).hint("mend it, or name another file with --output"))?;
    let plan = Plan::of(
        std::mem::take(&mut sources.found),
        &known,
        args.force,
        &endpoints(&output),
    );
    let mut report = Report {
        output: &output,
        sources: &sources,
        plan: &plan,
        written: Written::Nothing,
        told: false,
    };
    if sources.are_empty() {
        report.show(args.json)?;
        return Ok(ExitCode::NotFound);
    }
    report.written = decide(args, &mut report)?;
    if report.written == Written::Done {
        write(&output, &plan)?;
    }
    report.show(args.json)?;
    Ok(if sources.faults().next().is_some() {
        ExitCode::Partly
    } else {
        ExitCode::Ok
    })
}

/// The file that is written: the user's unless another one is named.
fn output(args: &Init) -> Result<PathBuf, Problem> {
    match &args.output {
        Some(file) => Ok(std::path::absolute(file)?),
        None => Ok(Locations::from_env(&[], &Process)?.paths.config),
    }
}

/// Whether to write: nobody who could be asked means no.
fn decide(args: &Init, report: &mut Report<'_>) -> Result<Written, Problem> {
    if report.plan.taken.is_empty() {
        return Ok(Written::Nothing);
    }
    if args.dry_run {
        return Ok(Written::Dry);
    }
    if args.yes {
        return Ok(Written::Done);
    }
    if args.json || !ask::is_anybody_there() {
        return Ok(Written::Unasked);
    }
    out::say(report.plan_for_people().trim_end());
    report.told = true;
    match ask::yes(&format!("write {}?", report.output.display()))? {
        true => Ok(Written::Done),
        false => Ok(Written::Declined),
    }
}

/// The URLs of mcpr itself: where it listens by default, and where its file says.
fn endpoints(output: &Path) -> Vec<String> {
    let usual = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, DEFAULT_PORT));
    let configured = Config::from_files(&[output.to_owned()], &Process);
    let configured = configured.ok().map(|config| config.gateway.listen);
    [Some(usual), configured]
        .into_iter()
        .flatten()
        .map(endpoint_of)
        .collect()
}

/// Writes the servers into the file, with everything else in it as it was.
fn write(output: &Path, plan: &Plan) -> Result<(), Problem> {
    let mut document = Document::open(output, &Process)?;
    for (name, entry) in plan.entries() {
        let entry = RawJson::parse(entry.json_line().into()).expect("a value is written as JSON");
        document.set_server(name, &entry).map_err(invalid)?;
    }
    match output.parent() {
        _ if output.exists() => fs::set_permissions(output, Permissions::from_mode(PRIVATE))?,
        Some(folder) => DirBuilder::new().recursive(true).mode(0o700).create(folder)?,
        None => {}
    }
    document.write()?;
    Ok(())
}

fn invalid(fault: Fault) -> Problem {
    ConfigError::from(fault).into()
}

impl From<WriteError> for Problem {
    fn from(error: WriteError) -> Self {
        Self::failed(&error)
    }
}
