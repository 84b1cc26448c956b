//! What is turned on and off and renamed, without a gateway: it counts from its next start on.

use mcpr_admin::{
    DisableServer, DisableTool, EnableServer, EnableTool, OverrideTool, ServerReport, ServerState,
    ToolSwitch, Via,
};
use mcpr_config::ServerEntry;
use mcpr_registry::server_and_tool;
use mcpr_store::{Assignment, Switch};

use super::{Absent, Database, Offline};
use crate::problem::Problem;
use crate::suggest::near;

/// A tool by its server and its name there.
struct Origin {
    server: String,
    tool: String,
    /// The name that it was given, if it was ever listed.
    exposed: Option<String>,
}

impl Offline<EnableServer> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, asked: EnableServer) -> Result<ServerReport, Problem> {
        self.switch_server(&asked.name, true).await
    }
}

impl Offline<DisableServer> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, asked: DisableServer) -> Result<ServerReport, Problem> {
        self.switch_server(&asked.name, false).await
    }
}

impl Offline<EnableTool> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, asked: EnableTool) -> Result<ToolSwitch, Problem> {
        self.switch_tool(&asked.name, |switch| switch.enabled = None)
            .await
    }
}

impl Offline<DisableTool> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, asked: DisableTool) -> Result<ToolSwitch, Problem> {
        self.switch_tool(&asked.name, |switch| switch.enabled = Some(false))
            .await
    }
}

impl Offline<OverrideTool> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, asked: OverrideTool) -> Result<ToolSwitch, Problem> {
        if let Some(name) = &asked.exposed_name {
            check_exposed(name)?;
        }
        let set = |text: String| (!text.is_empty()).then_some(text);
        self.switch_tool(&asked.name, |switch| {
            if let Some(name) = asked.exposed_name {
                switch.name = set(name);
            }
            if let Some(description) = asked.description {
                switch.description = set(description);
            }
        })
        .await
    }
}

impl Database {
    async fn switch_server(&self, name: &str, on: bool) -> Result<ServerReport, Problem> {
        let entries = mcpr_config::servers(self.config()?.servers);
        let entry = entries.iter().find(|entry| entry.name.as_str() == name);
        let entry = entry.ok_or_else(|| no_server(name, &entries))?;
        let in_file = !matches!(entry.state, mcpr_config::ServerState::Disabled(_));
        let switch = Switch {
            server: name.to_owned(),
            tool: None,
            // What the file says too needs no switch.
            enabled: (on != in_file).then_some(on),
            name: None,
            description: None,
        };
        self.store.put_switch(switch).await?;
        Ok(report(entry, on))
    }

    async fn switch_tool(&self, name: &str, turn: impl FnOnce(&mut Switch)) -> Result<ToolSwitch, Problem> {
        let stored = self.store.switches().await?;
        let origin = self.origin(name, &stored).await?;
        let known =
            |switch: &Switch| switch.server == origin.server && switch.tool.as_deref() == Some(&*origin.tool);
        let mut switch = stored.into_iter().find(known).unwrap_or_else(|| Switch {
            server: origin.server.clone(),
            tool: Some(origin.tool.clone()),
            enabled: None,
            name: None,
            description: None,
        });
        turn(&mut switch);
        self.store.put_switch(switch.clone()).await?;
        let enabled = switch.enabled != Some(false);
        let exposed = switch.name.clone().or(origin.exposed);
        Ok(ToolSwitch {
            namespaced_name: format!("{}.{}", origin.server, origin.tool),
            enabled,
            exposed_name: exposed.filter(|_| enabled),
            name: switch.name,
            description: switch.description,
        })
    }

