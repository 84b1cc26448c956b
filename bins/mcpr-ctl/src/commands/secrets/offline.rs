//! Stands in for the gateway while none is running, for the file of secrets.

use std::path::Path;

use mcpr_admin::{ListSecrets, Operation, RemoveSecret, SecretList, SecretReport, SecretState, SetSecret};
use mcpr_auth::Timestamp;
use mcpr_config::{Config, Locations, Process, SecretPlace, SecretUse, Vault, servers};

use crate::cli::Global;
use crate::connect::locations;
use crate::problem::Problem;
use crate::suggest;

/// The file of secrets, and the configuration that asks for them.
pub(super) struct Offline {
    locations: Locations,
    vault: Vault,
}

/// Can carry out an operation without a gateway.
pub(super) trait CarryOut<O: Operation> {
    /// Carries it out, as a gateway would.
    fn carry_out(&self, operation: O) -> Result<O::Output, Problem>;
}

impl Offline {
    pub(super) fn new(global: &Global) -> Result<Self, Problem> {
        let locations = locations(global)?;
        let vault = Vault::at(&locations.paths.secrets);
        Ok(Self { locations, vault })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.vault.path()
    }

    /// What is known of all secrets. A configuration that cannot be read asks for none.
    fn all(&self) -> Result<Vec<SecretUse>, Problem> {
        let config = Config::load(&self.locations, &Process).ok();
        let servers = config.map(|config| servers(config.servers)).unwrap_or_default();
        Ok(SecretUse::all(&servers, &self.locations.secrets, &Process)?)
    }

    fn one(&self, name: String) -> Result<SecretReport, Problem> {
        Ok(report(SecretUse::one(self.all()?, name)))
    }
}

impl CarryOut<ListSecrets> for Offline {
    fn carry_out(&self, _: ListSecrets) -> Result<SecretList, Problem> {
        Ok(SecretList {
            secrets: self.all()?.into_iter().map(report).collect(),
        })
    }
}

impl CarryOut<SetSecret> for Offline {
    fn carry_out(&self, asked: SetSecret) -> Result<SecretReport, Problem> {
        let now = Timestamp::now().unix();
        self.vault.set(&asked.name, asked.value.reveal(), now)?;
        self.one(asked.name)
    }
}

impl CarryOut<RemoveSecret> for Offline {
    fn carry_out(&self, asked: RemoveSecret) -> Result<SecretReport, Problem> {
        if !self.vault.remove(&asked.name)? {
            let problem = Problem::not_found(format!("no secret `{}` is kept", asked.name));
            let kept = self.vault.list()?;
            let near = suggest::near(&asked.name, kept.iter().map(|kept| kept.name.as_str()));
            return Err(problem.hint(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`mcpr-ctl secrets ls` shows all".to_owned(),
            }));
        }
        self.one(asked.name)
    }
}

fn report(uses: SecretUse) -> SecretReport {
    SecretReport {
        name: uses.name,
        state: match uses.place {
            Some(SecretPlace::Credential) => SecretState::Credential,
            Some(SecretPlace::Kept) => SecretState::Set,
            Some(SecretPlace::File) => SecretState::File,
            None => SecretState::Unset,
        },
        changed: uses.changed.map(|at| Timestamp::from_unix(at).to_string()),
        used_by: uses.used_by,
    }
}
