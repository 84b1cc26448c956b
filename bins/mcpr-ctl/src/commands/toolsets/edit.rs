//! Changes of a toolset.

use mcpr_admin::{ExitCode, SaveToolset, ToolsetEntry};

use super::{entries, of_operator, tell};
use crate::books::Books;
use crate::cli::toolsets::ChangedToolset;
use crate::out::Out;
use crate::problem::Problem;
use crate::suggest::near;

/// `toolsets edit`
pub(super) async fn edit(
    books: &Books<'_>,
    out: &Out,
    changes: &ChangedToolset,
) -> Result<ExitCode, Problem> {
    let before = of_operator(books, &changes.name).await?;
    let description = match changes.description.as_deref() {
        None => before.toolset.description,
        Some("") => None,
        Some(text) => Some(text.to_owned()),
    };
    let operation = SaveToolset {
        name: changes.name.clone(),
        description,
        tools: changed(before.entries, changes)?,
        replace: true,
        // What stays was taken before; only new names are to be looked at.
        force: changes.force || changes.add.is_empty(),
    };
    tell(out, &books.ask(operation).await?, "changed")
}

/// The entries as they shall be. Those that stay keep their hashes, so that a change of a definition
/// stays visible.
fn changed(before: Vec<ToolsetEntry>, changes: &ChangedToolset) -> Result<Vec<ToolsetEntry>, Problem> {
    let mut all = before;
    for name in &changes.remove {
        let place = all.iter().position(|entry| entry.namespaced_name == name.trim());
        let place = place.ok_or_else(|| absent(name, &changes.name, &all))?;
        all.remove(place);
    }
    for entry in entries(&changes.add) {
        if !all
            .iter()
            .any(|known| known.namespaced_name == entry.namespaced_name)
        {
            all.push(entry);
        }
    }
    Ok(all)
}

fn absent(name: &str, toolset: &str, all: &[ToolsetEntry]) -> Problem {
    let problem = Problem::not_found(format!("toolset `{toolset}` has no entry `{name}`"));
    match near(name, all.iter().map(|entry| entry.namespaced_name.as_str())) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("`mcpr-ctl toolsets export {toolset}` shows its entries")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(add: &[&str], remove: &[&str]) -> Result<Vec<String>, String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let changes = ChangedToolset {
            name: "dev".into(),
            add: owned(add),
            remove: owned(remove),
            description: None,
            force: false,
        };
        let before = entries(&owned(&["git.status", "docs.*"]));
        let after = changed(before, &changes).map_err(|problem| problem.hint.unwrap_or_default())?;
        Ok(after.into_iter().map(|entry| entry.namespaced_name).collect())
    }

    #[test]
    fn set_04_entries_keep_their_order_and_are_there_once() {
        assert_eq!(
            edited(&["git.push", "git.status"], &["docs.*"]),
            Ok(vec!["git.status".into(), "git.push".into()])
        );
    }

    #[test]
    fn ctl_04_an_entry_that_is_not_there_cannot_be_removed() {
        assert_eq!(
            edited(&[], &["git.statsu"]),
            Err("did you mean `git.status`?".into())
        );
        assert_eq!(
            edited(&[], &["something.else"]),
            Err("`mcpr-ctl toolsets export dev` shows its entries".into())
        );
    }
}
