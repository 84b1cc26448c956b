//! One server in full.

use mcpr_admin::{Execute, Failure, ServerDetail, ServerTool, ShowServer, ToolReport};
use mcpr_auth::Principal;

use super::Operator;
use super::items::tool_report;

impl Execute<ShowServer, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ShowServer) -> Result<ServerDetail, Failure> {
        let entry = self.entry(&asked.name)?;
        let server = self.server(&asked.name).await?;
        let (plan, snapshot) = (self.gateway.plan(), self.gateway.snapshot());
        let upstream = self.gateway.pool.get(&entry.name);
        let offers = upstream.and_then(|upstream| upstream.status().offers);
        let switched = plan.switches.server(&entry.name);
        let sight = snapshot.sight(&crate::scope::Scope::everything());
        let offered = snapshot.listed.tools().map(tool_report);
        let tools = offered.chain(self.hidden_tools(&sight));
        let clean = |text: String| self.gateway.secrets.scrub(&text).into_owned();
        let projects = plan.projects.iter();
        let projects = projects.filter(|(_, project)| plan.members(project).contains(&entry.name));
        Ok(ServerDetail {
            server,
            place: Some(entry.place.to_string()),
            tags: entry.backends.tags.clone(),
            switched: switched.map(|on| if on { "enabled" } else { "disabled" }.to_owned()),
            title: offers.as_ref().and_then(|offers| offers.title()).map(clean),
            instructions: offers
                .as_ref()
                .and_then(|offers| offers.instructions.clone())
                .map(clean),
            tools: tools
                .filter(|tool| tool.server == asked.name)
                .map(short)
                .collect(),
            projects: projects.map(|(name, _)| name.to_string()).collect(),
        })
    }
}

fn short(tool: ToolReport) -> ServerTool {
    ServerTool {
        exposed_name: tool.hidden.is_none().then_some(tool.name),
        name: tool.origin,
        hidden: tool.hidden,
        estimated_tokens: tool.estimated_tokens,
    }
}
