//! Finds the gateway and asks it.

use std::env;
use std::path::Path;
use std::time::Duration;

use mcpr_admin::{Client, ClientError, InvalidUrl, Operation, Relayed, Secret, Stream, Streamed, Target};
use mcpr_config::{Locations, Paths, Process};
use mcpr_protocol::RawJson;

use crate::cli::Global;
use crate::problem::Problem;

/// The gateway that is looked after.
#[derive(Debug)]
pub(crate) struct Gateway {
    client: Client,
    /// How long the user wants to wait.
    limit: Option<Duration>,
}

/// The gateway answers out of its memory: if that takes longer something is wrong.
const USUAL_LIMIT: Duration = Duration::from_secs(30);

impl Gateway {
    /// Finds out where it is; whether it runs is seen when it is asked.
    pub(crate) fn locate(global: &Global) -> Result<Self, Problem> {
        let client = match (&global.gateway, &global.socket) {
            (Some(url), _) => Client::url(url, token())?,
            (None, Some(path)) => Client::guarded_socket(path, token()),
            (None, None) => Client::guarded_socket(paths(global)?.socket, token()),
        };
        Ok(Self {
            client,
            limit: global.timeout,
        })
    }

    /// Whether it is reached in a way that leads to no other machine.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.client.target(), Target::Socket { .. })
    }

    /// Has an operation carried out that does not depend on a server.
    pub(crate) async fn ask<O: Operation>(&self, operation: &O) -> Result<O::Output, ClientError> {
        self.ask_within(USUAL_LIMIT, operation).await
    }

    /// The same for one that may take so long, unless the user said how long.
    pub(crate) async fn ask_within<O: Operation>(
        &self,
        usual: Duration,
        operation: &O,
    ) -> Result<O::Output, ClientError> {
        let limit = self.limit.unwrap_or(usual);
        self.client.clone().limit(Some(limit)).run(operation).await
    }

    /// Has a server asked. That takes as long as it takes: the gateway knows the server's limits.
    pub(crate) async fn relay<O: Operation<Output = Relayed>>(
        &self,
        operation: &O,
    ) -> Result<RawJson, ClientError> {
        Ok(self.client.clone().limit(self.limit).run(operation).await?.result)
    }

    /// Has an operation carried out and gives what comes of it, as it comes, for as long as that takes.
    pub(crate) async fn stream<S: Streamed>(&self, operation: &S) -> Result<Stream<S::Item>, ClientError> {
        self.client.clone().limit(self.limit).stream(operation).await
    }
}

/// Where mcpr's files are.
pub(crate) fn paths(global: &Global) -> Result<Paths, Problem> {
    Ok(locations(global)?.paths)
}

/// Where mcpr's files are, and which files of the configuration count.
pub(crate) fn locations(global: &Global) -> Result<Locations, Problem> {
    Ok(Locations::from_env(&global.config, &Process)?)
}

/// Refuses to write into a file of mcpr itself.
pub(crate) fn refuse_own(locations: &Locations, files: &[&Path]) -> Result<(), Problem> {
    match files.iter().find(|file| locations.is_own(file)) {
        Some(file) => {
            let what = format!("{} is a file of mcpr itself, and would be lost", file.display());
            Err(Problem::usage(what).hint("name another file"))
        }
        None => Ok(()),
    }
}

/// Without a token the gateway itself says that it wants one.
fn token() -> Option<Secret> {
    let token = env::var("MCPR_TOKEN").ok()?;
    // A file that it was read from may have ended with a line end.
    let token = token.trim();
    (!token.is_empty()).then(|| Secret::new(token))
}

impl From<InvalidUrl> for Problem {
    fn from(error: InvalidUrl) -> Self {
        Self::usage(error.to_string())
            .hint("--gateway takes the address that `mcpr-gateway` shows when it starts")
    }
}
