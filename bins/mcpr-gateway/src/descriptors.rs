//! How many files, connections and pipes the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than all limits of a gateway together let it need; some programs that inherit it close each that there could be.
const ENOUGH: u64 = 16 * 1024;

/// Takes as many as may be had: many systems give a process 1,024 until it asks, which are fewer than
/// `limits.connections` alone.
pub(crate) fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(ENOUGH, |most| most.min(ENOUGH));
    if current.is_some_and(|current| current < wanted) {
        let raised = Rlimit {
            current: Some(wanted),
            maximum,
        };
        // Where that is not allowed it stays as it is, and strangers give way when there are no more.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_05_a_process_may_have_as_many_open_as_it_is_allowed() {
        raise();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let allowed = maximum.map_or(ENOUGH, |most| most.min(ENOUGH));
        assert!(
            current.is_none_or(|current| current >= allowed),
            "{current:?} of {allowed}"
        );
    }
}
