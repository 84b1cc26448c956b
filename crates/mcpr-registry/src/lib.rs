//! What mcpr knows about servers and what they offer; no I/O, nothing asynchronous.
//!
//! What the servers listed ([`Listing`]) is folded into one immutable [`Catalog`]; a [`View`] is
//! what one caller may see of it. Names and URIs are routed by the catalog's tables, never by
//! taking a name apart. Items stay the text that the server sent: [`Item::rendered`] is that text
//! with a handful of splices.
//!
//! ```
//! use std::sync::Arc;
//!
//! use mcpr_protocol::{Era, RawJson};
//! use mcpr_registry::{Assignments, Catalog, Kind, Listing, Naming, Offers, ServerNaming, View};
//!
//! let tool = RawJson::from_static(r#"{"name":"status","inputSchema":{"type":"object"}}"#);
//! let listing = Listing {
//!     server: "git".parse()?,
//!     naming: ServerNaming::default(),
//!     overrides: Default::default(),
//!     stateless_http: false,
//!     offers: Arc::new(Offers { tools: vec![tool], ..Offers::default() }),
//! };
//! let built = Catalog::build(&[listing], &Naming::default(), &Assignments::default());
//! let view = View::everything(Arc::new(built.catalog));
//!
//! let tool = view.tool("git_status").expect("it was listed");
//! assert_eq!(tool.origin.to_string(), "git.status");
//! assert!(view.list(Kind::Tools, Era::Session).starts_with(br#"[{"name":"git_status","#));
//! # Ok::<(), mcpr_registry::InvalidName>(())
//! ```

mod assign;
mod blob;
mod catalog;
mod change;
mod claims;
mod compared;
mod draft;
mod estimate;
mod header;
mod instructions;
mod item;
mod kind;
mod name_table;
mod naming;
mod offers;
mod options;
mod pin;
mod render;
mod schema;
mod selection;
mod server;
mod state;
mod suggest;
mod template;
mod uri;
mod view;
mod warning;

pub use assign::{Assignments, Row};
pub use blob::BlobError;
pub use catalog::{Built, Catalog};
pub use change::{Change, compare, definition_hash, in_order};
pub use compared::{Compared, Difference};
pub use estimate::estimate_tokens;
pub use header::{HeaderFault, ParamHeader, ParamKind, param_headers};
pub use instructions::instructions;
pub use item::{Item, ItemRef, Origin, Tool};
pub use kind::{Kind, UnknownKind};
pub use naming::BUILT_IN_TOOLS;
pub use offers::{Capabilities, Listing, Offers};
pub use options::{Hyphens, Naming, Overrides, PrefixPolicy, ServerNaming, ToolOverride, UriPolicy};
pub use pin::{Deviation, Pin, PinPolicy, Pins};
pub use schema::SchemaFault;
pub use selection::{Pattern, Selection};
pub use server::{InvalidName, ServerName, server_and_tool};
pub use state::{ServerState, States};
pub use suggest::nearest;
pub use uri::{Route, UriError};
pub use view::View;
pub use warning::{Oddity, Warning};
