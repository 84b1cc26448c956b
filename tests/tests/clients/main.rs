//! Claude Code, Codex and Gemini: what they do with a gateway, and what exactly they say to it.
//!
//! What they said is kept in `tests/fixtures/clients`. A test that finds them to say something else fails;
//! `MCPR_RECORD=1` writes down what they say now.

#![expect(
    clippy::unwrap_used,
    reason = "a test that does not find what it looks for has failed"
)]

mod claude_code;
mod codex;
mod fixture;
mod gemini;
mod place;
mod replay;
