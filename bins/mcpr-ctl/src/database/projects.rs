//! Projects, without a gateway: their tools are not known.

use mcpr_admin::{DeleteProject, ListProjects, ProjectList, ProjectReport, SaveProject, ShowProject};
use mcpr_auth::Timestamp;
use mcpr_config::{Config, ServerEntry};
use mcpr_store::{OPERATOR, SavedProject};

use super::{Absent, Database, Offline, check_name, from_file};
use crate::problem::Problem;

impl Offline<ListProjects> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, _: ListProjects) -> Result<ProjectList, Problem> {
        let config = self.config()?;
        Ok(ProjectList {
            projects: self.projects(&config).await?,
        })
    }
}

impl Offline<ShowProject> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: ShowProject) -> Result<ProjectReport, Problem> {
        let config = self.config()?;
        self.project(&config, &asked.name).await
    }
}

impl Offline<SaveProject> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, asked: SaveProject) -> Result<ProjectReport, Problem> {
        check_name("project", &asked.name)?;
        let config = self.config()?;
        match self.project(&config, &asked.name).await {
            Ok(known) if known.from_file => return Err(from_file(&of(&known), &config)),
            Ok(known) if !asked.replace => return Err(taken(&known.name)),
            _ => {}
        }
        let name = asked.name.clone();
        self.store.put_project(saved(asked)).await?;
        self.project(&config, &name).await
    }
}

impl Offline<DeleteProject> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: DeleteProject) -> Result<ProjectReport, Problem> {
        let config = self.config()?;
        let project = self.project(&config, &asked.name).await?;
        if project.from_file {
            return Err(from_file(&of(&project), &config));
        }
        self.store.delete_project(&asked.name).await?;
        Ok(project)
    }
}

impl Database {
    /// All projects, those of the configuration first and in place of others of the same name.
    pub(super) async fn projects(&self, config: &Config) -> Result<Vec<ProjectReport>, Problem> {
        let toolsets = self.shelf().await?;
        let filed = config.gateway.projects.iter().map(of_file);
        let mut all: Vec<_> = filed.map(|saved| report(saved, true, config)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let mut more = self.store.projects().await?;
        more.retain(|saved| !all.iter().any(|known| known.name == saved.name));
        more.sort_by(|a, b| a.name.cmp(&b.name));
        all.extend(more.into_iter().map(|saved| report(saved, false, config)));
        for project in &mut all {
            let absent = project
                .toolset
                .iter()
                .filter(|name| toolsets.find(OPERATOR, name).is_none());
            let absent: Vec<_> = absent.map(|name| format!("toolset {name}")).collect();
            project.missing.extend(absent);
        }
        Ok(all)
    }

    async fn project(&self, config: &Config, name: &str) -> Result<ProjectReport, Problem> {
        let found = self
            .projects(config)
            .await?
            .into_iter()
            .find(|known| known.name == name);
        found.ok_or_else(|| Problem::not_found(format!("there is no project `{name}`")))
    }
}

/// What is known of a project, but for its toolset.
fn report(saved: SavedProject, from_file: bool, config: &Config) -> ProjectReport {
    let members = config.servers.iter().filter(|entry| belongs(entry, &saved));
    let known = |name: &str| config.servers.iter().any(|entry| entry.name.as_str() == name);
    let missing = saved.servers.iter().filter(|name| !known(name));
    ProjectReport {
        members: members.map(|entry| entry.name.to_string()).collect(),
        missing: missing.map(|name| format!("server {name}")).collect(),
        name: saved.name,
        from_file,
        description: saved.description,
        servers: saved.servers,
        tags: saved.tags,
        toolset: saved.toolset,
        tools: None,
        estimated_tokens: None,
    }
}

fn belongs(entry: &ServerEntry, project: &SavedProject) -> bool {
    let named = project.servers.iter().any(|name| name == entry.name.as_str());
    named || entry.backends.tags.iter().any(|tag| project.tags.contains(tag))
}

fn of_file(filed: &mcpr_config::Project) -> SavedProject {
    SavedProject {
        name: filed.name.clone(),
        description: filed.description.clone(),
        servers: filed.servers.iter().map(ToString::to_string).collect(),
        tags: filed.tags.clone(),
        toolset: filed.toolset.clone(),
        created: Timestamp::now(),
    }
}

fn saved(asked: SaveProject) -> SavedProject {
    SavedProject {
        name: asked.name,
        description: asked.description,
        servers: asked.servers,
        tags: asked.tags,
        toolset: asked.toolset,
        created: Timestamp::now(),
    }
}

fn of(project: &ProjectReport) -> String {
    format!("project `{}`", project.name)
}

fn taken(name: &str) -> Problem {
    Problem::usage(format!("there is a project `{name}` already"))
        .hint("replace it with --replace, or choose another name")
}
