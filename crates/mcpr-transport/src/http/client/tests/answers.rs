//! What comes back for a request.

use parking_lot::Mutex;

use super::super::stub::{response, say};
use super::*;
use crate::{FailedKind, Sent};

async fn answered(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Result<String, Failed> {
    let stub = Stub::start(reply).await;
    let (client, _events) = client(&stub);
    ask(&*client, Method::ToolsList).await
}

#[tokio::test]
async fn b32_media_types_may_have_parameters_and_any_case() {
    for (media, frame) in [
        ("application/json; charset=utf-8", ("", "")),
        ("APPLICATION/JSON", ("", "")),
        ("Text/Event-Stream;charset=UTF-8", ("data: ", "\n\n")),
        (
            "text/event-stream",
            ("event: message\r\nid: 1\r\ndata:", "\r\n\r\n"),
        ),
    ] {
        let (before, after) = frame;
        let answer =
            answered(move |seen| Reply::text(200, media, format!("{before}{}{after}", response(seen, "{}"))));
        assert_eq!(answer.await.unwrap(), "{}", "{media}");
    }
}

#[tokio::test]
async fn b32_whatever_else_comes_is_an_error_that_shows_it() {
    let page = |status| answered(move |_| Reply::text(status, "text/html", "<html>login</html>"));
    let failed = page(200).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Malformed, Sent::Maybe));
    assert!(
        failed.detail.contains("200")
            && failed.detail.contains("text/html")
            && failed.said.unwrap().contains("login")
    );
    assert_eq!(page(401).await.unwrap_err().kind, FailedKind::Unauthorized(401));
    assert_eq!(page(500).await.unwrap_err().kind, FailedKind::Status(500));
    for status in [200, 202, 204] {
        let failed = answered(move |_| Reply::status(status)).await.unwrap_err();
        assert_eq!(
            failed.kind,
            FailedKind::Malformed,
            "{status} is no answer to a request"
        );
    }
    let failed = answered(|_| Reply::json("{\"jsonrpc\":")).await.unwrap_err();
    assert_eq!(failed.kind, FailedKind::Malformed);
}

#[tokio::test(start_paused = true)]
async fn http_05_a_refusal_whose_reasons_do_not_come_is_told_without_them() {
    for media in ["text/plain", "application/json"] {
        let (reply, stream) = Reply::stream();
        say(&stream, "{boom");
        let reply = Mutex::new(Some(reply.answering(500, media)));
        let failed = answered(move |_| reply.lock().take().unwrap()).await.unwrap_err();
        assert_eq!(failed.kind, FailedKind::Status(500));
        assert!(failed.said.unwrap().contains("{boom"));
        drop(stream);
    }
}

#[tokio::test]
async fn an_answer_to_another_request_is_none() {
    for (text, whole) in [
        (r#"{"jsonrpc":"2.0","id":77,"result":{}}"#, true),
        (r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, false),
    ] {
        let failed = answered(move |_| {
            if whole {
                Reply::json(text)
            } else {
                Reply::events(format!("data:{text}\n\n"))
            }
        });
        assert_eq!(failed.await.unwrap_err().kind, FailedKind::Malformed);
    }
}

#[tokio::test]
async fn b45_not_a_byte_of_a_result_changes() {
    const RESULT: &str = r#"{ "id":1915883588174806058,"u":18446744073709551615, "h":123456789012345678901234567890,"f":1.0,"e":1E400 }"#;
    assert_eq!(
        answered(|seen| Reply::result(seen, RESULT)).await.unwrap(),
        RESULT
    );
    let events = answered(|seen| Reply::events(format!("data: {}\n\n", response(seen, RESULT))));
    assert_eq!(events.await.unwrap(), RESULT);
}

#[tokio::test]
async fn b36_ten_megabytes_go_both_ways() {
    const SIZE: usize = 10 << 20;
    let big = format!("\"{}\"", "x".repeat(SIZE - 2));
    let text = big.clone();
    let stub = Stub::start(move |seen| match seen.mcp().as_str() {
        "tools/list" => Reply::result(seen, &text),
        _ => Reply::events(format!("data: {}\n\n", response(seen, &text))),
    })
    .await;
    let (client, _events) = client(&stub);
    assert_eq!(ask(&*client, Method::ToolsList).await.unwrap().len(), SIZE);
    let params = Rope::from_iter(["{\"a\":".to_owned(), big, "}".to_owned()]);
    let call = Outgoing {
        id: 9,
        method: Method::ToolsCall,
        params,
        name: None,
        headers: Vec::new(),
        party: crate::Party::GATEWAY,
    };
    let result = outcome(&mut client.open(call).await.unwrap()).await.unwrap();
    assert_eq!(result.len(), SIZE);
    assert_eq!(
        stub.seen()[1].body.len(),
        SIZE + r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"a":}}"#.len()
    );
}

#[tokio::test]
async fn an_answer_over_its_limit_is_refused() {
    let limits = Limits {
        body: 1000,
        event: 1000,
        ..Limits::default()
    };
    let stub = Stub::start(|seen| match seen.mcp().as_str() {
        "tools/list" => Reply::result(seen, &"1".repeat(2000)),
        _ => Reply::events(format!("data:{}", "1".repeat(2000))),
    })
    .await;
    let (client, _events) = Streamable::new(&Target::new(&stub.url("/"), []).unwrap(), limits);
    for method in [Method::ToolsList, Method::ToolsCall] {
        let failed = ask(&*client, method).await.unwrap_err();
        assert_eq!((failed.kind, failed.sent), (FailedKind::TooLarge, Sent::Maybe));
    }
}

#[tokio::test]
async fn b52_b17_messages_come_one_by_one_in_the_order_of_the_server() {
    let (reply, stream) = Reply::stream();
    let reply = parking_lot::Mutex::new(Some(reply));
    let stub = Stub::start(move |_| reply.lock().take().unwrap()).await;
    let (client, _events) = client(&stub);
    let mut call = open(&*client, Method::ToolsCall).await.unwrap();

    for progress in 1..=3 {
        say(
            &stream,
            format!(
                ": ping\n\nevent: other\ndata: x\n\ndata: not json\n\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":1,\"progress\":{progress}}}}}\n\n"
            ),
        );
        let Ok(Message::Notification(notification)) = call.next().await else {
            panic!()
        };
        assert!(
            notification
                .params
                .unwrap()
                .as_str()
                .ends_with(&format!("{progress}}}"))
        );
    }
    say(
        &stream,
        "data: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"sampling/createMessage\",\"params\":{}}\n\n",
    );
    assert!(matches!(call.next().await, Ok(Message::Request(_))));
    say(&stream, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
    assert_eq!(outcome(&mut call).await.unwrap(), "{}");
}

#[tokio::test]
async fn b20_a_stream_that_ends_or_breaks_before_the_response_fails_the_call_at_once() {
    let failed = answered(|_| Reply::events(":\n\n")).await.unwrap_err();
    assert_eq!((failed.kind, failed.sent), (FailedKind::Closed, Sent::Maybe));
    let failed = answered(|_| {
        let (reply, stream) = Reply::stream();
        stream.send(Err(std::io::Error::other("broken"))).unwrap();
        reply
    });
    assert_eq!(failed.await.unwrap_err().kind, FailedKind::Closed);
}
