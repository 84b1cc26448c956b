//! Who calls: the token format, the table of tokens, and the principals they stand for.
//!
//! A client presents a token as text. [`bearer`] takes it out of the `Authorization` header, a
//! [`TokenStore`] answers with the [`Principal`] it stands for or the reason it is [`Denied`], and
//! a [`Memo`] spares a connection the second check. The crate does no I/O: [`Tokens`] is a table in
//! memory, and whoever owns it keeps it equal to the database.
//!
//! ```
//! use mcpr_auth::{Denied, NewToken, Scope, Timestamp, TokenKind, TokenStore, Tokens, mint};
//!
//! let now = Timestamp::from_unix(1_800_000_000);
//! let minted = mint(NewToken::new(TokenKind::Pat, "laptop"), now)?;
//! let tokens = Tokens::default();
//! tokens.insert(&minted.token, minted.hash);
//!
//! let principal = tokens.verify(minted.secret.reveal(), now).expect("the token is known");
//! assert!(principal.allows(Scope::Call) && !principal.allows(Scope::Admin));
//! assert_eq!(tokens.verify("hello", now), Err(Denied::NotAToken));
//! # Ok::<(), mcpr_auth::MintError>(())
//! ```

mod denied;
mod format;
mod memo;
mod mint;
mod names;
mod principal;
mod random;
mod rate;
mod scope;
mod secret;
mod timestamp;
mod token;
mod token_store;
mod tokens;

pub use denied::{Denied, bearer};
pub use format::{Presented, TokenHash, inspect};
pub use memo::Memo;
pub use mint::{MintError, Minted, NewToken, mint, rotate};
pub use names::Names;
pub use principal::{Grant, Principal};
pub use rate::{Bucket, InvalidRate, Rate};
pub use scope::{InvalidScopes, Scope, Scopes};
pub use secret::Secret;
pub use timestamp::{InvalidTimestamp, Timestamp, unix_millis};
pub use token::{InvalidKind, InvalidTokenId, Retiring, Token, TokenId, TokenKind};
pub use token_store::TokenStore;
pub use tokens::Tokens;
