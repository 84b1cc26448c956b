//! Bodies within and beyond the limits, and answers that go wrong.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::super::Limits;
use super::*;

fn small_bodies() -> Options {
    Options {
        limits: Limits {
            body: 16,
            ..Limits::default()
        },
        ..Options::default()
    }
}

fn chunked(chunks: &[&str]) -> String {
    let head = request(
        "POST",
        "/mcp",
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
    );
    let chunks = chunks
        .iter()
        .map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len()));
    head + &chunks.collect::<String>()
}

#[tokio::test]
async fn a_body_in_pieces_is_put_together() {
    let server = Server::echo(Options::default());
    let answer = server.ask(&chunked(&["{\"a\"", ":", "1}", ""])).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "{\"a\":1}"));
}

#[tokio::test]
async fn an_answer_is_json_of_known_length_on_a_connection_that_stays() {
    let server = Server::echo(Options::default());
    let mut client = server.client().await;
    for body in ["{}", "[1,2,3]"] {
        client.send(post("/mcp", "", body)).await;
        let answer = client.answer().await;
        assert_eq!(
            (answer.body.as_str(), answer.header("content-type")),
            (body, Some("application/json"))
        );
        assert_eq!(answer.header("connection"), None);
    }
}

#[tokio::test]
async fn an_answer_in_many_pieces_arrives_whole() {
    let server = Server::with(Options::default(), async |_| {
        let pieces = (0..500).map(|n| format!("{n},"));
        Reply::json(StatusCode::OK, pieces.collect::<Rope>())
    });
    let expected: String = (0..500).map(|n| format!("{n},")).collect();
    assert_eq!(server.ask(&post("/mcp", "", "{}")).await.body, expected);
}

#[tokio::test]
async fn sec_05_a_body_announced_too_large_is_refused_before_it_is_sent() {
    let server = Server::echo(small_bodies());
    let head = request(
        "POST",
        "/mcp",
        "Content-Type: application/json\r\nContent-Length: 17\r\n",
    );
    let answer = server.ask(&head).await;
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
    let message = answer.json()["error"]["message"].to_string();
    assert!(
        message.contains("16 bytes") && message.contains("mcpr.limits.requestBody"),
        "{message}"
    );
}

#[tokio::test]
async fn sec_05_a_body_without_length_is_counted() {
    let server = Server::echo(small_bodies());
    assert_eq!(
        server.ask(&chunked(&["12345678", "12345678", ""])).await.status,
        200
    );
    assert_eq!(
        server.ask(&chunked(&["12345678", "12345678", "9"])).await.status,
        413
    );
    assert_eq!(server.ask(&chunked(&["12345678123456789", ""])).await.status, 413);
}

#[tokio::test]
async fn sec_05_a_client_that_sends_all_before_it_listens_still_hears_the_refusal() {
    let server = Server::echo(small_bodies());
    let mut client = server.client().await;
    client.send(post("/mcp", "", &"x".repeat(8 * 1024 * 1024))).await;
    assert_eq!(client.answer().await.status, 413);
}

