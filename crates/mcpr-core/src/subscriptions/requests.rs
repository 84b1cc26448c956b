//! What clients ask for: to subscribe, to unsubscribe, and to listen.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcpr_auth::{Principal, Scope as Allowed};
use mcpr_bridge::Passage;
use mcpr_protocol::{ErrorObject, Method, Object, RawJson, Rope, Version, code};
use mcpr_registry::{ServerName, ServerState};
use mcpr_router::{RouteError, RouteErrorKind};
use mcpr_upstream::{Feed, PerFeed, Refusal};
use tokio::time::{Instant, timeout, timeout_at};

use super::subscriber::Taken;
use super::{LONGEST, Subscriber, Topic};
use crate::call::{name, route};
use crate::client::Context;
use crate::dispatch::allowed;
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::quota::Share;
use crate::scope::Scope;
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
        let _spot = self.take_spot(&context.principal, Share::AtServer)?;
        self.wake_on_first_request().await;
        let (scope, _) = self.scope(&context.principal, &context.asked);
        let topic = self.topic(&scope, &uri, Instant::now() + STANDING).await?;
        let most = self.plan().options.limits.subscriptions;
        let all = self.subscriptions.of(Feed::Resources);
        let spot = || self.take_spot(&context.principal, Share::Subscription);
        let taken = session.subscriber.take(all, &topic, &uri, (most, spot));
        match taken {
            Taken::New | Taken::Again => {}
            Taken::Full => return Err(Fault::Subscriptions(most)),
            Taken::Spent(full) => return Err(full.into()),
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
            session
                .subscriber
                .release_all_to(&route(&self.sight(context), &uri)?);
        }
        Ok(RawJson::from_static("{}").into())
    }

    /// Subscribes to what a listen asks for, and gives what of it is heard of: what the caller may
    /// not know of, and servers that refuse, or have not accepted soon, are left out.
    pub(crate) async fn stand(
        self: Arc<Self>,
        principal: Principal,
        scope: Scope,
        ears: PerFeed<Arc<Subscriber>>,
        names: PerFeed<Vec<Arc<str>>>,
    ) -> PerFeed<Vec<Arc<str>>> {
        let deadline = Instant::now() + STANDING;
        if Feed::ALL.iter().any(|feed| !names.of(*feed).is_empty()) {
            let _ = timeout_at(deadline, self.wake_on_first_request()).await;
        }
        let (gateway, caller) = (&self, (&principal, &scope));
        let [resources, tasks] = Feed::ALL.map(|feed| {
            let (ear, names) = (ears.of(feed), names.of(feed));
            async move {
                let mut asked = Vec::new();
                for name in names {
                    if let Ok(topic) = gateway.topic_of(feed, caller, name, deadline).await {
                        let spot = || gateway.take_spot(caller.0, Share::Subscription);
                        ear.take(gateway.subscriptions.of(feed), &topic, name, (usize::MAX, spot));
                        asked.push((name.clone(), topic));
                    }
                }
                accepted(ear, asked, deadline).await
            }
        });
        let (resources, tasks) = tokio::join!(resources, tasks);
        [resources, tasks].into()
    }

    async fn topic_of(
        &self,
        feed: Feed,
        (principal, scope): (&Principal, &Scope),
        name: &str,
        deadline: Instant,
    ) -> Result<Topic, Fault> {
        match feed {
            Feed::Resources => self.topic(scope, name, deadline).await,
            Feed::Tasks => self.task_topic(principal, name),
        }
    }

    /// The task of that id, if the caller may know of it.
    fn task_topic(&self, principal: &Principal, id: &str) -> Result<Topic, Fault> {
        let unknown = || Fault::UnknownTask(id.to_owned());
        let opened = self.open_task(principal, id);
        let (server, sealed) = opened
            .filter(|(_, sealed)| sealed.task.len() <= LONGEST)
            .ok_or_else(unknown)?;
        self.usable(&server)?;
        Ok(Topic {
            feed: Feed::Tasks,
            server: self.pool.get(&server).ok_or_else(unknown)?,
            origin: sealed.task.into(),
        })
    }

    /// Whose a resource is. One that nobody has may be that of a server that is just starting.
    async fn topic(&self, scope: &Scope, uri: &str, deadline: Instant) -> Result<Topic, Fault> {
        if uri.len() > LONGEST {
            return Err(Fault::InvalidParams(format!(
                "`uri` is longer than {LONGEST} bytes, which is too long for a subscription"
            )));
        }
        let mut snapshots = self.snapshot.clone();
        let known = |snapshot: &Arc<Snapshot>| {
            let unknown = matches!(route(&snapshot.sight(scope), uri), Err(Fault::UnknownResource(_)));
            !unknown || !is_growing(snapshot)
        };
        let _ = timeout_at(deadline, snapshots.wait_for(known)).await;
        let route = route(&self.snapshot().sight(scope), uri)?;
        self.usable(&route.server)?;
        let removed = || RouteError::new(route.server.clone(), RouteErrorKind::Removed);
        Ok(Topic {
            feed: Feed::Resources,
            server: self.pool.get(&route.server).ok_or_else(removed)?,
            origin: route.uri.as_str().into(),
        })
    }

    /// Waits until the server has accepted.
    async fn told_of(&self, context: &Context, topic: &Topic, spelled: &str) -> Result<(), Fault> {
        let (limit, _) = self.limits_of(topic.owner());
        let limit = limit.map_or(PATIENCE, |limit| limit.min(PATIENCE));
        let told = tokio::select! {
            told = timeout(limit, topic.is_told()) => told,
            () = self.stop.cancelled() => return Err(Fault::Stopping),
        };
        let refusal = match told {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(Refusal::Error(error))) => Fault::Server(self.passed_on(context, topic, spelled, &error)),
            Ok(Err(refusal)) => refused(topic, refusal),
            Err(_) => Fault::Timeout {
                server: topic.owner().clone(),
                limit,
            },
        };
        Err(refusal.scrubbed(&self.secrets))
    }

    /// The server's own error, in the words of the client's era. What was asked for under a name is
    /// answered under it.
    fn passed_on(&self, context: &Context, topic: &Topic, spelled: &str, error: &RawJson) -> ErrorObject {
        let snapshot = self.snapshot();
        let replica = topic.server.replica();
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
            uri => snapshot.known.expose_uri(topic.owner(), uri),
        };
        let (Ok(text) | Err(text)) = mcpr_bridge::error(error, &passage, &expose);
        let error = RawJson::trusted(text.into_bytes()).read::<ErrorObject>();
        let mut error = error.unwrap_or_else(|_| ErrorObject::new(code::INTERNAL, unreadable(topic.owner())));
        if !is_about_a_resource(&error) {
            // What is said of all that the gateway asks for is not said of this client.
            error.message = format!(
                "server `{}` refuses the subscription, which it keeps for all clients of the gateway together: {}",
                topic.owner(),
                error.message
            );
        }
        error
    }
}

