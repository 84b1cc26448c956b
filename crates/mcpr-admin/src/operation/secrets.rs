//! Secrets that servers are given. Their values go in, and never come out.

use serde::{Deserialize, Serialize};

use crate::Secret;
use crate::words::words;

/// Asks for the secrets that are kept or that servers ask for; never for their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListSecrets {}

/// Secrets, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretList {
    /// The secrets.
    pub secrets: Vec<SecretReport>,
}

/// Keeps a secret, in place of the one of that name. Servers that use it are started anew with it, and no
/// others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetSecret {
    /// Its name, as in `${secret:NAME}`.
    pub name: String,
    /// Its value.
    pub value: Secret,
}

/// Forgets a secret; the output is what becomes of its name. Servers that use it are then misconfigured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveSecret {
    /// Its name.
    pub name: String,
}

/// What is known of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretReport {
    /// Its name.
    pub name: String,
    /// Where its value comes from.
    pub state: SecretState,
    /// When it was set, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// The servers whose entries ask for it.
    #[serde(default)]
    pub used_by: Vec<String>,
}

/// Where the value of a secret comes from; the first of these that has it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretState {
    /// The credentials that systemd hands to the gateway.
    Credential,
    /// It was set, and is kept encrypted.
    Set,
    /// A file in the folder `secrets` beside the user's configuration.
    File,
    /// A server asks for it and there is none.
    Unset,
}

words!(SecretState { Credential = "credential", Set = "set", File = "file", Unset = "unset" });