    /// The tool that is meant: by the name that clients see, or by `server.tool`.
    async fn origin(&self, name: &str, switches: &[Switch]) -> Result<Origin, Problem> {
        let entries = mcpr_config::servers(self.config()?.servers);
        let mut given = self.store.assignments().await?;
        given.retain(|row| row.kind == "tools");
        if let Some(row) = given.iter().find(|row| row.exposed == name) {
            return Ok(row.into());
        }
        if let Some(origin) = renamed(name, switches) {
            return Ok(origin);
        }
        let parted = server_and_tool(name, entries.iter().map(|entry| &entry.name));
        let (server, tool) = parted.ok_or_else(|| no_tool(name, &given))?;
        let mut listed = given
            .iter()
            .filter(|row| row.server == server.as_str())
            .peekable();
        // A server that never listed anything may have any tool.
        if listed.peek().is_none() {
            return Ok(Origin {
                server: server.to_string(),
                tool: tool.to_owned(),
                exposed: None,
            });
        }
        let row = listed.find(|row| row.origin == tool);
        row.map(Origin::from).ok_or_else(|| no_tool(name, &given))
    }
}

impl From<&Assignment> for Origin {
    fn from(row: &Assignment) -> Self {
        Self {
            server: row.server.clone(),
            tool: row.origin.clone(),
            exposed: Some(row.exposed.clone()),
        }
    }
}

/// The tool that was given this name at run time.
fn renamed(name: &str, switches: &[Switch]) -> Option<Origin> {
    let switch = switches
        .iter()
        .find(|switch| switch.name.as_deref() == Some(name))?;
    Some(Origin {
        server: switch.server.clone(),
        tool: switch.tool.clone()?,
        exposed: None,
    })
}

fn report(entry: &ServerEntry, on: bool) -> ServerReport {
    let (state, reason) = match (on, &entry.state) {
        (false, _) => (ServerState::Disabled, "an operator has turned it off".to_owned()),
        (true, state) => standing(state),
    };
    ServerReport {
        name: entry.name.to_string(),
        state,
        via: entry.via.map(via),
        protocol: None,
        tools: None,
        prompts: None,
        resources: None,
        in_flight: 0,
        reason: Some(reason),
        retry_in_ms: None,
        pid: None,
        starts: 0,
        pins: None,
        backends: Vec::new(),
    }
}

fn standing(state: &mcpr_config::ServerState) -> (ServerState, String) {
    match state {
        mcpr_config::ServerState::Disabled(otherwise) => standing(otherwise),
        mcpr_config::ServerState::Misconfigured(fault) => (ServerState::Misconfigured, fault.reason()),
        mcpr_config::ServerState::Enabled(_) => (ServerState::Idle, "no gateway is running".to_owned()),
    }
}

fn via(via: mcpr_config::Via) -> Via {
    match via {
        mcpr_config::Via::Stdio => Via::Stdio,
        mcpr_config::Via::Http => Via::Http,
        mcpr_config::Via::Sse => Via::Sse,
    }
}

pub(super) fn no_server(name: &str, entries: &[ServerEntry]) -> Problem {
    let problem = Problem::not_found(format!("there is no server `{name}`"));
    let names = entries.iter().map(|entry| entry.name.as_str());
    match near(name, names) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint("`mcpr-ctl config show` shows the servers of the configuration"),
    }
}

fn no_tool(name: &str, given: &[Assignment]) -> Problem {
    let problem = Problem::not_found(format!("no tool is known as `{name}`"));
    let names = given
        .iter()
        .flat_map(|row| [row.exposed.clone(), format!("{}.{}", row.server, row.origin)]);
    let names: Vec<_> = names.collect();
    match near(name, names.iter().map(String::as_str)) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(
            "write it as SERVER.TOOL; without a running gateway only tools that were listed before are known",
        ),
    }
}

/// What all known clients take.
fn check_exposed(name: &str) -> Result<(), Problem> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let starts = !name.starts_with(|c: char| c.is_ascii_digit());
    if name.len() <= 64 && name.chars().all(legal) && starts {
        return Ok(());
    }
    Err(
        Problem::usage(format!("`{}` cannot name a tool", name.escape_debug())).hint(
            "at most 64 letters, digits, `_` and `-`, not beginning with a digit: clients take no others",
        ),
    )
}
