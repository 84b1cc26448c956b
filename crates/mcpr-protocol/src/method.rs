//! Names of requests and notifications.

use std::borrow::Cow;
use std::fmt;

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// The method of a request.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Method {
            $($(#[$doc])* $variant,)*
            /// A method that mcpr has no part in.
            Other(Box<str>),
        }

        impl Method {
            /// The method of that name.
            pub fn new(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    other => Self::Other(other.into()),
                }
            }

            /// The name on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other(name) => name,
                }
            }
        }
    };
}

methods! {
    /// Opens a session.
    Initialize = "initialize",
    /// Asks a stateless server who it is.
    Discover = "server/discover",
    /// Asks whether the peer is alive.
    Ping = "ping",
    /// Lists tools.
    ToolsList = "tools/list",
    /// Calls a tool.
    ToolsCall = "tools/call",
    /// Lists resources.
    ResourcesList = "resources/list",
    /// Lists resource templates.
    TemplatesList = "resources/templates/list",
    /// Reads a resource.
    ResourcesRead = "resources/read",
    /// Asks for updates of a resource.
    ResourcesSubscribe = "resources/subscribe",
    /// Ends the updates of a resource.
    ResourcesUnsubscribe = "resources/unsubscribe",
    /// Opens a stream of notifications.
    Listen = "subscriptions/listen",
    /// Lists prompts.
    PromptsList = "prompts/list",
    /// Gets a prompt.
    PromptsGet = "prompts/get",
    /// Completes an argument.
    Complete = "completion/complete",
    /// Sets the level of a session's log messages.
    SetLevel = "logging/setLevel",
    /// Asks a client for its roots.
    RootsList = "roots/list",
    /// Asks a client's model for a message.
    CreateMessage = "sampling/createMessage",
    /// Asks a client's user for something.
    Elicit = "elicitation/create",
    /// Asks how a task stands.
    TasksGet = "tasks/get",
    /// Waits for the result of a task (2025-11-25).
    TasksResult = "tasks/result",
    /// Lists tasks (2025-11-25).
    TasksList = "tasks/list",
    /// Gives a task up.
    TasksCancel = "tasks/cancel",
    /// Answers what a task asks for (extension of 2026-07-28).
    TasksUpdate = "tasks/update",
}

impl Method {
    /// The parameter that a stateless hop repeats in the `Mcp-Name` header (2026-07-28, transports).
    pub fn named_by(&self) -> Option<&'static str> {
        match self {
            Self::ToolsCall | Self::PromptsGet => Some("name"),
            Self::ResourcesRead => Some("uri"),
            Self::TasksGet | Self::TasksUpdate | Self::TasksCancel => Some("taskId"),
            _ => None,
        }
    }

    /// The name, or the same text for all that somebody has made up: for what is kept of each name.
    pub fn known(&self) -> &str {
        match self {
            Self::Other(_) => "_OTHER",
            known => known.as_str(),
        }
    }

    /// Whether asking twice does no harm by the nature of the method.
    pub fn is_read(&self) -> bool {
        !matches!(self, Self::ToolsCall | Self::Other(_))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Cow<'_, str>> for Method {
    fn from(name: Cow<'_, str>) -> Self {
        Self::new(&name)
    }
}

/// Names of notifications.
pub mod notification {
    /// The client has taken note of the answer to `initialize`.
    pub const INITIALIZED: &str = "notifications/initialized";
    /// The sender of a request no longer wants its answer.
    pub const CANCELLED: &str = "notifications/cancelled";
    /// A request has come further.
    pub const PROGRESS: &str = "notifications/progress";
    /// A log message.
    pub const MESSAGE: &str = "notifications/message";
    /// The list of tools changed.
    pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
    /// The list of prompts changed.
    pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
    /// The list of resources changed.
    pub const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
    /// A resource changed.
    pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
    /// The client's roots changed.
    pub const ROOTS_CHANGED: &str = "notifications/roots/list_changed";
    /// A listen request was accepted.
    pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
    /// What a user was asked for out of band has been done (2025-11-25).
    pub const ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";
    /// A task has come further (extension of 2026-07-28).
    pub const TASKS: &str = "notifications/tasks";
}
