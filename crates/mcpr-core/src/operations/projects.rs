//! Projects.

use mcpr_admin::{
    DeleteProject, ErrorCode, Execute, Failure, ListProjects, ProjectList, ProjectReport, SaveProject,
    ShowProject,
};
use mcpr_auth::{Principal, Timestamp};
use mcpr_registry::{ServerName, Tool, nearest};
use mcpr_store::{OPERATOR, SavedProject, StoreError};

use super::Operator;
use crate::plan::Project;
use crate::snapshot::Snapshot;

/// The longest name of a project, in characters.
const LONGEST_NAME: usize = 64;

impl Execute<ListProjects, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: ListProjects) -> Result<ProjectList, Failure> {
        let snapshot = self.gateway.snapshot();
        let mut projects: Vec<_> = snapshot.plan.projects.iter().collect();
        projects.sort_by_key(|(_, project)| !project.from_file);
        let projects = projects
            .into_iter()
            .map(|(name, project)| self.project(&snapshot, name, project));
        Ok(ProjectList {
            projects: projects.collect(),
        })
    }
}

impl Execute<ShowProject, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: ShowProject) -> Result<ProjectReport, Failure> {
        self.show_project(&asked.name)
    }
}

impl Execute<SaveProject, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: SaveProject) -> Result<ProjectReport, Failure> {
        check_name(&asked.name)?;
        let gateway = &self.gateway;
        let guard = gateway.planning.lock().await;
        match gateway.plan().projects.get(&*asked.name) {
            Some(known) if known.from_file => return Err(from_file(&asked.name)),
            Some(_) if !asked.replace => return Err(taken(&asked.name)),
            _ => {}
        }
        let saved = SavedProject {
            name: asked.name.clone(),
            description: asked.description,
            servers: asked.servers,
            tags: asked.tags,
            toolset: asked.toolset,
            created: Timestamp::now(),
        };
        gateway.store.put_project(saved).await.map_err(unsaved)?;
        self.take_projects().await?;
        drop(guard);
        gateway.caught_up().await;
        self.show_project(&asked.name)
    }
}

impl Execute<DeleteProject, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: DeleteProject) -> Result<ProjectReport, Failure> {
        let gateway = &self.gateway;
        let guard = gateway.planning.lock().await;
        let report = self.show_project(&asked.name)?;
        if report.from_file {
            return Err(from_file(&asked.name));
        }
        gateway.store.delete_project(&asked.name).await.map_err(unsaved)?;
        self.take_projects().await?;
        drop(guard);
        gateway.caught_up().await;
        Ok(report)
    }
}

impl Operator {
    async fn take_projects(&self) -> Result<(), Failure> {
        let saved = self.gateway.store.projects().await.map_err(unsaved)?;
        self.gateway.replan(|plan| plan.set_projects(saved));
        Ok(())
    }

    fn show_project(&self, name: &str) -> Result<ProjectReport, Failure> {
        let snapshot = self.gateway.snapshot();
        let plan = self.gateway.plan();
        match plan.projects.get(name) {
            Some(project) => Ok(self.project(&snapshot, name, project)),
            None => Err(unknown_project(plan.projects.keys().map(|known| &**known), name)),
        }
    }

    fn project(&self, snapshot: &Snapshot, name: &str, project: &Project) -> ProjectReport {
        let members = snapshot.plan.members(project);
        let view = snapshot.listed.only_servers(|server| members.contains(server));
        let in_order = snapshot.plan.order.iter().filter(|name| members.contains(*name));
        ProjectReport {
            name: name.to_owned(),
            from_file: project.from_file,
            description: project.description.clone(),
            servers: project.servers.clone(),
            tags: project.tags.clone(),
            toolset: project.toolset.clone(),
            members: in_order.map(ServerName::to_string).collect(),
            missing: self.missing(snapshot, project),
            tools: Some(view.tools().count() as u64),
            estimated_tokens: Some(view.tools().map(Tool::tokens).sum()),
        }
    }

    /// What a project names that is not there.
    fn missing(&self, snapshot: &Snapshot, project: &Project) -> Vec<String> {
        let servers = project
            .servers
            .iter()
            .filter(|name| snapshot.plan.server(name).is_none());
        let servers = servers.map(|name| format!("server {name}"));
        let toolset = project.toolset.iter();
        let toolset = toolset.filter(|name| self.gateway.toolsets.exactly(OPERATOR, name).is_none());
        servers
            .chain(toolset.map(|name| format!("toolset {name}")))
            .collect()
    }
}

pub(super) fn unknown_project<'a>(known: impl Iterator<Item = &'a str>, name: &str) -> Failure {
    let failure = Failure::new(ErrorCode::NotFound, format!("there is no project `{name}`"));
    match nearest(name, known) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("see `mcpr-ctl projects ls` for those there are"),
    }
}

fn check_name(name: &str) -> Result<(), Failure> {
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
    if fits && name.trim() == name && name.chars().all(|c| !c.is_control() && c != '/') {
        return Ok(());
    }
    let text = format!(
        "`{}` cannot name a project: 1 to {LONGEST_NAME} printable characters without `/`",
        name.escape_debug()
    );
    Err(Failure::new(ErrorCode::Invalid, text))
}

fn from_file(name: &str) -> Failure {
    let failure = Failure::new(
        ErrorCode::Invalid,
        format!("project `{name}` stands in a configuration file"),
    );
    failure.hint("change it there")
}

fn taken(name: &str) -> Failure {
    let failure = Failure::new(ErrorCode::Invalid, format!("there is a project `{name}` already"));
    failure.hint("replace it with --replace, or choose another name")
}

pub(crate) fn unsaved(error: StoreError) -> Failure {
    Failure::new(ErrorCode::Failed, format!("nothing was changed: {error}"))
}
