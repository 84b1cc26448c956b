//! What clients answer to questions of servers, on its way back.

use mcpr_protocol::{Edit, Method, Object, RawJson, Rope, Version};

use crate::block::{block, text};

/// What a client of the session era answered cannot be said to a stateless server: there is no
/// answer that says "no" to sampling.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the client refused to sample: {0}")]
pub struct Refused(pub String);

/// The peer's text is not what the specification says it has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// What a client of the session era answered, as the server of the session era must get it.
///
/// The same bytes, unless the server is of an older revision than the client.
///
/// # Errors
///
/// [`Malformed`] where the answer cannot be said in the server's revision.
pub fn session_answer(
    method: &Method,
    outcome: Result<RawJson, RawJson>,
    client: Version,
    server: Version,
) -> Result<Result<Rope, Rope>, Malformed> {
    let result = match outcome {
        Err(error) => return Ok(Err(error.into())),
        Ok(result) => result,
    };
    if client <= server {
        return Ok(Ok(result.into()));
    }
    downgraded(method, &result, server).map(Ok)
}

/// What a client of the session era answered, as an entry of `inputResponses`.
///
/// # Errors
///
/// [`Refused`] for an error in answer to sampling; a user who was not asked has cancelled, and a
/// client that does not say its roots has none.
pub fn answer_as_input(method: &Method, outcome: Result<&RawJson, &RawJson>) -> Result<Rope, Refused> {
    let result = match (outcome, method) {
        (Ok(result), _) => result,
        (Err(_), Method::Elicit) => return Ok(cancelled().into()),
        (Err(_), Method::RootsList) => return Ok(no_roots().into()),
        (Err(error), _) => {
            let message = Object::read(error).ok().and_then(|error| error.text("message"));
            return Err(Refused(message.unwrap_or_else(|| "it gave no reason".into())));
        }
    };
    Ok(match Object::read(result) {
        Ok(object) if object.get("_meta").is_some() => Edit::new(&object).remove("_meta").finish(),
        _ => result.clone().into(),
    })
}

/// An entry of a stateless client's `inputResponses`, as the result that a server of the session
/// era waits for.
///
/// # Errors
///
/// [`Malformed`] where it is no answer to `method`, or cannot be said in the server's revision.
pub fn input_as_answer(method: &Method, entry: &RawJson, server: Version) -> Result<Rope, Malformed> {
    let object = Object::read(entry).map_err(|_| Malformed("must be an object"))?;
    check(method, &object)?;
    let null_content = object.get("content").is_some_and(|content| content.is_null());
    let mut edit = Edit::new(&object);
    edit.remove("resultType");
    if null_content {
        edit.remove("content"); // Absent is understood everywhere, null is not.
    }
    let result = match edit.is_empty() {
        true => entry.clone(),
        false => RawJson::trusted(edit.finish().into_bytes()),
    };
    downgraded(method, &result, server)
}

