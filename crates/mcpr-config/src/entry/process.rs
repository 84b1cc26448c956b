//! Reads a server that is a program.

use std::path::Path;

use mcpr_upstream::{SecretText, StdioSpec};

use super::fields::Fields;
use super::reader::Reader;
use crate::dotenv;
use crate::fault::Fault;
use crate::read::Members;
use crate::tree::{Key, Node, Shape};
use crate::{keys, tree};

impl Reader<'_> {
    pub(super) fn process(
        &mut self,
        command: &Node,
        fields: &Fields<'_>,
        own: Option<Members<'_>>,
    ) -> Result<StdioSpec, Fault> {
        let inherit_env = match own.and_then(|own| own.get("env")) {
            Some(node) => node.choice(&keys::ENV_INHERIT)?,
            None => false,
        };
        Ok(StdioSpec {
            command: self.command(command)?,
            args: self.args(fields.get("args"))?,
            env: self.variables(fields)?,
            inherit_env,
            cwd: fields.get("cwd").map(|node| self.path(node)).transpose()?,
        })
    }

    fn command(&mut self, node: &Node) -> Result<String, Fault> {
        if let Shape::List(_) = node.shape {
            return Err(node
                .fault("must be the program alone, not a list")
                .hint("the rest belongs in `args`"));
        }
        node.filled()?;
        let command = self.expand(node)?;
        if command.trim().is_empty() {
            return Err(node.fault("is empty once its variables are filled in"));
        }
        Ok(self.lookups().folder.program(&command))
    }

    fn args(&mut self, node: Option<&Node>) -> Result<Vec<String>, Fault> {
        let Some(node) = node else { return Ok(Vec::new()) };
        let items = node.items().map_err(|fault| match node.shape {
            Shape::Text(_) => fault.hint("write `[\"…\"]`, one text for each argument"),
            _ => fault,
        })?;
        let args: Vec<String> = items
            .iter()
            .map(|item| self.expand(item))
            .collect::<Result<_, _>>()?;
        self.keep_arguments(&args);
        Ok(args)
    }

    /// What `envFile` names, then `env`, which wins.
    fn variables(&mut self, fields: &Fields<'_>) -> Result<Vec<(String, SecretText)>, Fault> {
        let mut variables = match fields.get("envFile") {
            Some(node) if !self.lookups().leaves_open(node) => self.variables_of_file(node)?,
            _ => Vec::new(),
        };
        for (key, value) in fields
            .get("env")
            .map(Node::entries)
            .transpose()?
            .unwrap_or_default()
        {
            if value.shape == Shape::Null {
                continue;
            }
            let name = name(key, value)?;
            variables.retain(|(known, _)| *known != name);
            variables.push((name, self.expand_secret(value)?));
        }
        Ok(variables)
    }

    fn variables_of_file(&mut self, node: &Node) -> Result<Vec<(String, SecretText)>, Fault> {
        let path = self.path(node)?;
        let named = self.named(node, &path)?;
        let unreadable = |error: &dyn std::fmt::Display| {
            node.fault(format_args!(
                "names the file `{named}`, which cannot be read: {error}"
            ))
        };
        let content = self
            .lookups()
            .env
            .read(&path)
            .map_err(|error| unreadable(&error))?;
        let text = String::from_utf8(content).map_err(|_| unreadable(&"it is not UTF-8"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let variables = dotenv::parse(text).map_err(|line| {
            node.fault(format_args!(
                "names the file `{named}`, whose line {line} is not `NAME=value`"
            ))
        })?;
        let secret = |(name, value)| (name, self.keep_secret(value));
        Ok(variables.into_iter().map(secret).collect())
    }

    /// How a file is called in a message: by its path, or as the configuration has it where the path holds what a
    /// variable, file or secret says.
    fn named(&self, node: &Node, path: &Path) -> Result<String, Fault> {
        let expanded = self.lookups().expand(node)?;
        Ok(match &expanded.secrets[..] {
            [] => path.display().to_string(),
            _ => node.scalar()?.to_owned(),
        })
    }
}

fn name(key: &tree::Key, value: &Node) -> Result<String, Fault> {
    let Key { text, place } = key;
    if text.is_empty() || text.contains(['=', '\0']) {
        return Err(Fault {
            place: Some(place.clone()),
            ..value.fault("is not the name of a variable")
        });
    }
    Ok(text.clone())
}
