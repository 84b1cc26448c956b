//! Keys inside `_meta`.

/// Names of `_meta` members, and of extensions, which have the same form.
pub mod key {
    /// Prefix of the members that 2026-07-28 reserves for itself.
    pub const RESERVED: &str = "io.modelcontextprotocol/";
    /// The revision a stateless request is written in.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client of a stateless request can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who the client of a stateless request says it is.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// From which level on a stateless request wants log messages.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Who the server of a stateless result says it is.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The listen request that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The task of 2025-11-25 that a message belongs to.
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// The extension under which a stateless server may answer with a task.
    pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
    /// The extension under which tools have a user interface (MCP Apps).
    pub const APPS_EXTENSION: &str = "io.modelcontextprotocol/ui";
    /// The token under which a request wants progress.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// Prefix of mcpr's own members; they never leave toward a server.
    pub const OWN: &str = "dev.mcpr/";
    /// The server that a listed item comes from.
    pub const SERVER: &str = "dev.mcpr/server";
    /// The name or URI that the server gave a listed item.
    pub const ORIGIN: &str = "dev.mcpr/origin";
    /// The state of each server in a list's scope.
    pub const SERVERS: &str = "dev.mcpr/servers";
    /// Says of a list that the project it was asked for in is not known.
    pub const PROJECT: &str = "dev.mcpr/project";
    /// Says of a list that the toolset it was asked for with is not known.
    pub const TOOLSET: &str = "dev.mcpr/toolset";
    /// On a request: the tags of the backends that it would like to go to.
    pub const PREFER: &str = "dev.mcpr/prefer";
    /// Which gateway introduces itself, so that none takes itself for one of its servers.
    pub const GATEWAY: &str = "dev.mcpr/gateway";
    /// The gateways that a listed item has come through, so that none takes it over twice.
    pub const GATEWAYS: &str = "dev.mcpr/gateways";
}
