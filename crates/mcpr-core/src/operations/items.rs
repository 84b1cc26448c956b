//! What there is: tools, resources, prompts.

use mcpr_admin::{
    ErrorCode, Execute, Failure, ListPrompts, ListResources, ListTools, PromptArgument, PromptList,
    PromptReport, ResourceList, ResourceReport, ShowTool, TemplateReport, ToolDetail, ToolList, ToolReport,
};
use mcpr_auth::Principal;
use mcpr_config::KeptAway;
use mcpr_protocol::{Object, RawJson};
use mcpr_registry::{Deviation, Item, Kind, Tool, View, estimate_tokens, nearest};

use super::Operator;
use super::projects::unknown_project;
use crate::pins::why_held;
use crate::scope::{Choice, Scope, Within};
use crate::sight::Sight;
use crate::toolsets::{Asker, description};

impl Execute<ListTools, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ListTools) -> Result<ToolList, Failure> {
        self.check_server(asked.server.as_deref())?;
        let scope = self.listed_scope(&asked)?;
        let sight = self.gateway.snapshot().sight(&scope);
        let listed = sight.listed.tools().map(tool_report);
        let mut tools: Vec<ToolReport> = listed.collect();
        if asked.all {
            tools.extend(self.hidden_tools(&sight));
        }
        tools.retain(|tool| asked.server.as_deref().is_none_or(|server| tool.server == server));
        Ok(ToolList { tools })
    }
}

impl Execute<ShowTool, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ShowTool) -> Result<ToolDetail, Failure> {
        let snapshot = self.gateway.snapshot();
        let tool = snapshot
            .all
            .tool(&asked.name)
            .ok_or_else(|| unknown_tool(&snapshot.all, &asked.name))?;
        Ok(ToolDetail {
            tool: tool_report(tool),
            definition: tool.definition.clone(),
        })
    }
}

impl Execute<ListResources, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ListResources) -> Result<ResourceList, Failure> {
        self.check_server(asked.server.as_deref())?;
        let snapshot = self.gateway.snapshot();
        let of_kind = |kind| {
            snapshot
                .listed
                .items(kind)
                .filter(|item| of_server(item, asked.server.as_deref()))
        };
        Ok(ResourceList {
            resources: of_kind(Kind::Resources).map(resource_report).collect(),
            templates: of_kind(Kind::Templates).map(template_report).collect(),
        })
    }
}

impl Execute<ListPrompts, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ListPrompts) -> Result<PromptList, Failure> {
        self.check_server(asked.server.as_deref())?;
        let snapshot = self.gateway.snapshot();
        let prompts = snapshot
            .listed
            .items(Kind::Prompts)
            .filter(|item| of_server(item, asked.server.as_deref()));
        Ok(PromptList {
            prompts: prompts.map(prompt_report).collect(),
        })
    }
}

impl Operator {
    /// A filter by a server that is not there is a mistake, not an empty list.
    fn check_server(&self, server: Option<&str>) -> Result<(), Failure> {
        server.map_or(Ok(()), |name| self.entry(name).map(drop))
    }

    /// What is listed: all, or what a project and a toolset leave.
    fn listed_scope(&self, asked: &ListTools) -> Result<Scope, Failure> {
        let mut scope = Scope::everything();
        if let Some(name) = &asked.project {
            let plan = self.gateway.plan();
            if !plan.projects.contains_key(name.as_str()) {
                let known = plan.projects.keys().map(|known| &**known);
                return Err(unknown_project(known, name));
            }
            scope.within = Within::Project(name.as_str().into());
        }
        if let Some(name) = &asked.toolset {
            let asker = Asker::operator(&Principal::local());
            scope.choice = Choice::Only(asker.find(&self.gateway, name, None)?);
        }
        Ok(scope)
    }

    /// The tools in sight that are offered to nobody now, and why.
    pub(super) fn hidden_tools(&self, sight: &Sight) -> Vec<ToolReport> {
        let snapshot = self.gateway.snapshot();
        let off = snapshot
            .all
            .tools()
            .filter(|tool| sight.sees(tool.origin.server.as_str()));
        let off = off.filter_map(|tool| {
            let name = tool.origin.to_string();
            let held = snapshot.held.tool_by_origin(&name).is_some();
            let hidden = match (
                snapshot.known.tool_by_origin(&name),
                snapshot.listed.tool_by_origin(&name),
            ) {
                (None, _) if held => why_held(Deviation::Changed).to_owned(),
                (None, _) => "turned off by an operator".to_owned(),
                (Some(_), None) => format!("server `{}` is not there now", tool.origin.server),
                _ => return None,
            };
            Some(ToolReport {
                hidden: Some(hidden),
                ..tool_report(tool)
            })
        });
        off.chain(self.kept_tools(sight)).collect()
    }

