//! What a client gets to see of a server's result.

use std::cell::OnceCell;

use mcpr_protocol::{Edit, Era, Mark, Method, Object, RawJson, Rope, Version, key};

use serde_json::Value;

use crate::block::{block, text, with_uri};
use crate::{Expose, Passage};

/// Longer texts are not compared by what they mean; it costs one block of text more.
const COMPARED: usize = 64 * 1024;

/// The result as the client must get it.
///
/// The same bytes, unless a URI in it has another exposed form (AGG-09), or the two sides speak
/// revisions in which results have other shapes (2026-07-28's `resultType`, `ttlMs` and
/// `cacheScope`; content blocks that older clients do not know).
pub fn result(raw: &RawJson, passage: &Passage<'_>, expose: Expose<'_>) -> Rope {
    let blocks = has_blocks_to_change(raw, passage);
    let shapes = passage.client.era() == Era::Stateless || passage.server.era() == Era::Stateless;
    if !blocks && !shapes {
        return raw.clone().into();
    }
    let Ok(object) = Object::read(raw) else {
        return raw.clone().into();
    };
    let mut edit = Edit::new(&object);
    if blocks {
        change_blocks(&mut edit, &object, passage, expose);
    }
    match passage.client.era() {
        Era::Stateless => complete(&mut edit, &object, passage),
        Era::Session if passage.server.era() == Era::Stateless => strip(&mut edit, &object, passage.method),
        Era::Session => {}
    }
    if edit.is_empty() {
        raw.clone().into()
    } else {
        edit.finish()
    }
}

/// What is told of a task (2026-07-28, extension `io.modelcontextprotocol/tasks`), as the client
/// must get it: the URIs exposed in what the task has brought.
pub fn told_task(raw: &RawJson, client: Version, expose: Expose<'_>) -> Rope {
    let changed = Object::read(raw).ok().and_then(|task| {
        let (member, changed) = brought(&task, client, expose);
        Some(Edit::new(&task).set(member, changed?).finish())
    });
    changed.unwrap_or_else(|| raw.clone().into())
}

/// A look for the few words without which nothing in the content can need a change.
fn has_blocks_to_change(raw: &RawJson, passage: &Passage<'_>) -> bool {
    let has = |mark| raw.may_hold(mark);
    match passage.method {
        Method::ResourcesRead => true,
        Method::TasksGet => has(Mark::Uri),
        Method::ToolsCall | Method::PromptsGet => {
            has(Mark::Resource) || passage.client < Version::V2025_03_26 && has(Mark::Audio)
        }
        _ => false,
    }
}

fn change_blocks(edit: &mut Edit<'_>, object: &Object, passage: &Passage<'_>, expose: Expose<'_>) {
    let (member, changed) = match passage.method {
        Method::ToolsCall => ("content", blocks(object.get("content"), passage.client, expose)),
        Method::PromptsGet => (
            "messages",
            messages(object.get("messages"), passage.client, expose),
        ),
        Method::ResourcesRead => ("contents", contents(object.get("contents"), expose)),
        Method::TasksGet => brought(object, passage.client, expose),
        _ => return,
    };
    if let Some(changed) = changed {
        edit.set(member, changed);
    }
}

fn blocks(content: Option<RawJson>, client: Version, expose: Expose<'_>) -> Option<Rope> {
    content?.map_elements(|element| block(element, client, expose))
}

fn messages(messages: Option<RawJson>, client: Version, expose: Expose<'_>) -> Option<Rope> {
    messages?.map_elements(|message| {
        let message = Object::read(message).ok()?;
        let content = message.get("content")?;
        let changed = match content.is_array() {
            true => blocks(Some(content), client, expose),
            false => block(&content, client, expose),
        };
        Some(Edit::new(&message).set("content", changed?).finish())
    })
}

