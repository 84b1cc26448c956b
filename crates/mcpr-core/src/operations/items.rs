//! What there is: tools, resources, prompts.

use mcpr_admin::{
    ErrorCode, Execute, Failure, ListPrompts, ListResources, ListTools, PromptArgument, PromptList,
    PromptReport, ResourceList, ResourceReport, ShowTool, TemplateReport, ToolDetail, ToolList, ToolReport,
};
use mcpr_auth::Principal;
use mcpr_protocol::Object;
use mcpr_registry::{Item, Kind, Tool};

use super::Operator;

impl Execute<ListTools, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ListTools) -> Result<ToolList, Failure> {
        self.check_server(asked.server.as_deref())?;
        let snapshot = self.gateway.snapshot();
        let tools = snapshot
            .listed
            .tools()
            .filter(|tool| of_server(tool, asked.server.as_deref()));
        Ok(ToolList {
            tools: tools.map(tool_report).collect(),
        })
    }
}

impl Execute<ShowTool, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ShowTool) -> Result<ToolDetail, Failure> {
        let snapshot = self.gateway.snapshot();
        let tool = snapshot
            .known
            .tool(&asked.name)
            .ok_or_else(|| unknown_tool(&asked.name))?;
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
        let known = |name: &str| self.gateway.order.iter().any(|server| server.as_str() == name);
        match server {
            Some(name) if !known(name) => {
                let failure = Failure::new(ErrorCode::NotFound, format!("there is no server `{name}`"));
                Err(failure.hint("see `mcpr-ctl servers ls` for those there are"))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn unknown_tool(name: &str) -> Failure {
    let failure = Failure::new(ErrorCode::NotFound, format!("Unknown tool: {name}"));
    failure.hint("see `mcpr-ctl tools ls` for those there are")
}

fn of_server(item: &Item, server: Option<&str>) -> bool {
    server.is_none_or(|server| item.origin.server.as_str() == server)
}

fn tool_report(tool: &Tool) -> ToolReport {
    let hints = tool.annotations().and_then(|raw| Object::read(&raw).ok());
    let hint = |name| Some(hints.as_ref()?.get(name)?.as_str() == "true");
    ToolReport {
        name: tool.exposed.to_string(),
        server: tool.origin.server.to_string(),
        origin: tool.origin.name.to_string(),
        title: tool.title(),
        description: tool.description(),
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
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
