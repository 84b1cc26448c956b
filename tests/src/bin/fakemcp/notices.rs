//! Messages that no request asked for: who hears of changed lists.

use parking_lot::Mutex;
use serde::Deserialize;

use crate::message::{notification, with_member};
use crate::outlet::Outlet;

/// Everybody who hears of changes.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    sessions: Mutex<Vec<Outlet>>,
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
}

impl Notices {
    /// Adds a conversation of the session era.
    pub(crate) fn join(&self, outlet: Outlet) {
        self.sessions.lock().push(outlet);
    }

    /// Adds a listener, and tells it first what was accepted.
    pub(crate) fn listen(&self, id: &str, filter: Option<&str>, outlet: &Outlet) {
        let text = filter.unwrap_or("{}");
        let params = tagged(&format!(r#"{{"notifications":{text}}}"#), id);
        outlet.send(&notification(
            "notifications/subscriptions/acknowledged",
            Some(&params),
        ));
        let filter = serde_json::from_str(text).unwrap_or_default();
        self.listeners.lock().push(Listener {
            id: id.to_owned(),
            filter,
            outlet: outlet.clone(),
        });
    }

    /// Ends a listener.
    pub(crate) fn forget(&self, id: &str) {
        self.listeners.lock().retain(|listener| listener.id != id);
    }

    /// Tells everybody who wants to know.
    pub(crate) fn announce(&self, method: &str, params: Option<&str>) {
        self.sessions
            .lock()
            .retain(|outlet| outlet.send(&notification(method, params)));
        self.listeners.lock().retain(|listener| {
            let params = tagged(params.unwrap_or("{}"), &listener.id);
            !listener.filter.wants(method, &params)
                || listener.outlet.send(&notification(method, Some(&params)))
        });
    }
}

impl Filter {
    fn wants(&self, method: &str, params: &str) -> bool {
        match method {
            "notifications/tools/list_changed" => self.tools_list_changed,
            "notifications/prompts/list_changed" => self.prompts_list_changed,
            "notifications/resources/list_changed" => self.resources_list_changed,
            _ => self.resource_subscriptions.iter().any(|uri| params.contains(uri)),
        }
    }
}

/// Whether a notification is about the server and not about a call.
pub(crate) fn is_news(method: &str) -> bool {
    method.ends_with("/list_changed") || method == "notifications/resources/updated"
}

fn tagged(params: &str, id: &str) -> String {
    with_member(
        params,
        &format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#),
    )
}
