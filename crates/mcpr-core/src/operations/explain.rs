//! Why a tool is or is not visible, and where a call of it would go.

use mcpr_admin::{
    ActiveBy, Check, CheckedOf, DefinitionState, Execute, ExplainTool, Explanation, Failure, Verdict,
};
use mcpr_auth::{Principal, Scope as Allowed, Timestamp, Token};
use mcpr_registry::{ServerName, ServerState, Tool, nearest};

use super::Operator;
use super::items::tool_report;
use crate::gateway::Gateway;
use crate::scope::{Asked, Choice, Limit, Scope, Within, nobody};
use crate::snapshot::Snapshot;
use crate::toolsets::{Asker, absent};

/// How many other names are told.
const SUGGESTIONS: usize = 5;

/// For whom a tool is explained.
struct Whose {
    /// Whoever it is; nobody in particular without a token.
    principal: Option<Principal>,
    scope: Scope,
    by: ActiveBy,
    /// Why the token is not accepted any more.
    over: Option<String>,
}

/// Why a token is not accepted any more.
fn over(token: &Token) -> Option<String> {
    let past = |end: &Timestamp| *end <= Timestamp::now();
    let revoked = token.revoked.map(|at| format!("the token was revoked at {at}"));
    revoked.or_else(|| {
        let end = token.expires.filter(past)?;
        Some(format!("the token expired at {end}"))
    })
}

impl Execute<ExplainTool, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: ExplainTool) -> Result<Explanation, Failure> {
        let gateway = &self.gateway;
        let whose = self.whose(&asked).await?;
        let snapshot = gateway.snapshot();
        let mut checks = Vec::new();
        let found = find(&snapshot, &asked.name, &mut checks);
        let Some(tool) = found else {
            return Ok(Explanation {
                principal: whose.name(),
                visible: false,
                callable: false,
                tool: None,
                suggestions: suggestions(&snapshot, &asked.name),
                route: None,
                name: asked.name,
                checks,
            });
        };
        let sight = snapshot.sight(&whose.scope);
        checks.push(server_check(&self.gateway, &snapshot, tool));
        checks.push(switch_check(&snapshot, tool));
        checks.extend(pin_check(&snapshot, tool));
        checks.extend(naming_checks(&snapshot, tool));
        checks.push(whose.token_check(tool));
        checks.push(whose.project_check(&snapshot, tool));
        checks.push(whose.toolset_check(tool));
        checks.extend(whose.definition_check(gateway, caller, tool).await);
        let origin = tool.origin.to_string();
        let known = sight.known.tool_by_origin(&origin).is_some();
        let misconfigured = state_of(&snapshot, tool) == Some(ServerState::Misconfigured);
        Ok(Explanation {
            principal: whose.name(),
            visible: whose.over.is_none() && sight.listed.tool_by_origin(&origin).is_some(),
            callable: whose.over.is_none() && known && whose.may_call() && !misconfigured,
            tool: Some(tool_report(tool)),
            route: Some(route(gateway, &snapshot, tool)),
            suggestions: Vec::new(),
            name: asked.name,
            checks,
        })
    }
}

impl Operator {
    async fn whose(&self, asked: &ExplainTool) -> Result<Whose, Failure> {
        let token = match &asked.token {
            Some(which) => Some(self.gateway.token_named(which).await?),
            None => None,
        };
        let principal = token.as_ref().map(Principal::from);
        let says = Asked {
            project: asked.project.as_deref().map(Into::into),
            toolset: asked.toolset.as_deref().map(Into::into),
            ..Asked::default()
        };
        let (scope, by) = self.gateway.scope(principal.as_ref().unwrap_or(&nobody()), &says);
        Ok(Whose {
            principal,
            scope,
            by,
            over: token.as_ref().and_then(over),
        })
    }
}

