//! The clients that use the gateway.

mod link;
mod list;
mod print;

use mcpr_admin::ExitCode;

use crate::cli::{Clients, Global};
use crate::out::Out;
use crate::problem::Problem;

pub(super) use link::endpoints;

/// Does what was typed.
pub(super) async fn run(global: &Global, out: &Out, which: &Clients) -> Result<ExitCode, Problem> {
    match which {
        Clients::Ls => list::list(global, out).await,
        Clients::Print(wanted) => print::print(global, out, wanted).await,
    }
}