fn refused(topic: &Topic, refusal: Refusal) -> Fault {
    let server = topic.owner().clone();
    match refusal {
        Refusal::NotOffered | Refusal::Error(_) => Fault::NoUpdates(server),
        Refusal::Full => Fault::SubscriptionsAt(server),
        Refusal::Failed(failed) => RouteError::of(server, &failed).into(),
        Refusal::Unavailable(status) => mcpr_router::unavailable(&topic.server, &status).into(),
    }
}

/// Whether an error says which resource it is about, or that there is none.
fn is_about_a_resource(error: &ErrorObject) -> bool {
    let data = error.data.as_ref().and_then(|data| Object::read(data).ok());
    error.code == code::RESOURCE_NOT_FOUND || data.is_some_and(|data| data.get("uri").is_some())
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
    allowed(context, Allowed::Read)?;
    let params = params.ok_or_else(|| Fault::InvalidParams(format!("`{method}` needs `params`")))?;
    let session = context.session.as_deref().ok_or(Fault::NoSession)?;
    Ok((session, name(params, "uri")?.into()))
}

/// What of this the servers have accepted in time; the rest is given back.
async fn accepted(ear: &Subscriber, asked: Vec<(Arc<str>, Topic)>, deadline: Instant) -> Vec<Arc<str>> {
    let told = asked
        .iter()
        .map(|(_, topic)| timeout_at(deadline, topic.is_told()));
    let told = join_all(told).await;
    let heard = asked.into_iter().zip(told).filter_map(|((name, _), told)| {
        let heard = matches!(told, Ok(Ok(())));
        if !heard {
            ear.release(&name);
        }
        heard.then_some(name)
    });
    heard.collect()
}

/// Whether a server that has never been listed is on its way up.
fn is_growing(snapshot: &Snapshot) -> bool {
    let mut states = snapshot.states.iter();
    states.any(|(_, state, _)| state == ServerState::Starting)
}