/// The tool that a name means.
fn find<'s>(snapshot: &'s Snapshot, name: &str, checks: &mut Vec<Check>) -> Option<&'s Tool> {
    if let Some(tool) = snapshot.all.tool(name) {
        let found = format!(
            "`{name}` means `{}`, which clients see as `{}`",
            tool.origin, tool.exposed
        );
        checks.push(check(CheckedOf::Name, Verdict::Pass, found, None));
        return Some(tool);
    }
    let alike: Vec<String> = snapshot
        .all
        .tools()
        .filter(|tool| *tool.origin.name == *name)
        .map(|tool| tool.origin.to_string())
        .collect();
    if alike.len() > 1 {
        let found = format!(
            "{} servers have a tool `{name}`: {}",
            alike.len(),
            alike.join(", ")
        );
        let hint = Some("write it with its server, as in these".to_owned());
        checks.push(check(CheckedOf::Name, Verdict::Block, found, hint));
        return None;
    }
    let (_, reason) = absent(snapshot, &snapshot.sight(&Scope::everything()), name);
    let hint = suggestions(snapshot, name);
    let hint = hint.first().map(|near| format!("did you mean `{near}`?"));
    checks.push(check(
        CheckedOf::Name,
        Verdict::Block,
        format!("no tool is named `{name}`: {reason}"),
        hint,
    ));
    None
}

fn suggestions(snapshot: &Snapshot, name: &str) -> Vec<String> {
    let names = |tool: &Tool| [tool.exposed.to_string(), tool.origin.to_string()];
    let all: Vec<String> = snapshot.all.tools().flat_map(names).collect();
    let mut left: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut near = Vec::new();
    while let Some(next) = nearest(name, left.iter().copied()).map(str::to_owned) {
        left.retain(|known| *known != next);
        near.push(next);
        if near.len() == SUGGESTIONS {
            break;
        }
    }
    near
}

fn check(what: CheckedOf, verdict: Verdict, found: impl Into<String>, hint: Option<String>) -> Check {
    Check {
        what,
        verdict,
        found: found.into(),
        hint,
    }
}

fn state_of(snapshot: &Snapshot, tool: &Tool) -> Option<ServerState> {
    snapshot.states.get(&tool.origin.server)
}

fn server_check(gateway: &Gateway, snapshot: &Snapshot, tool: &Tool) -> Check {
    let server = &tool.origin.server;
    let seen = snapshot.servers.iter().find(|seen| seen.name == *server);
    let Some((state, reason)) = seen.and_then(|seen| seen.state.clone()) else {
        let hint = Some(format!("mcpr-ctl servers enable {server}"));
        return check(
            CheckedOf::Server,
            Verdict::Block,
            format!("server `{server}` is turned off"),
            hint,
        );
    };
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let found = format!("server `{server}` is {state}{reason}{}", share(gateway, server));
    let (verdict, hint) = match state {
        ServerState::Ok => (Verdict::Pass, None),
        ServerState::Starting | ServerState::Stale => (Verdict::Note, None),
        ServerState::Down => (Verdict::Block, Some(format!("mcpr-ctl servers restart {server}"))),
        ServerState::AuthRequired => (
            Verdict::Block,
            Some("check the credentials in its entry of the configuration".to_owned()),
        ),
        ServerState::Misconfigured => (
            Verdict::Block,
            Some("mend its entry in the configuration".to_owned()),
        ),
    };
    check(CheckedOf::Server, verdict, found, hint)
}

/// Among how many a call is shared, where the server has several backends.
fn share(gateway: &Gateway, server: &ServerName) -> String {
    let server = gateway.pool.get(server);
    let Some(server) = server.filter(|server| server.only_backend().is_none()) else {
        return String::new();
    };
    let backends = server.backends.iter();
    let ready = backends.filter(|backend| backend.replica().is_some());
    let labels: Vec<&str> = ready.map(|backend| &*backend.label).collect();
    format!(
        "; a call goes to one of {} of its {} backends: {}",
        labels.len(),
        server.backends.len(),
        labels.join(", ")
    )
}

fn switch_check(snapshot: &Snapshot, tool: &Tool) -> Check {
    let turned = snapshot.plan.switches.tool(&tool.origin);
    match turned.enabled {
        Some(false) => {
            let hint = Some(format!("mcpr-ctl tools enable {}", tool.origin));
            check(
                CheckedOf::Switch,
                Verdict::Block,
                "an operator has turned the tool off",
                hint,
            )
        }
        _ => check(
            CheckedOf::Switch,
            Verdict::Pass,
            "the tool is not turned off",
            None,
        ),
    }
}

/// How the definition differs from the one that was approved, if it does.
fn pin_check(snapshot: &Snapshot, tool: &Tool) -> Option<Check> {
    let judged = snapshot.judged(&tool.origin.server)?;
    judged.deviations.get(&*tool.origin.name)?;
    let hint = Some(format!(
        "mcpr-ctl pins diff {0}, then mcpr-ctl pins approve {0}",
        tool.origin
    ));
    let changed = "its definition has changed since it was approved";
    Some(match judged.held(&tool.origin.name) {
        Some(_) => check(
            CheckedOf::Pin,
            Verdict::Block,
            format!("{changed}, and it is held back until that is approved"),
            hint,
        ),
        None => check(CheckedOf::Pin, Verdict::Note, changed, hint),
    })
}

