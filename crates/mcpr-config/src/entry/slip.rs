//! Keys that a person is about to write into an entry.

use crate::fault::Fault;
use crate::keys;
use crate::nearest;

/// Checks a key that is to be set in the entry of a server.
///
/// Reading is more patient: there an unknown key may be another client's, and is at most warned of.
///
/// # Errors
///
/// When it belongs in the object `mcpr` of the server, or nobody knows it and it looks like one of mcpr's.
pub fn check_server_key(key: &str) -> Result<(), Fault> {
    if keys::SERVER.known(key) || keys::FOREIGN.known(key) {
        return Ok(());
    }
    if keys::SERVER_OWN.known(key) {
        let fault = Fault::new(format!(
            "`{key}` has no meaning beside the object `mcpr` of a server"
        ));
        return Err(fault.hint(format!("write `mcpr.{key}`")));
    }
    match nearest(key, keys::SERVER.all.iter().copied()) {
        Some(known) => {
            Err(Fault::new(format!("unknown key `{key}`")).hint(format!("did you mean `{known}`?")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cfg_04_a_slip_of_the_pen_is_not_written() {
        let told = |key| check_server_key(key).map_err(|fault| fault.to_string());

        assert_eq!(
            told("comand"),
            Err("unknown key `comand`; did you mean `command`?".into())
        );
        assert_eq!(
            told("lazy"),
            Err("`lazy` has no meaning beside the object `mcpr` of a server; write `mcpr.lazy`".into())
        );
        for fine in ["command", "mcpr", "alwaysLoad", "somebodyElses"] {
            assert_eq!(told(fine), Ok(()));
        }
    }
}
