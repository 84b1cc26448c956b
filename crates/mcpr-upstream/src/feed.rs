//! What a server tells of one by one: resources, and tasks.

use std::sync::Arc;

use mcpr_protocol::{Era, notification};
use mcpr_registry::Capabilities;

use crate::introduce::Introduced;
use crate::wishes::Asked;

/// A kind of things of which a server tells to those who have named them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feed {
    /// Resources, by their URIs: that they have changed.
    Resources,
    /// Tasks, by their ids: how they stand (2026-07-28, extension `io.modelcontextprotocol/tasks`).
    Tasks,
}

/// One of something for each feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerFeed<T> {
    resources: T,
    tasks: T,
}

impl Feed {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Resources, Self::Tasks];

    /// The feed that a notification is of.
    pub fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feed| feed.method() == method)
    }

    /// The notification by which a server tells.
    pub fn method(self) -> &'static str {
        match self {
            Self::Resources => notification::RESOURCE_UPDATED,
            Self::Tasks => notification::TASKS,
        }
    }

    /// The member of that notification that names what it is about.
    pub fn member(self) -> &'static str {
        match self {
            Self::Resources => "uri",
            Self::Tasks => "taskId",
        }
    }

    /// The member of a `subscriptions/listen` that lists what is to be told of.
    pub fn filter(self) -> &'static str {
        match self {
            Self::Resources => "resourceSubscriptions",
            Self::Tasks => "taskIds",
        }
    }

    /// Whether a server with these capabilities may have it.
    pub(crate) fn is_offered(self, capabilities: &Capabilities) -> bool {
        match self {
            Self::Resources => capabilities.subscribe,
            Self::Tasks => capabilities.tasks,
        }
    }

    /// Whether a server that has been introduced has it: only the stateless era has tasks to listen to.
    pub(crate) fn is_offered_by(self, introduced: &Introduced) -> bool {
        let known = self == Self::Resources || introduced.version.era() == Era::Stateless;
        known && self.is_offered(&introduced.capabilities)
    }
}

impl<T> PerFeed<T> {
    /// Makes one for each.
    pub fn new(mut make: impl FnMut(Feed) -> T) -> Self {
        Self {
            resources: make(Feed::Resources),
            tasks: make(Feed::Tasks),
        }
    }

    /// The one for a feed.
    pub fn of(&self, feed: Feed) -> &T {
        match feed {
            Feed::Resources => &self.resources,
            Feed::Tasks => &self.tasks,
        }
    }

    /// The one for a feed, to be changed.
    pub fn of_mut(&mut self, feed: Feed) -> &mut T {
        match feed {
            Feed::Resources => &mut self.resources,
            Feed::Tasks => &mut self.tasks,
        }
    }
}

/// In the order of [`Feed::ALL`].
impl<T> From<[T; 2]> for PerFeed<T> {
    fn from([resources, tasks]: [T; 2]) -> Self {
        Self { resources, tasks }
    }
}

impl PerFeed<Arc<Asked>> {
    /// Whether nothing is wanted.
    pub(crate) fn are_empty(&self) -> bool {
        self.resources.is_empty() && self.tasks.is_empty()
    }

    /// Waits until nothing is wanted; false if that was so from the beginning.
    pub(crate) async fn none_left(&self) -> bool {
        let (resources, tasks) = tokio::join!(self.resources.none_left(), self.tasks.none_left());
        resources || tasks
    }
}
