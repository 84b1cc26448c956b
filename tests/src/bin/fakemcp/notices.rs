//! Messages that no request asked for: who hears of changed lists and resources.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;

use crate::message::{notification, with_member};
use crate::outlet::Outlet;
use crate::server::Talk;
use crate::tasks::STANDS;

/// The notification of a changed resource.
pub(crate) const UPDATED: &str = "notifications/resources/updated";

/// The notification of a visit that is done.
const COMPLETE: &str = "notifications/elicitation/complete";

/// Everybody who hears of changes.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    sessions: Mutex<Vec<(Arc<Talk>, Outlet)>>,
    listeners: Mutex<Vec<Listener>>,
}

/// A `subscriptions/listen` in progress.
#[derive(Debug)]
struct Listener {
    id: String,
    filter: Filter,
    outlet: Outlet,
}

/// What a listener wants to hear of.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Filter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: Vec<String>,
    task_ids: Vec<String>,
}

impl Notices {
    /// Adds a conversation of the session era.
    pub(crate) fn join(&self, talk: Arc<Talk>, outlet: Outlet) {
        self.sessions.lock().push((talk, outlet));
    }

    /// Adds a listener, and tells it first what was accepted.
    pub(crate) fn listen(&self, id: &str, filter: &str, outlet: &Outlet) {
        let params = tagged(&format!(r#"{{"notifications":{filter}}}"#), id);
        outlet.send(&notification(
            "notifications/subscriptions/acknowledged",
            Some(&params),
        ));
        let filter = serde_json::from_str(filter).unwrap_or_default();
        self.listeners.lock().push(Listener {
            id: id.to_owned(),
            filter,
            outlet: outlet.clone(),
        });
    }

    /// The way to one conversation that belongs to no request.
    pub(crate) fn outlet_of(&self, talk: &Talk) -> Option<Outlet> {
        let sessions = self.sessions.lock();
        let own = sessions
            .iter()
            .rev()
            .find(|(own, _)| std::ptr::eq(Arc::as_ptr(own), talk));
        own.map(|(_, outlet)| outlet.clone())
    }

    /// Sends a message to every conversation.
    pub(crate) fn send(&self, text: &str) {
        self.sessions.lock().retain(|(_, outlet)| outlet.send(text));
    }

    /// Ends a listener.
    pub(crate) fn forget(&self, id: &str) {
        self.listeners.lock().retain(|listener| listener.id != id);
    }

    /// Tells everybody who wants to know.
    pub(crate) fn announce(&self, method: &str, params: Option<&str>) {
        let uri = (method == UPDATED).then(|| member_of(params, "uri"));
        let task = (method == STANDS).then(|| member_of(params, "taskId"));
        self.sessions.lock().retain(|(talk, outlet)| {
            uri.as_ref().is_some_and(|uri| !talk.hears_of(uri)) || outlet.send(&notification(method, params))
        });
        self.listeners.lock().retain(|listener| {
            let params = tagged(params.unwrap_or("{}"), &listener.id);
            !listener.filter.wants(method, uri.as_deref(), task.as_ref())
                || listener.outlet.send(&notification(method, Some(&params)))
        });
    }
}

impl Filter {
    fn wants(&self, method: &str, uri: Option<&str>, task: Option<&String>) -> bool {
        match method {
            "notifications/tools/list_changed" => self.tools_list_changed,
            "notifications/prompts/list_changed" => self.prompts_list_changed,
            "notifications/resources/list_changed" => self.resources_list_changed,
            STANDS => task.is_some_and(|task| self.task_ids.contains(task)),
            _ => uri.is_some_and(|uri| {
                let mut wholes = self.resource_subscriptions.iter();
                wholes.any(|whole| is_part(uri, whole))
            }),
        }
    }
}

/// Whether a notification is about the server and not about a call.
pub(crate) fn is_news(method: &str) -> bool {
    method.ends_with("/list_changed") || method == UPDATED || method == COMPLETE
}

/// Whether a resource is `whole` or lies below it.
pub(crate) fn is_part(uri: &str, whole: &str) -> bool {
    let rest = uri.strip_prefix(whole);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn member_of(params: Option<&str>, member: &str) -> String {
    let params: serde_json::Value = serde_json::from_str(params.unwrap_or("{}")).unwrap_or_default();
    params[member].as_str().unwrap_or_default().to_owned()
}

fn tagged(params: &str, id: &str) -> String {
    with_member(
        params,
        &format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#),
    )
}