/// What is odd about the name that clients see.
fn naming_checks(snapshot: &Snapshot, tool: &Tool) -> Option<Check> {
    let entry = snapshot.plan.servers.get(&tool.origin.server)?;
    let renamed = snapshot.plan.overrides(entry);
    let named = renamed
        .get(&*tool.origin.name)
        .and_then(|known| known.name.as_deref());
    if let Some(name) = named {
        let found = format!(
            "its name is overridden: `{name}` in place of its server's `{}`",
            tool.origin.name
        );
        return Some(check(CheckedOf::Naming, Verdict::Note, found, None));
    }
    let (_, tail) = tool.exposed.rsplit_once('_')?;
    let hash = tail.len() == 6 && tail.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'));
    let own = tool.origin.name.ends_with(tail);
    if !hash || own {
        return None;
    }
    let limit = snapshot.plan.options.naming.max_length;
    let found = match tool.exposed.len() >= limit {
        true => format!("its name is longer than {limit} characters, so it is cut and carries a hash"),
        false => "another tool has the name that it would have, so it carries a hash".to_owned(),
    };
    let hint = Some(format!("mcpr-ctl tools rename {} NAME", tool.origin));
    Some(check(CheckedOf::Naming, Verdict::Note, found, hint))
}

impl Whose {
    fn name(&self) -> String {
        self.principal
            .as_ref()
            .map_or("anybody", Principal::key)
            .to_owned()
    }

    fn may_call(&self) -> bool {
        self.principal
            .as_ref()
            .is_none_or(|principal| principal.allows(Allowed::Call))
    }

    fn token_check(&self, tool: &Tool) -> Check {
        let what = CheckedOf::Token;
        if let Some(over) = &self.over {
            let hint = "clients get 401 with it; make a new one: mcpr-ctl tokens create".to_owned();
            return check(what, Verdict::Block, over.clone(), Some(hint));
        }
        if let Some(found) = self.not_listed(tool) {
            let hint = Some(
                "make a token that lists it, or one without such a list: mcpr-ctl tokens create".to_owned(),
            );
            return check(what, Verdict::Block, found, hint);
        }
        match &self.scope.limit {
            _ if !self.may_call() => {
                let hint = Some("make one that has it: mcpr-ctl tokens create --scope read,call".to_owned());
                check(
                    what,
                    Verdict::Note,
                    "the token lacks the scope `call`: it sees the tool and cannot call it",
                    hint,
                )
            }
            Limit::None => check(what, Verdict::Pass, self.listed(), None),
            Limit::Unknown => {
                let hint = Some("make the toolset, or a token without one".to_owned());
                check(
                    what,
                    Verdict::Block,
                    "the token is bound to a toolset that is not there",
                    hint,
                )
            }
            Limit::To(toolset) if toolset.selection.matches(&tool.origin) => {
                let found = format!("the token is bound to toolset `{}`, which has it", toolset.name);
                check(what, Verdict::Pass, found, None)
            }
            Limit::To(toolset) => {
                let found = format!(
                    "the token is bound to toolset `{}`, which does not have it",
                    toolset.name
                );
                let hint = Some(format!(
                    "mcpr-ctl toolsets edit {} --add {}",
                    toolset.name, tool.origin
                ));
                check(what, Verdict::Block, found, hint)
            }
        }
    }

    /// How a list of the token keeps a tool from it.
    fn not_listed(&self, tool: &Tool) -> Option<String> {
        let (allowed, server) = (&self.scope.allowed, &tool.origin.server);
        if !allowed.has_server(server.as_str()) {
            return Some(format!(
                "server `{server}` is not among those that the token lists"
            ));
        }
        let name = tool.origin.to_string();
        (!allowed.has_tool(&name))
            .then(|| format!("no name among the tools that the token lists fits `{name}`"))
    }

