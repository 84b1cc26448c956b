//! What operators turn at run time: servers and tools, on and off, and what tools are called (AGG-13).

use std::sync::Arc;
use std::time::Duration;

use mcpr_admin::{
    DisableServer, DisableTool, EnableServer, EnableTool, ErrorCode, Execute, Failure, OverrideTool,
    RestartServer, ServerReport, ToolSwitch,
};
use mcpr_auth::Principal;
use mcpr_config::{ServerEntry, ServerState};
use mcpr_registry::{Origin, nearest};
use mcpr_store::Switch;

use super::Operator;
use super::items::unknown_tool;
use super::projects::unsaved;
use crate::plan::Turned;

/// How long an answer waits for a server to be up.
const PATIENCE: Duration = Duration::from_secs(10);

impl Execute<EnableServer, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: EnableServer) -> Result<ServerReport, Failure> {
        self.switch_server(&asked.name, true).await
    }
}

impl Execute<DisableServer, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: DisableServer) -> Result<ServerReport, Failure> {
        self.switch_server(&asked.name, false).await
    }
}

impl Execute<RestartServer, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: RestartServer) -> Result<ServerReport, Failure> {
        let entry = self.entry(&asked.name)?;
        if !self.gateway.pool.restart(&entry.name) {
            let why = Failure::new(
                ErrorCode::Invalid,
                format!("server `{}` is not in use", entry.name),
            );
            return Err(why.hint("`mcpr-ctl servers show` says why"));
        }
        tracing::info!(server = %entry.name, "an operator has restarted the server");
        self.settled(&entry).await
    }
}

impl Execute<EnableTool, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: EnableTool) -> Result<ToolSwitch, Failure> {
        self.switch_tool(&asked.name, |turned| turned.enabled = None)
            .await
    }
}

impl Execute<DisableTool, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: DisableTool) -> Result<ToolSwitch, Failure> {
        self.switch_tool(&asked.name, |turned| turned.enabled = Some(false))
            .await
    }
}

impl Execute<OverrideTool, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: OverrideTool) -> Result<ToolSwitch, Failure> {
        if let Some(name) = &asked.exposed_name {
            check_exposed(name)?;
        }
        let set = |text: String| (!text.is_empty()).then_some(text);
        self.switch_tool(&asked.name, |turned| {
            if let Some(name) = asked.exposed_name {
                turned.name = set(name);
            }
            if let Some(description) = asked.description {
                turned.description = set(description);
            }
        })
        .await
    }
}

impl Operator {
    /// The entry of a server.
    pub(super) fn entry(&self, name: &str) -> Result<Arc<ServerEntry>, Failure> {
        let plan = self.gateway.plan();
        if let Some(entry) = plan.server(name) {
            return Ok(entry.clone());
        }
        let failure = Failure::new(ErrorCode::NotFound, format!("there is no server `{name}`"));
        let is_member =
            |entry: &&Arc<ServerEntry>| entry.members.iter().any(|member| member.name.as_str() == name);
        if let Some(group) = plan.entries().find(is_member) {
            let group = &group.name;
            return Err(failure.hint(format!(
                "`{name}` is an entry of the group `{group}`, which is one server"
            )));
        }
        Err(match nearest(name, plan.order.iter().map(|name| name.as_str())) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("see `mcpr-ctl servers ls` for those there are"),
        })
    }

    async fn switch_server(&self, name: &str, on: bool) -> Result<ServerReport, Failure> {
        let entry = self.entry(name)?;
        let guard = self.gateway.planning.lock().await;
        let in_file = !matches!(entry.state, ServerState::Disabled(_));
        let switch = Switch {
            server: entry.name.to_string(),
            tool: None,
            // What the file says too needs no switch.
            enabled: (on != in_file).then_some(on),
            name: None,
            description: None,
        };
        self.keep_switch(switch).await?;
        drop(guard);
        tracing::info!(server = %entry.name, on, "an operator has switched the server");
        self.settled(&entry).await
    }

    /// Stores what was turned, then lets it count.
    async fn keep_switch(&self, switch: Switch) -> Result<(), Failure> {
        let stored = self.gateway.store.put_switch(switch.clone()).await;
        stored.map_err(unsaved)?;
        self.gateway.replan(|plan| plan.switches.put(switch));
        Ok(())
    }

    /// How a server is, once it is up or known not to be.
    async fn settled(&self, entry: &ServerEntry) -> Result<ServerReport, Failure> {
        if let Some(upstream) = self.gateway.pool.get(&entry.name) {
            let _ = tokio::time::timeout(PATIENCE, upstream.settled()).await;
        }
        self.server(entry.name.as_str()).await
    }

    async fn switch_tool(&self, name: &str, turn: impl FnOnce(&mut Turned)) -> Result<ToolSwitch, Failure> {
        let origin = self.origin(name)?;
        let guard = self.gateway.planning.lock().await;
        let mut turned = self.gateway.plan().switches.tool(&origin);
        turn(&mut turned);
        let switch = Switch {
            server: origin.server.to_string(),
            tool: Some(origin.name.to_string()),
            enabled: turned.enabled,
            name: turned.name.clone(),
            description: turned.description.clone(),
        };
        self.keep_switch(switch).await?;
        drop(guard);
        self.gateway.caught_up().await;
        let snapshot = self.gateway.snapshot();
        let tool = snapshot.known.tool_by_origin(&origin.to_string());
        Ok(ToolSwitch {
            namespaced_name: origin.to_string(),
            enabled: turned.enabled != Some(false),
            exposed_name: tool.map(|tool| tool.exposed.to_string()),
            name: turned.name,
            description: turned.description,
        })
    }

    /// The tool that is meant, on or off.
    fn origin(&self, name: &str) -> Result<Origin, Failure> {
        let snapshot = self.gateway.snapshot();
        let tool = snapshot.all.tool(name);
        tool.map(|tool| tool.origin.clone())
            .ok_or_else(|| unknown_tool(&snapshot.all, name))
    }
}

/// What all known clients take (AGG-02).
fn check_exposed(name: &str) -> Result<(), Failure> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let starts = !name.starts_with(|c: char| c.is_ascii_digit());
    if name.len() <= 64 && name.chars().all(legal) && starts {
        return Ok(());
    }
    let failure = Failure::new(
        ErrorCode::Invalid,
        format!("`{}` cannot name a tool", name.escape_debug()),
    );
    Err(failure
        .hint("at most 64 letters, digits, `_` and `-`, not beginning with a digit: clients take no others"))
}