#[tokio::test]
async fn http_03_a_refused_client_may_send_its_body_late() {
    let server = Server::echo(Options::default());
    let mut client = server.client().await;
    let request = post("/mcp", "", "{}").replace("good", "bad");
    let (head, body) = request.split_at(request.len() - 2);
    client.send(head).await;
    let head = client.head().await;
    client.send(body).await;
    assert_eq!(
        (head.status, client.rest().await.as_str()),
        (401, r#"{"error":"invalid_token"}"#)
    );
}

#[tokio::test]
async fn sec_05_a_client_that_asks_first_is_told_at_once() {
    let server = Server::echo(small_bodies());
    let asking = |length| {
        let headers = "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length:";
        request("POST", "/mcp", &format!("{headers} {length}\r\n"))
    };
    assert_eq!(server.ask(&asking(17)).await.status, 413);

    let mut client = server.client().await;
    client.send(asking(2)).await;
    assert_eq!(client.head().await.status, 100);
    client.send("{}").await;
    assert_eq!(client.answer().await.body, "{}");
}

#[tokio::test(start_paused = true)]
async fn sec_05_a_body_that_does_not_come_is_given_up() {
    let server = Server::echo(Options::default());
    let answer = server.ask(&chunked(&["{\"a\":"])).await;
    assert_eq!(answer.status, 408);
    assert!(answer.body.contains("30s"), "{}", answer.body);
}

/// Sends a body of a megabyte, so much of it every second, and gives the answer with the seconds it took.
async fn trickle(piece: usize) -> (u16, u64) {
    let server = Server::echo(Options::default());
    let mut client = server.client().await;
    let body = format!("\"{}\"", "x".repeat((1 << 20) - 2));
    let whole = post("/mcp", "", &body);
    let (head, _) = whole.split_at(whole.len() - body.len());
    let start = Instant::now();
    client.send(head).await;
    let sending = async {
        for piece in body.as_bytes().chunks(piece) {
            client.send(str::from_utf8(piece).unwrap()).await;
            sleep(Duration::from_secs(1)).await;
        }
    };
    // One who is refused is not read from any more.
    let _ = timeout(Duration::from_secs(62), sending).await;
    let status = client.answer().await.status;
    (status, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn sec_05_a_body_may_take_as_long_as_it_takes_at_a_bearable_speed() {
    let (status, seconds) = trickle(20 << 10).await;
    assert_eq!(status, 200);
    assert!(seconds > 45, "{seconds}");
    let (status, seconds) = trickle(8 << 10).await;
    assert_eq!(status, 408);
    assert!(seconds > 45, "{seconds}");
}

#[tokio::test]
async fn sec_05_tokens_of_eight_kilobytes_fit_into_a_head() {
    let server = Server::echo(Options::default());
    let long = post("/mcp", &format!("X-Token: {}\r\n", "x".repeat(32 * 1024)), "{}");
    assert_eq!(server.ask(&long).await.status, 200);
}

#[tokio::test]
async fn sec_05_a_head_beyond_the_limit_is_refused() {
    let server = Server::echo(Options::default());
    let answer = server
        .ask(&request(
            "POST",
            "/mcp",
            &format!("X-Big: {}\r\n", "x".repeat(70_000)),
        ))
        .await;
    assert_eq!(answer.status, 431);
}

#[tokio::test]
async fn what_is_no_http_is_refused_and_harms_nobody() {
    let server = Server::echo(Options::default());
    assert_eq!(
        server
            .ask("\x16\x03\x01 hello, is this TLS?\r\n\r\n")
            .await
            .status,
        400
    );
    assert_eq!(server.ask(&post("/mcp", "", "{}")).await.status, 200);
}

#[tokio::test]
async fn http_04_a_panic_is_a_500_with_a_request_id_and_the_connection_goes_on() {
    let server = Server::with(Options::default(), async |call| match &call.body[..] {
        b"\"bad\"" => panic!("secret detail"),
        _ => Reply::json(StatusCode::OK, call.body),
    });
    let mut client = server.client().await;
    client.send(post("/mcp", "", "\"bad\"")).await;
    let answer = client.answer().await;
    assert_eq!(answer.status, 500);
    let error = &answer.json()["error"];
    assert_eq!(
        (&error["code"], &error["data"]["reason"]),
        (&(-32603).into(), &"internal".into())
    );
    assert!(error["data"]["requestId"].as_str().unwrap().len() == 16 && !answer.body.contains("secret"));

    client.send(post("/mcp", "", "{}")).await;
    assert_eq!(client.answer().await.status, 200);
}

#[tokio::test]
async fn a_front_words_its_own_statuses_and_headers() {
    let server = Server::with(Options::default(), async |_| {
        let retry = (http::header::RETRY_AFTER, HeaderValue::from_static("2"));
        Reply::empty(StatusCode::TOO_MANY_REQUESTS).with(retry.0, retry.1)
    });
    let answer = server.ask(&post("/mcp", "", "{}")).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("2")));
    assert_eq!(
        (answer.header("content-length"), answer.header("content-type")),
        (Some("0"), None)
    );
}

#[tokio::test]
async fn b36_ten_megabytes_go_both_ways_however_they_are_marked_off() {
    let options = Options {
        limits: Limits {
            body: 32 << 20,
            ..Limits::default()
        },
        ..Options::default()
    };
    let server = Server::echo(options);
    let body = format!("\"{}\"", "y".repeat(10_000_000));
    for request in [
        post("/mcp", "", &body),
        chunked(&[&body[..7_000_000], &body[7_000_000..], ""]),
    ] {
        let client = server.client().await.0.into_inner();
        let (from, mut to) = client.into_split();
        let sending = tokio::spawn(async move { to.write_all(request.as_bytes()).await.map(|()| to) });
        let mut from = BufReader::new(from);
        let mut line = String::new();
        while !line.ends_with("\r\n\r\n") {
            from.read_line(&mut line).await.unwrap();
        }
        let mut back = vec![0; body.len()];
        from.read_exact(&mut back).await.unwrap();
        assert!(back == body.as_bytes());
        sending.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn what_is_no_request_hears_why_on_its_last_answer() {
    let server = Server::echo(Options::default());
    let doubtful = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n";
    for (text, status) in [
        (
            request("POST", "/mcp", doubtful) + "0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
            400,
        ),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 505),
        (
            request("POST", "/mcp", "Transfer-Encoding: gzip, chunked\r\n"),
            501,
        ),
        ("\x16\x03\x01".to_owned(), 400),
    ] {
        let mut client = server.client().await;
        client.send(&text).await;
        let answer = client.answer().await;
        assert_eq!(
            (answer.status, answer.header("connection")),
            (status, Some("close")),
            "{text}"
        );
        assert!(answer.json()["error"]["message"].is_string(), "{answer:?}");
        assert_eq!(client.rest().await, "", "what follows is not read as a request");
    }
}

#[tokio::test]
async fn a_head_is_asked_for_without_a_body() {
    let server = Server::echo(Options::default());
    let mut client = server.client().await;
    client.send(request("HEAD", "/healthz", "")).await;
    let head = client.head().await;
    assert_eq!((head.status, head.header("content-length")), (200, Some("15")));
    client.send(request("GET", "/healthz", "")).await;
    assert_eq!(client.answer().await.body, r#"{"status":"ok"}"#);
}

#[tokio::test]
async fn an_old_client_keeps_its_connection_only_if_it_says_so() {
    let server = Server::echo(Options::default());
    let old = |headers: &str| post("/mcp", headers, "{}").replace("HTTP/1.1", "HTTP/1.0");
    let mut client = server.client().await;
    client.send(old("Connection: keep-alive\r\n")).await;
    assert_eq!(client.answer().await.header("connection"), Some("keep-alive"));
    client.send(old("")).await;
    assert_eq!(client.answer().await.header("connection"), Some("close"));
    assert_eq!(client.rest().await, "");
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_turn() {
    let server = Server::echo(Options::default());
    let mut client = server.client().await;
    client
        .send(post("/mcp", "", "1") + &post("/mcp", "", "2") + &post("/mcp", "", "3"))
        .await;
    for expected in ["1", "2", "3"] {
        assert_eq!(client.answer().await.body, expected);
    }
}