fn contents(contents: Option<RawJson>, expose: Expose<'_>) -> Option<Rope> {
    contents?.map_elements(|content| with_uri(&Object::read(content).ok()?, expose))
}

/// What a task has brought, the result of a call or an error; `None` if it can stay.
fn brought(task: &Object, client: Version, expose: Expose<'_>) -> (&'static str, Option<Rope>) {
    let with = |whole: Object, member, changed| Edit::new(&whole).set(member, changed).finish();
    if let Some(error) = task.object("error") {
        let data = error.object("data").and_then(|data| with_uri(&data, expose));
        return ("error", data.map(|data| with(error, "data", data)));
    }
    let result = task.object("result");
    let changed = result.and_then(|result| {
        let content = blocks(result.get("content"), client, expose)?;
        Some(with(result, "content", content))
    });
    ("result", changed)
}

/// What a stateless client must find in a result.
fn complete(edit: &mut Edit<'_>, object: &Object, passage: &Passage<'_>) {
    let mut default = |member, value| {
        if object.get(member).is_none() {
            edit.set(member, RawJson::from_static(value));
        }
    };
    default("resultType", "\"complete\"");
    let is_answer = object.text("resultType").is_none_or(|kind| kind == "complete");
    if is_answer && *passage.method == Method::ResourcesRead {
        // A session-era server says nothing of how long its answer holds: stale at once.
        default("ttlMs", "0");
        default("cacheScope", "\"private\"");
    }
    if let Some(info) = passage
        .server_info
        .filter(|_| passage.server.era() == Era::Session)
    {
        introduce(edit, object, info);
    }
}

/// Results should say who has answered (2026-07-28, basic: `_meta`). What a stateless server says
/// or does not say of that is its own affair; one of the session era has no word for it.
fn introduce(edit: &mut Edit<'_>, object: &Object, info: &RawJson) {
    let empty = RawJson::from_static("{}");
    let meta = object.get("_meta").unwrap_or(empty);
    if let Ok(meta) = Object::read(&meta)
        && meta.get(key::SERVER_INFO).is_none()
    {
        let introduced = Edit::new(&meta).set(key::SERVER_INFO, info.clone()).finish();
        edit.set("_meta", introduced);
    }
}

/// What a session-era client must not find in a result.
fn strip(edit: &mut Edit<'_>, object: &Object, method: &Method) {
    edit.remove("resultType");
    if *method == Method::ResourcesRead {
        edit.remove("ttlMs").remove("cacheScope");
    }
    let structured = object.get("structuredContent").filter(|value| !value.is_object());
    if let (Method::ToolsCall, Some(structured)) = (method, structured) {
        edit.remove("structuredContent");
        say_in_text(edit, object, &structured);
    }
}

/// Structured content that is no object came with 2026-07-28; a text block must carry it instead.
fn say_in_text(edit: &mut Edit<'_>, object: &Object, structured: &RawJson) {
    let content = object
        .get("content")
        .and_then(|content| content.elements())
        .unwrap_or_default();
    let meant = OnceCell::new();
    let meant = || meant.get_or_init(|| value(structured.as_str())).as_ref();
    if !content.iter().any(|block| carries(block, structured, meant)) {
        let mut array = Rope::from(bytes::Bytes::from_static(b"["));
        for block in content {
            array.append(block.into());
            array.push_static(",");
        }
        array.append(text(structured.as_str()));
        array.push_static("]");
        edit.set("content", array);
    }
}

/// Whether the block is the text of that JSON, as servers should send it for older clients.
fn carries<'v>(block: &RawJson, structured: &RawJson, meant: impl Fn() -> Option<&'v Value>) -> bool {
    let Ok(block) = Object::read(block) else {
        return false;
    };
    let is_text = block.text("type").as_deref() == Some("text");
    let Some(text) = block.text("text").filter(|_| is_text) else {
        return false;
    };
    text == structured.as_str() || value(&text).is_some_and(|said| meant() == Some(&said))
}

