//! What clients ask for: to subscribe, to unsubscribe, and to listen to resources.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcpr_auth::Scope;
use mcpr_bridge::Passage;
use mcpr_protocol::{ErrorObject, Method, Object, RawJson, Rope, Version, code};
use mcpr_registry::{ServerName, ServerState};
use mcpr_router::{RouteError, RouteErrorKind};
use mcpr_upstream::Refusal;
use tokio::time::{Instant, timeout, timeout_at};

use super::subscriber::Taken;
use super::{LONGEST, Subscriber, Topic};
use crate::call::{name, route};
use crate::client::Context;
use crate::dispatch::allowed;
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::session::Session;
use crate::snapshot::Snapshot;

/// How long a server may take to accept a subscription, where calls may not take less.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a listen waits for what it asks for to be heard: its client waits for the first message.
const STANDING: Duration = Duration::from_secs(2);

impl Gateway {
    /// `resources/subscribe` of a session. It is answered once the server has accepted.
    pub(crate) async fn subscribe(&self, context: &Context, params: Option<&Object>) -> Result<Rope, Fault> {
        let (session, uri) = subject(context, params, &Method::ResourcesSubscribe)?;
        self.wake_on_first_request().await;
        let topic = self.topic(&uri, Instant::now() + STANDING).await?;
        let most = self.options.limits.subscriptions;
        let taken = session.subscriber.take(&self.subscriptions, &topic, &uri, most);
        match taken {
            Taken::New | Taken::Again => {}
            Taken::Full => return Err(Fault::Subscriptions(most)),
            Taken::Closed => return Err(Fault::UnknownSession),
        }
        let told = self.told_of(context, &topic, &uri).await;
        if told.is_err() && taken == Taken::New {
            session.subscriber.release(&uri);
        }
        told.map(|()| RawJson::from_static("{}").into())
    }

    /// `resources/unsubscribe` of a session. What was not subscribed to is not an error.
    pub(crate) fn unsubscribe(&self, context: &Context, params: Option<&Object>) -> Result<Rope, Fault> {
        let (session, uri) = subject(context, params, &Method::ResourcesUnsubscribe)?;
        if !session.subscriber.release(&uri) {
            session.subscriber.release_all_to(&route(&self.snapshot(), &uri)?);
        }
        Ok(RawJson::from_static("{}").into())
    }

    /// Subscribes to what a listen asks for, and gives what of it is heard of: servers that refuse,
    /// or have not accepted soon, are left out.
    pub(crate) async fn stand(
        self: Arc<Self>,
        subscriber: Arc<Subscriber>,
        uris: Vec<Arc<str>>,
    ) -> Vec<Arc<str>> {
        let deadline = Instant::now() + STANDING;
        if !uris.is_empty() {
            let _ = timeout_at(deadline, self.wake_on_first_request()).await;
        }
        let mut asked = Vec::new();
        for uri in uris {
            if let Ok(topic) = self.topic(&uri, deadline).await {
                subscriber.take(&self.subscriptions, &topic, &uri, usize::MAX);
                asked.push((uri, topic));
            }
        }
        let heard = join_all(asked.iter().map(|(_, topic)| is_told(topic, deadline))).await;
        let (mut accepted, mut heard) = (Vec::new(), heard.into_iter());
        for (uri, _) in asked {
            if heard.next() == Some(true) {
                accepted.push(uri);
            } else {
                subscriber.release(&uri);
            }
        }
        accepted
    }

