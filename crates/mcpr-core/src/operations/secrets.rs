//! The secrets of servers: kept outside the database, used through the configuration.

use std::sync::Arc;

use mcpr_admin::{
    ErrorCode, Execute, Failure, ListSecrets, RemoveSecret, SecretList, SecretReport, SecretState, SetSecret,
};
use mcpr_auth::{Principal, Timestamp};
use mcpr_config::{Process, SecretPlace, SecretUse, ServerEntry, Vault, VaultError, check_secret};

use super::Operator;

impl Execute<ListSecrets, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: ListSecrets) -> Result<SecretList, Failure> {
        let secrets = self.all_secrets().await?;
        Ok(SecretList {
            secrets: secrets.into_iter().map(report).collect(),
        })
    }
}

impl Execute<SetSecret, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: SetSecret) -> Result<SecretReport, Failure> {
        let SetSecret { name, value } = asked;
        let checked = check_secret(&name, value.reveal());
        checked.map_err(|why| Failure::new(ErrorCode::Invalid, why))?;
        // Nobody can repeat it from here on, however soon a server does.
        self.gateway.secrets.add(value.reveal());
        let (vault, kept) = (self.vault()?, name.clone());
        let set = move || vault.set(&kept, value.reveal(), Timestamp::now().unix());
        blocking(set).await?;
        tracing::info!(secret = name, "an operator has set a secret");
        self.use_secrets().await?;
        self.secret(name).await
    }
}

impl Execute<RemoveSecret, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: RemoveSecret) -> Result<SecretReport, Failure> {
        let (vault, name) = (self.vault()?, asked.name.clone());
        if !blocking(move || vault.remove(&name)).await? {
            return Err(self.no_secret(&asked.name).await);
        }
        tracing::info!(secret = asked.name, "an operator has removed a secret");
        self.use_secrets().await?;
        self.secret(asked.name).await
    }
}

impl Operator {
    /// What keeps the secrets of this gateway.
    fn vault(&self) -> Result<Vault, Failure> {
        let vault = self.gateway.secret_folders.vault.as_ref();
        let none = || Failure::new(ErrorCode::Invalid, "this gateway keeps no secrets");
        vault
            .filter(|_| self.gateway.reload.is_some())
            .map(Vault::at)
            .ok_or_else(none)
    }

    async fn all_secrets(&self) -> Result<Vec<SecretUse>, Failure> {
        let (plan, folders) = (self.gateway.plan(), self.gateway.secret_folders.clone());
        let servers: Vec<Arc<ServerEntry>> = plan.entries().cloned().collect();
        blocking(move || SecretUse::all(servers.iter().map(|entry| &**entry), &folders, &Process)).await
    }

    /// What is known of a secret now; one that nobody asks for and that is not kept is unset.
    async fn secret(&self, name: String) -> Result<SecretReport, Failure> {
        Ok(report(SecretUse::one(self.all_secrets().await?, name)))
    }

    /// Has servers use what is kept now.
    async fn use_secrets(&self) -> Result<(), Failure> {
        let reloaded = self.gateway.reload().await;
        reloaded.map_err(|failure| Failure {
            message: format!(
                "the change is kept, and counts once the configuration can be read: {}",
                failure.message
            ),
            ..failure
        })?;
        self.gateway.caught_up().await;
        Ok(())
    }

    async fn no_secret(&self, name: &str) -> Failure {
        let known = self.all_secrets().await.unwrap_or_default();
        let known = known.iter().filter(|known| known.changed.is_some());
        let failure = Failure::new(ErrorCode::NotFound, format!("no secret `{name}` is kept"));
        match mcpr_registry::nearest(name, known.map(|known| known.name.as_str())) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`mcpr-ctl secrets ls` shows all"),
        }
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

/// Does what waits for the disk away from the threads that serve.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, VaultError> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    let done =
        done.map_err(|_| Failure::new(ErrorCode::Failed, "the secrets could not be read or written"))?;
    done.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        Failure::new(ErrorCode::Failed, format!("{error}{}", cause.unwrap_or_default()))
    })
}
