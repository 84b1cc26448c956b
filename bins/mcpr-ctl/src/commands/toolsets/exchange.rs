//! Toolsets as files have them (SET-04).

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use mcpr_admin::ToolsetEntry;
use mcpr_protocol::{Object, RawJson};
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, chain};

/// One toolset of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Body {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) tools: Vec<ToolsetEntry>,
}

/// A toolset of a file, or why it is none.
#[derive(Debug)]
pub(super) struct Item {
    /// As it is named, or its place in the list.
    pub(super) name: String,
    pub(super) body: Result<Body, Problem>,
}

/// The content of a file, or of standard input.
pub(super) fn content(path: &Path) -> Result<RawJson, Problem> {
    let read = if path == Path::new("-") {
        let mut content = Vec::new();
        io::stdin().lock().read_to_end(&mut content).map(|_| content)
    } else {
        fs::read(path)
    };
    let what = path.display();
    let content = read.map_err(|error| Problem::usage(format!("`{what}` cannot be read: {error}")))?;
    RawJson::parse(content.into())
        .map_err(|error| Problem::usage(format!("`{what}` is no JSON: {}", chain(&error))))
}

/// The one toolset of a file.
pub(super) fn one(content: &RawJson) -> Result<Body, Problem> {
    match &mut all(content)?[..] {
        [item] => std::mem::replace(&mut item.body, Err(nothing())),
        items => Err(Problem::usage(format!("the file has {} toolsets", items.len()))
            .hint("`mcpr-ctl toolsets import` takes several")),
    }
}

/// All toolsets of a file: one, a list of them, or an object `toolsets` of bodies by their names.
pub(super) fn all(content: &RawJson) -> Result<Vec<Item>, Problem> {
    if let Some(list) = content.elements() {
        return Ok(list
            .iter()
            .enumerate()
            .map(|(index, raw)| item(raw, index + 1))
            .collect());
    }
    let Ok(object) = Object::read(content) else {
        return Err(nothing());
    };
    match object.object("toolsets") {
        Some(named) => Ok(named.members().map(|(name, raw)| by_name(name, &raw)).collect()),
        None => Ok(vec![item(content, 1)]),
    }
}

/// A toolset that says its name itself.
fn item(raw: &RawJson, place: usize) -> Item {
    let body = read(raw);
    let name = body.as_ref().ok().and_then(|body| body.name.clone());
    Item {
        name: name.unwrap_or_else(|| format!("#{place}")),
        body,
    }
}

/// A toolset that is named by its key; a name of its own must be the same.
fn by_name(name: &str, raw: &RawJson) -> Item {
    let body = read(raw).and_then(|body| match body.name.as_deref() {
        Some(other) if other != name => Err(Problem::usage(format!("it says that its name is `{other}`"))),
        _ => Ok(Body {
            name: Some(name.to_owned()),
            ..body
        }),
    });
    Item {
        name: name.to_owned(),
        body,
    }
}

fn read(raw: &RawJson) -> Result<Body, Problem> {
    raw.read().map_err(|error| {
        Problem::usage(format!("it is no toolset: {error}"))
            .hint(r#"a toolset is {"name":"dev","tools":[{"namespacedName":"git.status"}]}"#)
    })
}

fn nothing() -> Problem {
    Problem::usage("the file holds no toolset")
        .hint("`mcpr-ctl toolsets import --help` shows what it may hold")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &'static str) -> Vec<String> {
        let all = all(&RawJson::from_static(text)).unwrap();
        let told = |item: Item| match item.body {
            Ok(body) => format!("{} {}", item.name, body.tools.len()),
            Err(problem) => format!("{} {}", item.name, problem.message),
        };
        all.into_iter().map(told).collect()
    }

    #[test]
    fn set_04_a_file_holds_one_toolset_a_list_or_an_object_of_them() {
        assert_eq!(
            names(r#"{"name":"dev","tools":[{"namespacedName":"git.*"}]}"#),
            ["dev 1"]
        );
        assert_eq!(
            names(r#"[{"name":"a","tools":[]},{"name":"b","tools":[]}]"#),
            ["a 0", "b 0"]
        );
        assert_eq!(
            names(r#"{"toolsets":{"dev":{"description":"d","tools":[]},"x":{"name":"y","tools":[]}}}"#),
            ["dev 0", "x it says that its name is `y`"]
        );
    }

    #[test]
    fn one_that_is_none_does_not_hide_the_others() {
        insta::assert_snapshot!(
            names(r#"[{"name":"a"},{"name":"b","tools":["git.status"]},{"name":"c","tools":[]},5]"#)
                .join("\n")
        );
    }
}
