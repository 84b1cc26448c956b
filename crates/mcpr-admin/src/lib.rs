//! The stable contract of the admin API: what operators can ask, what they get, and a client that asks.
//!
//! An [`Operation`] is a value that can be sent: `POST /admin/v1/<PATH>` with its JSON as the body.
//! The answer is its [`Operation::Output`] as JSON, or a [`Failure`]. A gateway implements
//! [`Execute`] for each operation and hands requests to [`dispatch`]; a program asks through a
//! [`Client`]. What happens ([`Watch`]) and what comes of a call ([`CallTool`]) can be had as it comes: as
//! a stream of server-sent events, whose data are the items of a [`Streamed`] operation
//! ([`Client::stream`]). The names in the JSON are an API: version 1 may gain members, and loses none.
//!
//! ```no_run
//! use mcpr_admin::{Client, ClientError, Status};
//!
//! # async fn show() -> Result<(), ClientError> {
//! let gateway = Client::socket("/run/user/1000/mcpr/ctl.sock");
//! for server in gateway.run(&Status {}).await?.servers {
//!     let reason = server.reason.unwrap_or_default();
//!     assert!(server.state.is_fine(), "{} is {}: {reason}", server.name, server.state);
//! }
//! # Ok(())
//! # }
//! ```

mod client;
mod dispatch;
mod exit_code;
mod failure;
mod operation;
mod secret;
mod words;

pub use client::{Client, ClientError, InvalidUrl, Stream, Target};
pub use dispatch::{Execute, ExecuteAll, PREFIX, ROUTES, Route, STREAMS, dispatch, refuse, route};
pub use exit_code::ExitCode;
pub use failure::{ErrorCode, Failure};
pub use operation::history::{
    CallReport, CallStatus, HistoryList, ListHistory, PurgeHistory, Purged, ShowCall,
};
pub use operation::log::{LogReport, SetLogLevel, ShowLog};
pub use operation::pins::{
    Approval, ApprovePins, DiffPins, ListPins, PinChange, PinCounts, PinDiff, PinList, PinReport, PinState,
};
pub use operation::projects::{
    DeleteProject, ListProjects, ProjectList, ProjectReport, SaveProject, ShowProject,
};
pub use operation::prompts::{GetPrompt, ListPrompts, PromptArgument, PromptList, PromptReport};
pub use operation::relayed::Relayed;
pub use operation::resources::{ListResources, ReadResource, ResourceList, ResourceReport, TemplateReport};
pub use operation::running::{CallEvent, Drain, Drained, Event, EventKind, Reload, Reloaded, Watch};
pub use operation::secrets::{ListSecrets, RemoveSecret, SecretList, SecretReport, SecretState, SetSecret};
pub use operation::status::{
    BackendReport, ListServers, ServerList, ServerReport, ServerState, Status, StatusReport, Stop, Stopping,
    Via,
};
pub use operation::switches::{
    Check, CheckedOf, DisableServer, DisableTool, EnableServer, EnableTool, ExplainTool, Explanation,
    OverrideTool, RestartServer, ServerDetail, ServerTool, ShowServer, ToolSwitch, Verdict,
};
pub use operation::tokens::{
    CreateToken, CreatedToken, ListTokens, RetiringText, RevokeToken, RotateToken, Scope, TokenKind,
    TokenList, TokenReport, TokenState,
};
pub use operation::tools::{
    CallStep, CallTool, ListTools, Notice, ShowTool, ToolDetail, ToolList, ToolReport,
};
pub use operation::toolsets::{
    AcceptToolset, Active, ActiveBy, ActiveToolset, BuildToolset, Built, DefinitionState, DeleteToolset,
    Detail, DiscoverTools, Discovered, DiscoveredTool, EquipToolset, Equipped, ListToolsets, SaveToolset,
    ShowToolset, Signature, Skipped, ToolState, ToolsetDetail, ToolsetEntry, ToolsetList, ToolsetReport,
    ToolsetTool, UnequipToolset, Unequipped,
};
pub use operation::{Operation, Streamed};
pub use secret::Secret;
pub use words::UnknownWord;