    /// Whose a resource is. One that nobody has may be that of a server that is just starting.
    async fn topic(&self, uri: &str, deadline: Instant) -> Result<Topic, Fault> {
        if uri.len() > LONGEST {
            return Err(Fault::InvalidParams(format!(
                "`uri` is longer than {LONGEST} bytes, which is too long for a subscription"
            )));
        }
        let mut snapshots = self.snapshot.clone();
        let known = |snapshot: &Arc<Snapshot>| {
            let unknown = matches!(route(snapshot, uri), Err(Fault::UnknownResource(_)));
            !unknown || !is_growing(snapshot)
        };
        let _ = timeout_at(deadline, snapshots.wait_for(known)).await;
        let route = route(&self.snapshot(), uri)?;
        self.usable(&route.server)?;
        let removed = || RouteError::new(route.server.clone(), RouteErrorKind::Removed);
        Ok(Topic {
            upstream: self.pool.get(&route.server).ok_or_else(removed)?,
            origin: route.uri.as_str().into(),
        })
    }

    /// Waits until the server has accepted.
    async fn told_of(&self, context: &Context, topic: &Topic, spelled: &str) -> Result<(), Fault> {
        let (limit, _) = self.limits_of(topic.server());
        let limit = limit.map_or(PATIENCE, |limit| limit.min(PATIENCE));
        let told = tokio::select! {
            told = timeout(limit, topic.upstream.tells_of(&topic.origin)) => told,
            () = self.stop.cancelled() => return Err(Fault::Stopping),
        };
        let refusal = match told {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(Refusal::Error(error))) => Fault::Server(self.passed_on(context, topic, spelled, &error)),
            Ok(Err(refusal)) => refused(topic, refusal),
            Err(_) => Fault::Timeout {
                server: topic.server().clone(),
                limit,
            },
        };
        Err(refusal.scrubbed(&self.secrets))
    }

    /// The server's own error, in the words of the client's era. What was asked for under a name is
    /// answered under it.
    fn passed_on(&self, context: &Context, topic: &Topic, spelled: &str, error: &RawJson) -> ErrorObject {
        let snapshot = self.snapshot();
        let replica = topic.upstream.replica();
        let passage = Passage {
            client: context.client.version,
            server: replica.map_or(Version::NEWEST_SESSION, |replica| replica.version),
            method: &Method::ResourcesSubscribe,
            abilities: context.abilities,
            asked: None,
            server_info: None,
        };
        let expose = |uri: &str| match uri {
            uri if *uri == *topic.origin => Some(spelled.to_owned()),
            uri => snapshot.known.expose_uri(topic.server(), uri),
        };
        let (Ok(text) | Err(text)) = mcpr_bridge::error(error, &passage, &expose);
        RawJson::trusted(text.into_bytes())
            .read()
            .unwrap_or_else(|_| ErrorObject::new(code::INTERNAL, unreadable(topic.server())))
    }
}

fn refused(topic: &Topic, refusal: Refusal) -> Fault {
    let server = topic.server().clone();
    match refusal {
        Refusal::NotOffered | Refusal::Error(_) => Fault::NoUpdates(server),
        Refusal::Failed(failed) => RouteError::of(server, &failed).into(),
        Refusal::Unavailable(status) => mcpr_router::unavailable(&topic.upstream, &status).into(),
    }
}

fn unreadable(server: &ServerName) -> String {
    format!("server `{server}` refused with something that is no JSON-RPC error object")
}

/// The session that a request is made in, and the URI it is about.
fn subject<'c>(
    context: &'c Context,
    params: Option<&Object>,
    method: &Method,
) -> Result<(&'c Session, Arc<str>), Fault> {
    allowed(context, Scope::Read)?;
    let params = params.ok_or_else(|| Fault::InvalidParams(format!("`{method}` needs `params`")))?;
    let session = context.session.as_deref().ok_or(Fault::NoSession)?;
    Ok((session, name(params, "uri")?.into()))
}

async fn is_told(topic: &Topic, deadline: Instant) -> bool {
    let told = timeout_at(deadline, topic.upstream.tells_of(&topic.origin)).await;
    matches!(told, Ok(Ok(())))
}

/// Whether a server that has never been listed is on its way up.
fn is_growing(snapshot: &Snapshot) -> bool {
    let mut states = snapshot.states.iter();
    states.any(|(_, state, _)| state == ServerState::Starting)
}
