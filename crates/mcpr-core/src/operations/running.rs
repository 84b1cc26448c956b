//! The running gateway as a whole.

use std::time::Duration;

use mcpr_admin::{Drain, Drained, Execute, Failure, Reload, Reloaded};
use mcpr_auth::Principal;

use super::Operator;
use crate::ending::Finished;

/// How long requests under way may take to finish where nothing is said.
const WAIT: Duration = Duration::from_secs(30);

impl Execute<Reload, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: Reload) -> Result<Reloaded, Failure> {
        let reloaded = self.gateway.reload().await?;
        self.gateway.caught_up().await;
        Ok(reloaded)
    }
}

impl Execute<Drain, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: Drain) -> Result<Drained, Failure> {
        let gateway = &self.gateway;
        tracing::info!("an operator drains the gateway");
        let wait = asked.wait_ms.map_or(WAIT, Duration::from_millis);
        let Finished { finished, abandoned } = gateway.finish(wait).await;
        Ok(Drained {
            pid: std::process::id(),
            finished: finished as u64,
            abandoned: abandoned as u64,
        })
    }
}
