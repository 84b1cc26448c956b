//! The names that the running gateway knows. No gateway, or one that takes its time, knows none: nobody waits for
//! a shell to complete a word.

use std::env;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches};
use clap_complete::CompletionCandidate;
use mcpr_admin::{
    ClientError, ListProjects, ListPrompts, ListSecrets, ListServers, ListTokens, ListTools, ListToolsets,
};
use mcpr_config::clients::ClientApp;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::kind::Kind;
use crate::cli::{Cli, Global};
use crate::connect::Gateway;
use crate::out::text::one_line;

/// How long somebody may have to wait.
const LIMIT: Duration = Duration::from_millis(300);

/// A name, and what shells that can show it say beside it.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) text: String,
    about: Option<String>,
}

/// The names of a kind.
pub(super) fn known(kind: Kind) -> Vec<Name> {
    let names = match kind {
        Kind::Client => ClientApp::ALL
            .map(|app| Name::new(app.id(), Some(app.title())))
            .into(),
        _ => asked(kind).unwrap_or_default(),
    };
    // What could command a terminal is no name that anybody wants to type.
    names
        .into_iter()
        .filter(|name| !name.text.contains(char::is_control))
        .collect()
}

fn asked(kind: Kind) -> Option<Vec<Name>> {
    let gateway = gateway()?;
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let names = runtime.block_on(async { timeout(LIMIT, ask(&gateway, kind)).await });
    // The search for an address cannot be broken off, and is not waited for.
    runtime.shutdown_background();
    names.ok()?.ok()
}

/// The gateway that is meant by what was typed so far.
fn gateway() -> Option<Gateway> {
    let typed = env::args_os().skip_while(|word| word != "--").skip(1);
    let matches = Cli::command()
        .ignore_errors(true)
        .try_get_matches_from(typed)
        .ok()?;
    let global = Global::from_arg_matches(&matches).ok()?;
    Gateway::locate(&global).ok()
}

async fn ask(gateway: &Gateway, kind: Kind) -> Result<Vec<Name>, ClientError> {
    Ok(match kind {
        Kind::Server => servers(gateway).await?,
        Kind::Tool => tools(gateway).await?,
        Kind::Entry => entries(gateway).await?,
        Kind::Prompt => prompts(gateway).await?,
        Kind::Toolset => toolsets(gateway).await?,
        Kind::Project => projects(gateway).await?,
        Kind::Token => tokens(gateway).await?,
        Kind::Secret => secrets(gateway).await?,
        Kind::Client => Vec::new(),
    })
}

async fn servers(gateway: &Gateway) -> Result<Vec<Name>, ClientError> {
    let list = gateway.ask(&ListServers {}).await?.servers;
    let names = list
        .iter()
        .map(|server| Name::new(&server.name, Some(server.state.as_str())));
    Ok(names.collect())
}

async fn tools(gateway: &Gateway) -> Result<Vec<Name>, ClientError> {
    let list = gateway.ask(&every_tool()).await?.tools;
    let names = list
        .iter()
        .map(|tool| Name::new(&tool.name, tool.description.as_deref()));
    Ok(names.collect())
}

async fn entries(gateway: &Gateway) -> Result<Vec<Name>, ClientError> {
    let list = gateway.ask(&every_tool()).await?.tools;
    let names = list.iter().map(|tool| {
        let entry = format!("{}.{}", tool.server, tool.origin);
        Name::new(&entry, tool.description.as_deref())
    });
    Ok(names.collect())
}

/// Also those that are turned off, which somebody may want to turn on.
fn every_tool() -> ListTools {
    ListTools {
        all: true,
        ..ListTools::default()
    }
}

async fn prompts(gateway: &Gateway) -> Result<Vec<Name>, ClientError> {
    let list = gateway.ask(&ListPrompts::default()).await?.prompts;
    let names = list
        .iter()
        .map(|prompt| Name::new(&prompt.name, prompt.description.as_deref()));
    Ok(names.collect())
}

async fn toolsets(gateway: &Gateway) -> Result<Vec<Name>, ClientError> {
    let list = gateway.ask(&ListToolsets {}).await?.toolsets;
    let names = list
        .iter()
        .map(|toolset| Name::new(&toolset.name, toolset.description.as_deref()));
    Ok(names.collect())
}

async fn projects(gateway: &Gateway) -> Result<Vec<Name>, ClientError> {
    let list = gateway.ask(&ListProjects {}).await?.projects;
    let names = list
        .iter()
        .map(|project| Name::new(&project.name, project.description.as_deref()));
    Ok(names.collect())
}

async fn tokens(gateway: &Gateway) -> Result<Vec<Name>, ClientError> {
    let list = gateway.ask(&ListTokens {}).await?.tokens;
    Ok(list
        .iter()
        .map(|token| Name::new(&token.id, Some(&token.name)))
        .collect())
}

async fn secrets(gateway: &Gateway) -> Result<Vec<Name>, ClientError> {
    let list = gateway.ask(&ListSecrets {}).await?.secrets;
    let names = list
        .iter()
        .map(|secret| Name::new(&secret.name, Some(secret.state.as_str())));
    Ok(names.collect())
}

impl Name {
    fn new(text: &str, about: Option<&str>) -> Self {
        Self {
            text: text.to_owned(),
            about: about.map(one_line),
        }
    }
}

impl From<Name> for CompletionCandidate {
    fn from(name: Name) -> Self {
        Self::new(name.text).help(name.about.map(Into::into))
    }
}
