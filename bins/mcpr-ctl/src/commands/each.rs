//! Does the same to each of several things.

use mcpr_admin::ExitCode;

use crate::out::Out;
use crate::problem::Problem;

/// Does the same to each of several things. One that fails does not stop the others: it is told at
/// once, and if only some fail the command ends with 6.
pub(super) async fn each(
    names: &[String],
    out: &Out,
    act: impl AsyncFn(&str) -> Result<(), Problem>,
) -> Result<ExitCode, Problem> {
    if let [name] = names {
        return act(name).await.map(|()| ExitCode::Ok);
    }
    let mut ends = Vec::new();
    for name in names {
        let outcome = act(name).await.map(|()| ExitCode::Ok);
        ends.push(out.ended(outcome));
    }
    Ok(together(&ends))
}

/// How a command ends whose parts ended like this.
fn together(ends: &[ExitCode]) -> ExitCode {
    match ends {
        [] => ExitCode::Ok,
        [first, rest @ ..] if rest.iter().all(|end| end == first) => *first,
        _ if ends.contains(&ExitCode::Ok) => ExitCode::Partly,
        _ => ExitCode::Failed,
    }
}

#[cfg(test)]
mod tests {
    use ExitCode::{Failed, NotFound, Ok, Partly, TimedOut};

    use super::*;

    #[test]
    fn ctl_01_what_is_done_in_part_ends_with_6() {
        assert_eq!(together(&[Ok, Ok]), Ok);
        assert_eq!(together(&[Ok, NotFound]), Partly);
        assert_eq!(together(&[NotFound, NotFound]), NotFound);
        assert_eq!(together(&[NotFound, TimedOut]), Failed);
    }
}