    /// The tools that allow and deny lists keep away, and those that are new and not approved.
    fn kept_tools(&self, sight: &Sight) -> Vec<ToolReport> {
        let (plan, snapshot) = (self.gateway.plan(), self.gateway.snapshot());
        let mut kept = Vec::new();
        for entry in plan.entries().filter(|entry| sight.sees(entry.name.as_str())) {
            let (patterns, judged) = (entry.tools.patterns(), snapshot.judged(&entry.name));
            let holds = judged.is_some_and(|judged| judged.holds());
            let upstream = self.gateway.pool.get(&entry.name);
            let Some(upstream) = upstream.filter(|_| holds || patterns.is_some()) else {
                continue;
            };
            let offers = upstream.status().offers.unwrap_or_default();
            let named = offers
                .tools
                .iter()
                .filter_map(|tool| Some((tool, Object::read(tool).ok()?.text("name")?)));
            kept.extend(named.filter_map(|(definition, name)| {
                let why = match patterns.as_ref().and_then(|patterns| patterns.keeps_away(&name)) {
                    Some(KeptAway::Denied(pattern)) => format!("`tools.deny` has `{pattern}`"),
                    Some(KeptAway::NotAllowed) => "`tools.allow` does not have it".to_owned(),
                    None if judged?.keeps_out(&name) => why_held(Deviation::New).to_owned(),
                    None => return None,
                };
                Some(kept_report(entry.name.as_str(), &name, definition, why))
            }));
        }
        kept
    }
}

fn kept_report(server: &str, name: &str, definition: &RawJson, why: String) -> ToolReport {
    let object = Object::read(definition).ok();
    let text = |member| object.as_ref().and_then(|object| object.text(member));
    ToolReport {
        name: format!("{server}.{name}"),
        server: server.to_owned(),
        origin: name.to_owned(),
        title: text("title"),
        description: text("description"),
        read_only: None,
        destructive: None,
        idempotent: None,
        estimated_tokens: estimate_tokens(definition.as_bytes().len()),
        hidden: Some(why),
    }
}

pub(super) fn unknown_tool(view: &View, name: &str) -> Failure {
    let failure = Failure::new(ErrorCode::NotFound, format!("Unknown tool: {name}"));
    let names: Vec<String> = view
        .tools()
        .flat_map(|tool| [tool.exposed.to_string(), tool.origin.to_string()])
        .collect();
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("see `mcpr-ctl tools ls` for those there are"),
    }
}

fn of_server(item: &Item, server: Option<&str>) -> bool {
    server.is_none_or(|server| item.origin.server.as_str() == server)
}

pub(super) fn tool_report(tool: &Tool) -> ToolReport {
    let hints = tool.annotations().and_then(|raw| Object::read(&raw).ok());
    let hint = |name| Some(hints.as_ref()?.get(name)?.as_str() == "true");
    ToolReport {
        name: tool.exposed.to_string(),
        server: tool.origin.server.to_string(),
        origin: tool.origin.name.to_string(),
        title: tool.title(),
        description: description(tool),
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        estimated_tokens: tool.tokens(),
        hidden: None,
    }
}

fn resource_report(item: &Item) -> ResourceReport {
    let object = Object::read(&item.definition).ok();
    let text = |member| object.as_ref().and_then(|object| object.text(member));
    ResourceReport {
        uri: item.exposed.to_string(),
        server: item.origin.server.to_string(),
        origin: item.origin.name.to_string(),
        name: text("name").unwrap_or_default(),
        title: item.title(),
        description: item.description(),
        mime_type: text("mimeType"),
        size: object
            .as_ref()
            .and_then(|object| object.get("size")?.as_str().parse().ok()),
    }
}

fn template_report(item: &Item) -> TemplateReport {
    let object = Object::read(&item.definition).ok();
    let text = |member| object.as_ref().and_then(|object| object.text(member));
    TemplateReport {
        uri_template: item.exposed.to_string(),
        server: item.origin.server.to_string(),
        origin: item.origin.name.to_string(),
        name: text("name").unwrap_or_default(),
        title: item.title(),
        description: item.description(),
        mime_type: text("mimeType"),
    }
}

fn prompt_report(item: &Item) -> PromptReport {
    let arguments = Object::read(&item.definition)
        .ok()
        .and_then(|object| object.get("arguments")?.elements());
    let argument = |raw: &mcpr_protocol::RawJson| raw.read::<PromptArgument>().ok();
    PromptReport {
        name: item.exposed.to_string(),
        server: item.origin.server.to_string(),
        origin: item.origin.name.to_string(),
        title: item.title(),
        description: item.description(),
        arguments: arguments
            .unwrap_or_default()
            .iter()
            .filter_map(argument)
            .collect(),
    }
}