fn cancelled() -> RawJson {
    RawJson::from_static(r#"{"action":"cancel"}"#)
}

fn no_roots() -> RawJson {
    RawJson::from_static(r#"{"roots":[]}"#)
}

/// Whether this is an answer to `method` at all.
fn check(method: &Method, answer: &Object) -> Result<(), Malformed> {
    match method {
        Method::Elicit => check_elicited(answer),
        Method::CreateMessage => check_message(answer),
        Method::RootsList => {
            let roots = answer.get("roots").and_then(|roots| roots.elements());
            let are_roots = roots.is_some_and(|roots| roots.iter().all(is_root));
            are_roots
                .then_some(())
                .ok_or(Malformed("`roots` must be an array of objects with a `uri` each"))
        }
        _ => Ok(()),
    }
}

fn check_elicited(answer: &Object) -> Result<(), Malformed> {
    let action = answer.text("action");
    if !matches!(action.as_deref(), Some("accept" | "decline" | "cancel")) {
        return Err(Malformed("`action` must be accept, decline or cancel"));
    }
    match answer.get("content") {
        Some(content) if !content.is_object() && !content.is_null() => {
            Err(Malformed("`content` must be an object"))
        }
        _ => Ok(()),
    }
}

fn check_message(answer: &Object) -> Result<(), Malformed> {
    if !matches!(answer.text("role").as_deref(), Some("user" | "assistant")) {
        return Err(Malformed("`role` must be user or assistant"));
    }
    if answer.text("model").is_none() {
        return Err(Malformed("`model` must be a string"));
    }
    let content = answer.get("content");
    let blocks = content.map(|content| content.elements().unwrap_or_else(|| vec![content]));
    let are_blocks = blocks.is_some_and(|blocks| blocks.iter().all(is_block));
    are_blocks.then_some(()).ok_or(Malformed(
        "`content` must be a content block, or an array of such",
    ))
}

fn is_root(root: &RawJson) -> bool {
    Object::read(root).is_ok_and(|root| root.text("uri").is_some())
}

fn is_block(block: &RawJson) -> bool {
    Object::read(block).is_ok_and(|block| block.text("type").is_some())
}

/// The result in the words of the server's revision.
fn downgraded(method: &Method, result: &RawJson, server: Version) -> Result<Rope, Malformed> {
    let unchanged = || Ok(result.clone().into());
    if *method != Method::CreateMessage || server >= Version::V2025_11_25 {
        return unchanged();
    }
    let Ok(object) = Object::read(result) else {
        return unchanged();
    };
    let Some(content) = object.get("content") else {
        return unchanged();
    };
    let single = match content.elements() {
        Some(blocks) => Some(joined(&blocks, server)?),
        None => block(&content, server, &|_| None),
    };
    Ok(match single {
        Some(content) => Edit::new(&object).set("content", content).finish(),
        None => result.clone().into(),
    })
}

/// One block that says the same: before 2025-11-25 a message had no more.
fn joined(blocks: &[RawJson], server: Version) -> Result<Rope, Malformed> {
    if let [one] = blocks {
        let changed = block(one, server, &|_| None);
        return Ok(changed.unwrap_or_else(|| one.clone().into()));
    }
    let texts: Option<Vec<String>> = blocks.iter().map(text_of).collect();
    let texts = texts.ok_or(Malformed(
        "several content blocks that are not all texts cannot be said in the server's protocol version",
    ))?;
    Ok(text(&texts.join("\n")))
}

fn text_of(block: &RawJson) -> Option<String> {
    let block = Object::read(block).ok()?;
    block
        .text("text")
        .filter(|_| block.text("type").as_deref() == Some("text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Version = Version::V2025_06_18;
    const D: Version = Version::V2025_11_25;

    const TEXTS: &str = r#"{"role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"x":1E400}"#;

    fn text_of(rope: Rope) -> String {
        String::from_utf8(rope.into_bytes().to_vec()).unwrap()
    }

    fn answered(text: &'static str, client: Version, server: Version) -> Result<String, Malformed> {
        let answer = session_answer(
            &Method::CreateMessage,
            Ok(RawJson::from_static(text)),
            client,
            server,
        )?;
        Ok(text_of(answer.unwrap()))
    }

    #[test]
    fn between_equal_revisions_an_answer_is_the_same_bytes() {
        assert_eq!(answered(TEXTS, D, D).unwrap(), TEXTS);
        let error = RawJson::from_static(r#"{"code":-1,"message":"no"}"#);
        let passed = session_answer(&Method::CreateMessage, Err(error.clone()), D, C).unwrap();
        assert_eq!(text_of(passed.unwrap_err()), error.as_str());
    }

    #[test]
    fn older_servers_get_one_block() {
        assert_eq!(
            answered(TEXTS, D, C).unwrap(),
            r#"{"role":"assistant","model":"m","content":{"text":"a\nb","type":"text"},"x":1E400}"#
        );
        assert_eq!(
            answered(r#"{"content":[{"type":"image","data":""}]}"#, D, C).unwrap(),
            r#"{"content":{"type":"image","data":""}}"#
        );
        let mixed = r#"{"content":[{"type":"image"},{"type":"text","text":"a"}]}"#;
        assert!(answered(mixed, D, C).is_err());
    }

    #[test]
    fn what_a_stateless_server_has_no_answer_for_is_said_as_well_as_it_goes() {
        let error = RawJson::from_static(r#"{"code":-1,"message":"no time"}"#);
        let said = |method: &Method| answer_as_input(method, Err(&error)).map(text_of);
        assert_eq!(said(&Method::Elicit).unwrap(), r#"{"action":"cancel"}"#);
        assert_eq!(said(&Method::RootsList).unwrap(), r#"{"roots":[]}"#);
        assert_eq!(
            said(&Method::CreateMessage).unwrap_err().to_string(),
            "the client refused to sample: no time"
        );
    }

    #[test]
    fn an_input_response_is_the_bare_result() {
        let result = RawJson::from_static(r#"{"_meta":{"a":1},"action":"accept","content":{"n":1.0}}"#);
        let entry = answer_as_input(&Method::Elicit, Ok(&result)).map(text_of);
        assert_eq!(entry.unwrap(), r#"{"action":"accept","content":{"n":1.0}}"#);
    }

    #[test]
    fn a_malformed_input_response_is_refused() {
        let refused = |method: Method, text| {
            let answer = input_as_answer(&method, &RawJson::from_static(text), D);
            answer.unwrap_err().to_string()
        };
        assert_eq!(refused(Method::Elicit, "[]"), "must be an object");
        assert!(refused(Method::Elicit, r#"{"action":"yes"}"#).starts_with("`action`"));
        assert!(refused(Method::Elicit, r#"{"action":"accept","content":[]}"#).starts_with("`content`"));
        assert!(refused(Method::RootsList, r#"{"roots":[{}]}"#).starts_with("`roots`"));
        assert!(refused(Method::CreateMessage, r#"{"role":"system"}"#).starts_with("`role`"));
        assert!(refused(Method::CreateMessage, r#"{"role":"user"}"#).starts_with("`model`"));
        assert!(refused(Method::CreateMessage, r#"{"role":"user","model":"m"}"#).starts_with("`content`"));
        assert!(
            refused(
                Method::CreateMessage,
                r#"{"role":"user","model":"m","content":"x"}"#
            )
            .contains("block")
        );
    }

    #[test]
    fn a_well_formed_input_response_is_the_servers_result() {
        let passed = |method: Method, text| {
            let answer = input_as_answer(&method, &RawJson::from_static(text), C);
            answer.map(text_of).unwrap()
        };
        let elicited = r#"{"action":"accept","content":{"n":123456789012345678901234567890}}"#;
        assert_eq!(passed(Method::Elicit, elicited), elicited);
        assert_eq!(
            passed(
                Method::Elicit,
                r#"{"action":"cancel","content":null,"resultType":"complete"}"#
            ),
            r#"{"action":"cancel"}"#
        );
        assert!(passed(Method::CreateMessage, TEXTS).contains(r#"{"text":"a\nb","type":"text"}"#));
    }
}
