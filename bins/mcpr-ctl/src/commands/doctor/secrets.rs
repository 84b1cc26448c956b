//! The secrets that are kept, and those that servers ask for.

use std::path::Path;

use mcpr_config::clients::shell_word;
use mcpr_config::{Process, SecretUse, Vault};

use super::files::{mode, word};
use super::report::Check;
use super::scene::Scene;
use crate::out::phrase::counted;
use crate::problem::chain;

const CHECK: &str = "secrets";

pub(super) fn checks(scene: &Scene) -> Vec<Check> {
    let Some(locations) = &scene.locations else {
        return Vec::new();
    };
    let servers = scene.config.iter().flat_map(|config| &config.servers);
    let all = match SecretUse::all(servers, &locations.secrets, &Process) {
        Ok(all) => all,
        Err(error) => return vec![Check::problem(CHECK, chain(&error))],
    };
    let vault = Vault::at(&locations.paths.secrets);
    let shared = [vault.path(), vault.key_path()].into_iter().filter_map(shared);
    let shared: Vec<Check> = shared.collect();
    let unreadable = match shared.is_empty() {
        true => unreadable(&vault, &all),
        false => None, // Why is told already.
    };
    let unused = scene.config.is_ok();
    let each = all.iter().filter_map(|secret| judge(secret, unused));
    let checks: Vec<Check> = shared.into_iter().chain(unreadable).chain(each).collect();
    match (checks.is_empty(), all.len()) {
        (true, 0) => Vec::new(),
        (true, count) => vec![Check::ok(
            CHECK,
            format!(
                "{} that servers ask for can be read",
                counted(count as u64, "secret")
            ),
        )],
        (false, _) => checks,
    }
}

/// A file that others may read.
fn shared(path: &Path) -> Option<Check> {
    mode(path).filter(|mode| mode & 0o077 != 0)?;
    let what = format!("others may read {}", path.display());
    Some(Check::problem("permissions", what).fix(format!("chmod 600 {}", word(path))))
}

/// The first secret that is kept and cannot be read: the others most likely have the same fault.
fn unreadable(vault: &Vault, all: &[SecretUse]) -> Option<Check> {
    let mut kept = all.iter().filter(|secret| secret.changed.is_some());
    let error = kept.find_map(|secret| vault.reveal(&secret.name).err())?;
    Some(Check::problem(CHECK, chain(&error)))
}

fn judge(secret: &SecretUse, unused: bool) -> Option<Check> {
    let name = &secret.name;
    let (servers, word) = (secret.used_by.join(", "), shell_word(name));
    if secret.place.is_none() {
        let what = format!("the secret `{name}` is not set, and {servers} cannot be used without it");
        return Some(Check::problem(CHECK, what).fix(format!("mcpr-ctl secrets set {word}")));
    }
    let is_unused = unused && servers.is_empty();
    is_unused.then(|| {
        let what = format!("no server asks for the secret `{name}`");
        Check::warning(CHECK, what).fix(format!("mcpr-ctl secrets rm {word}"))
    })
}
