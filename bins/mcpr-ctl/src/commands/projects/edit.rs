//! Changes of a project.

use mcpr_admin::{ProjectReport, SaveProject};

use crate::cli::projects::ChangedProject;
use crate::problem::Problem;
use crate::suggest::near;

/// The project as it shall be.
pub(super) fn changed(before: ProjectReport, changes: &ChangedProject) -> Result<SaveProject, Problem> {
    let text = |now: &Option<String>, before: Option<String>| match now.as_deref() {
        None => before,
        Some("") => None,
        Some(text) => Some(text.to_owned()),
    };
    Ok(SaveProject {
        description: text(&changes.description, before.description),
        toolset: text(&changes.toolset, before.toolset),
        servers: edited("server", before.servers, &changes.add, &changes.remove)?,
        tags: edited("tag", before.tags, &changes.add_tag, &changes.remove_tag)?,
        name: before.name,
        replace: true,
    })
}

fn edited(
    what: &str,
    before: Vec<String>,
    add: &[String],
    remove: &[String],
) -> Result<Vec<String>, Problem> {
    let mut all = before;
    for name in remove {
        let place = all.iter().position(|known| known == name);
        let place = place.ok_or_else(|| absent(what, name, &all))?;
        all.remove(place);
    }
    for name in add {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    Ok(all)
}

fn absent(what: &str, name: &str, all: &[String]) -> Problem {
    let problem = Problem::not_found(format!("the project does not name the {what} `{name}`"));
    match near(name, all.iter().map(String::as_str)) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint("`mcpr-ctl projects show` shows what it names"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn prj_01_servers_are_added_and_removed() {
        let after = edited(
            "server",
            list(&["git", "docs"]),
            &list(&["jira", "git"]),
            &list(&["docs"]),
        );
        assert_eq!(after.unwrap(), ["git", "jira"]);
    }

    #[test]
    fn ctl_04_a_server_that_is_not_named_cannot_be_removed() {
        let problem = edited("server", list(&["git"]), &[], &list(&["gti"])).unwrap_err();
        assert_eq!(problem.message, "the project does not name the server `gti`");
        assert_eq!(problem.hint.as_deref(), Some("did you mean `git`?"));
    }
}
