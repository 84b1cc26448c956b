//! Answers to questions of servers for which no client is there.

use crate::{ErrorObject, Method, RawJson, code};

/// The code for a user who does not want to sample (every session revision, sampling: error handling).
const REFUSED: i64 = -1;

/// What mcpr answers a server of the session era itself where no client can be asked. `ping` is a
/// question to mcpr.
///
/// # Errors
///
/// Where the answer is an error object of JSON-RPC.
pub fn declined(method: &Method) -> Result<RawJson, RawJson> {
    match method {
        Method::Ping => Ok(RawJson::from_static("{}")),
        Method::Elicit => Ok(RawJson::from_static(r#"{"action":"cancel"}"#)),
        Method::RootsList => Ok(RawJson::from_static(r#"{"roots":[]}"#)),
        Method::CreateMessage => {
            let text = "no client that can be asked to sample is waiting for this server; go on without";
            Err(ErrorObject::new(REFUSED, text).render())
        }
        other => {
            let text = format!("mcpr does not answer `{other}` for clients");
            Err(ErrorObject::new(code::METHOD_NOT_FOUND, text).render())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcpr_declines_in_the_words_of_each_question() {
        let elicited = declined(&Method::Elicit).unwrap();
        assert_eq!(elicited.as_str(), r#"{"action":"cancel"}"#);
        assert_eq!(declined(&Method::RootsList).unwrap().as_str(), r#"{"roots":[]}"#);
        assert_eq!(declined(&Method::Ping).unwrap().as_str(), "{}");
        let sampling = declined(&Method::CreateMessage).unwrap_err();
        assert!(sampling.as_str().starts_with(r#"{"code":-1,"#));
        assert!(
            declined(&Method::new("x/y"))
                .unwrap_err()
                .as_str()
                .contains("-32601")
        );
    }
}
