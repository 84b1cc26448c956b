//! Whether the files can be read, and what is odd in them.

use std::path::Path;

use mcpr_config::clients::{Known, Value};
use mcpr_config::{Config, Fault, Finding, Severity, Sources, is_written_out, looks_secret};

use super::files::{mode, word};
use super::report::Check;
use super::scene::Scene;

const CHECK: &str = "configuration";

pub(super) fn checks(scene: &Scene) -> Vec<Check> {
    match &scene.config {
        Err(error) => vec![of_fault(CHECK, &Fault::from(error), Check::problem)],
        Ok(config) => of_config(scene, config),
    }
}

fn of_config(scene: &Scene, config: &Config) -> Vec<Check> {
    let findings = config.warnings.iter().filter_map(of_finding);
    let permissions = config
        .files
        .iter()
        .zip(&scene.known)
        .filter_map(|(file, known)| permissions(file, known));
    std::iter::once(read(scene, config))
        .chain(findings)
        .chain(permissions)
        .collect()
}

/// Which files were read; without any there is a finding of its own that says so.
fn read(scene: &Scene, config: &Config) -> Check {
    let servers = match config.servers.len() {
        1 => "1 server".to_owned(),
        count => format!("{count} servers"),
    };
    let files: Vec<_> = config
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let usual = scene.locations.as_ref().map(|locations| &locations.sources);
    match (&files[..], usual) {
        ([], Some(Sources::Usual(_)) | None) => {
            Check::ok(CHECK, "there is nothing in it that could be wrong")
        }
        _ => Check::ok(
            CHECK,
            format!("the configuration has {servers}: {}", files.join(", ")),
        ),
    }
}

/// What the reader of the files has to say; that other clients cannot read something is no matter here.
fn of_finding(finding: &Finding) -> Option<Check> {
    let kind = match finding.severity {
        Severity::Note => return None,
        Severity::Warning => Check::warning,
        Severity::Error => Check::problem,
    };
    let check = of_fault(CHECK, &finding.fault, kind);
    Some(match &finding.server {
        Some(server) => check.of(server),
        None => check,
    })
}

/// A fault in a file, with its place and what to do about it.
pub(super) fn of_fault(
    check: &'static str,
    fault: &Fault,
    kind: impl Fn(&'static str, String) -> Check,
) -> Check {
    let place = fault.place.as_ref().map(|place| format!("{place}: "));
    let found = kind(check, place.unwrap_or_default() + &fault.what);
    match &fault.hint {
        Some(hint) => found.fix(hint),
        None => found.fix("`mcpr-ctl config edit` opens the file and checks it"),
    }
}

/// Whether others may change the file, or read the secrets in it.
fn permissions(file: &Path, known: &Known) -> Option<Check> {
    let mode = mode(file)?;
    let shown = file.display();
    if mode & 0o022 != 0 {
        let what = format!("others may write to {shown}, and with it start programs in your name");
        return Some(Check::problem("permissions", what).fix(format!("chmod go-w {}", word(file))));
    }
    let secret = known
        .servers()
        .find_map(|(name, server)| secret(&server.entry).map(|key| (name, key)));
    let (server, key) = secret.filter(|_| mode & 0o044 != 0)?;
    let what = format!("others may read {shown}, which has the value of {key} written out");
    let fix = format!("chmod 600 {}", word(file));
    Some(Check::problem("permissions", what).of(server).fix(fix))
}

/// The first secret that stands in an entry itself.
fn secret(entry: &Value) -> Option<String> {
    let holders = ["env", "headers"].into_iter();
    let mut members = holders.flat_map(|holder| {
        let members = entry.get(holder).map(Value::members).unwrap_or_default();
        members.iter().map(move |(key, value)| (holder, key, value))
    });
    members.find_map(|(holder, key, value)| {
        let text = value.text().filter(|text| !text.is_empty())?;
        (looks_secret(key) && is_written_out(text)).then(|| format!("{holder}.{key}"))
    })
}