    /// What passes where no list and no toolset of a token keeps the tool.
    fn listed(&self) -> &'static str {
        match self.scope.allowed.has_every_server() && self.scope.has_every_tool() {
            true => "no token limits the tools",
            false => "it is among the servers and tools that the token lists",
        }
    }

    fn project_check(&self, snapshot: &Snapshot, tool: &Tool) -> Check {
        let (what, server) = (CheckedOf::Project, &tool.origin.server);
        match &self.scope.within {
            Within::Everything => check(what, Verdict::Pass, "no project limits the servers", None),
            Within::Unknown => {
                let found = "the project is not known, or not the one that the token is bound to";
                check(
                    what,
                    Verdict::Block,
                    found,
                    Some("mcpr-ctl projects ls".to_owned()),
                )
            }
            Within::Project(name) if snapshot.members(name).contains(server) => check(
                what,
                Verdict::Pass,
                format!("project `{name}` has server `{server}`"),
                None,
            ),
            Within::Project(name) => {
                let found = format!("project `{name}` does not have server `{server}`");
                let hint = Some(format!("mcpr-ctl projects edit {name} --add {server}"));
                check(what, Verdict::Block, found, hint)
            }
        }
    }

    fn toolset_check(&self, tool: &Tool) -> Check {
        let what = CheckedOf::Toolset;
        let why = match self.by {
            ActiveBy::Request => "the request names",
            ActiveBy::Equipped => "it has equipped",
            ActiveBy::Project => "the project carries",
            ActiveBy::Default => "the gateway's default is",
            ActiveBy::Token | ActiveBy::All | ActiveBy::BuiltIns => "there is",
        };
        match &self.scope.choice {
            Choice::All => check(
                what,
                Verdict::Pass,
                "no toolset is equipped: all tools in scope are seen",
                None,
            ),
            Choice::BuiltIns => {
                let hint =
                    Some("equip a toolset that has it: mcpr-ctl toolsets equip NAME --token ID".to_owned());
                let found =
                    "no toolset is equipped, and `expose` is \"toolset\": only the built-in tools are seen";
                check(what, Verdict::Block, found, hint)
            }
            Choice::Unknown => {
                let found = format!("{why} a toolset that is not there");
                check(
                    what,
                    Verdict::Block,
                    found,
                    Some("mcpr-ctl toolsets ls".to_owned()),
                )
            }
            Choice::Only(toolset) if toolset.selection.matches(&tool.origin) => check(
                what,
                Verdict::Pass,
                format!("{why} toolset `{}`, which has it", toolset.name),
                None,
            ),
            Choice::Only(toolset) => {
                let hint = Some(format!(
                    "mcpr-ctl toolsets edit {} --add {}",
                    toolset.name, tool.origin
                ));
                let found = format!("{why} toolset `{}`, which does not have it", toolset.name);
                check(what, Verdict::Block, found, hint)
            }
        }
    }

    /// Whether its definition is the one that the toolset was made with.
    async fn definition_check(&self, gateway: &Gateway, caller: &Principal, tool: &Tool) -> Option<Check> {
        let Choice::Only(toolset) = &self.scope.choice else {
            return None;
        };
        let asker = Asker::operator(caller);
        let detail = gateway.detail(&asker, toolset, &self.scope, false).await.ok()?;
        let name = tool.origin.to_string();
        let told = detail
            .tools
            .into_iter()
            .find(|known| known.namespaced_name == name)?;
        let verdict = match told.definition {
            DefinitionState::Breaking | DefinitionState::Compatible => Verdict::Note,
            DefinitionState::Unchanged | DefinitionState::Missing => return None,
        };
        let found = format!(
            "its definition has changed since toolset `{}` was made ({}): {}",
            toolset.name,
            told.definition,
            told.changes.join("; ")
        );
        let hint = Some(format!("mcpr-ctl toolsets accept {}", toolset.name));
        Some(check(CheckedOf::Definition, verdict, found, hint))
    }
}

/// Where a call goes.
fn route(gateway: &Gateway, snapshot: &Snapshot, tool: &Tool) -> String {
    let server = &tool.origin.server;
    let entry = snapshot.plan.servers.get(server);
    let via = entry
        .and_then(|entry| entry.via)
        .map_or_else(String::new, |via| format!(" over {via}"));
    let replica = gateway
        .pool
        .get(server)
        .and_then(|upstream| upstream.status().replica);
    let pid = replica.as_ref().and_then(|replica| replica.pid);
    let pid = pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
    let speaks = replica.map_or_else(String::new, |replica| format!(", {}", replica.version));
    format!("server `{server}`{via}{speaks}{pid}, as `{}`", tool.origin.name)
}