/// What a text means, unless it is too long to be worth the memory.
fn value(text: &str) -> Option<Value> {
    let text = Some(text).filter(|text| text.len() <= COMPARED)?;
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpr_protocol::Abilities;

    fn passed(text: &'static str, method: &Method, client: Version, server: Version) -> String {
        let expose = |uri: &str| uri.starts_with("file:").then(|| format!("resource://s/{uri}"));
        let rope = result(
            &RawJson::from_static(text),
            &Passage {
                client,
                server,
                method,
                abilities: Abilities::NONE,
                asked: None,
                server_info: None,
            },
            &expose,
        );
        String::from_utf8(rope.into_bytes().to_vec()).unwrap()
    }

    const SESSION: Version = Version::V2025_11_25;
    const STATELESS: Version = Version::V2026_07_28;

    #[test]
    fn b45_a_plain_result_is_the_same_bytes() {
        let text =
            r#"{ "content" : [],"structuredContent":{"h":123456789012345678901234567890,"f":1.0,"e":1E400}}"#;
        assert_eq!(passed(text, &Method::ToolsCall, SESSION, SESSION), text);
    }

    #[test]
    fn agg_09_links_and_embedded_resources_are_exposed() {
        let text = r#"{"content":[{"type":"resource_link","uri":"file:///a","x":1},{"type":"resource","resource":{"uri":"file:///b","blob":"+/"}},{"type":"text","text":"\"resource"},{"type":"resource_link","uri":"ui://x"}]}"#;
        assert_eq!(
            passed(text, &Method::ToolsCall, SESSION, SESSION),
            r#"{"content":[{"type":"resource_link","uri":"resource://s/file:///a","x":1},{"type":"resource","resource":{"uri":"resource://s/file:///b","blob":"+/"}},{"type":"text","text":"\"resource"},{"type":"resource_link","uri":"ui://x"}]}"#
        );
    }

    #[test]
    fn prompts_and_reads_are_exposed_too() {
        let prompt =
            r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"file:///b"}}}]}"#;
        assert_eq!(
            passed(prompt, &Method::PromptsGet, SESSION, SESSION),
            r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"resource://s/file:///b"}}}]}"#
        );
        let read = r#"{"contents":[{"uri":"file:///b","_meta":{"ui":{}}}]}"#;
        assert_eq!(
            passed(read, &Method::ResourcesRead, SESSION, SESSION),
            r#"{"contents":[{"uri":"resource://s/file:///b","_meta":{"ui":{}}}]}"#
        );
    }

    #[test]
    fn agg_09_what_a_task_has_brought_is_exposed_too() {
        let expose = |uri: &str| uri.starts_with("file:").then(|| format!("resource://s/{uri}"));
        for (task, exposed) in [
            (
                r#"{"taskId":"t","result":{"content":[{"type":"resource_link","uri":"file:///a"}],"x":1E400}}"#,
                r#"{"taskId":"t","result":{"content":[{"type":"resource_link","uri":"resource://s/file:///a"}],"x":1E400}}"#,
            ),
            (
                r#"{"taskId":"t","error":{"code":-32602,"message":"m","data":{"uri":"file:///a"}}}"#,
                r#"{"taskId":"t","error":{"code":-32602,"message":"m","data":{"uri":"resource://s/file:///a"}}}"#,
            ),
            (
                r#"{ "taskId":"t","uri":"file:///a"}"#,
                r#"{ "taskId":"t","uri":"file:///a"}"#,
            ),
        ] {
            let told = told_task(&RawJson::from_static(task), STATELESS, &expose);
            assert_eq!(String::from_utf8(told.into_bytes().to_vec()).unwrap(), exposed);
            let got = format!("{},\"resultType\":\"complete\"}}", &exposed[..exposed.len() - 1]);
            assert_eq!(passed(task, &Method::TasksGet, STATELESS, STATELESS), got);
        }
    }

    #[test]
    fn a_stateless_client_finds_a_result_type_and_a_session_client_does_not() {
        assert_eq!(
            passed(r#"{"content":[]}"#, &Method::ToolsCall, STATELESS, SESSION),
            r#"{"content":[],"resultType":"complete"}"#
        );
        let task = r#"{"resultType":"task","taskId":"1"}"#;
        assert_eq!(passed(task, &Method::ToolsCall, STATELESS, STATELESS), task);
        assert_eq!(
            passed(
                r#"{"resultType":"complete","contents":[],"ttlMs":5}"#,
                &Method::ResourcesRead,
                SESSION,
                STATELESS
            ),
            r#"{"contents":[]}"#
        );
    }

    #[test]
    fn structured_content_that_is_no_object_becomes_text_for_session_clients() {
        assert_eq!(
            passed(
                r#"{"structuredContent":[1E400],"content":[]}"#,
                &Method::ToolsCall,
                SESSION,
                STATELESS
            ),
            r#"{"content":[{"text":"[1E400]","type":"text"}]}"#
        );
        let said = r#"{"content":[{"type":"text","text":"[ 1, 2 ]"}],"structuredContent":[1,2]}"#;
        assert_eq!(
            passed(said, &Method::ToolsCall, SESSION, STATELESS),
            r#"{"content":[{"type":"text","text":"[ 1, 2 ]"}]}"#
        );
        let long = format!("[{}1]", "1,".repeat(COMPARED));
        let huge =
            format!(r#"{{"content":[{{"type":"text","text":"{long} "}}],"structuredContent":{long}}}"#);
        let said_again = passed(huge.leak(), &Method::ToolsCall, SESSION, STATELESS);
        assert_eq!(said_again.matches(&long).count(), 2);
        let unsaid = r#"{"content":[{"type":"text","text":"two"}],"structuredContent":2}"#;
        assert_eq!(
            passed(unsaid, &Method::ToolsCall, SESSION, STATELESS),
            r#"{"content":[{"type":"text","text":"two"},{"text":"2","type":"text"}]}"#
        );
    }

    #[test]
    fn a_question_gets_no_time_to_live() {
        let needed = r#"{"resultType":"input_required","requestState":"s"}"#;
        assert_eq!(
            passed(needed, &Method::ResourcesRead, STATELESS, STATELESS),
            needed
        );
    }

    #[test]
    fn a_stateless_client_is_told_who_has_answered() {
        let info = RawJson::from_static(r#"{"name":"mcpr","version":"1"}"#);
        let told = |text| {
            let passage = Passage {
                client: STATELESS,
                server: SESSION,
                method: &Method::ToolsCall,
                abilities: Abilities::NONE,
                asked: None,
                server_info: Some(&info),
            };
            let rope = result(&RawJson::from_static(text), &passage, &|_| None);
            String::from_utf8(rope.into_bytes().to_vec()).unwrap()
        };
        let own =
            r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"git"}}}"#;
        assert_eq!(told(own), own);
        assert_eq!(
            told(r#"{"resultType":"complete","_meta":{"x":1}}"#),
            r#"{"resultType":"complete","_meta":{"x":1,"io.modelcontextprotocol/serverInfo":{"name":"mcpr","version":"1"}}}"#
        );
        assert!(told("{}").contains(r#""_meta":{"io.modelcontextprotocol/serverInfo""#));
        assert!(told(r#"{"_meta":null}"#).contains(r#""_meta":null"#));
    }

    #[test]
    fn old_clients_get_links_as_text() {
        let text = r#"{"content":[{"type":"resource_link","name":"n","uri":"file:///a"}]}"#;
        assert_eq!(
            passed(text, &Method::ToolsCall, Version::V2025_03_26, SESSION),
            r#"{"content":[{"text":"n: resource://s/file:///a","type":"text"}]}"#
        );
    }
}
