//! Streams as a client that comes and goes sees them.

use futures_util::FutureExt;
use mcpr_protocol::Rope;
use tokio::time::advance;

use super::ring::{BYTES, EVENTS};
use super::*;

fn streams() -> (Streams, Arc<Budget>) {
    (Streams::new("0a1b2c3d4e5f"), Budget::new(64 * BYTES))
}

fn note(text: &str) -> Rope {
    Rope::from(text.to_owned())
}

/// What a reader finds without waiting: ids and data.
fn found(reader: &mut Reader) -> Vec<(String, String)> {
    let mut all = Vec::new();
    while let Some(Some(event)) = reader.next().now_or_never() {
        let text = String::from_utf8(event.to_vec()).unwrap();
        let line = |start| {
            text.lines()
                .find_map(|line| line.strip_prefix(start))
                .unwrap()
                .to_owned()
        };
        all.push((line("id: "), line("data: ")));
    }
    all
}

fn texts(reader: &mut Reader) -> Vec<String> {
    found(reader).into_iter().map(|(_, data)| data).collect()
}

/// Whether a reader has come to its end.
fn is_at_end(reader: &mut Reader) -> bool {
    matches!(reader.next().now_or_never(), Some(None))
}

fn resumed(streams: &Streams, id: &str) -> Option<Reader> {
    match streams.resume(id) {
        Resumed::Request(reader) => Some(reader),
        _ => None,
    }
}

#[tokio::test]
async fn a_reader_that_comes_back_gets_the_rest_once_and_the_end() {
    let (streams, budget) = streams();
    let (writer, mut reader) = streams.open(&budget).unwrap();
    writer.say(note("one")).await;
    assert_eq!(reader.before(), "0a1b2c3d-1-0");
    assert_eq!(found(&mut reader), [("0a1b2c3d-1-1".into(), "one".into())]);
    drop(reader);
    writer.say(note("two")).await;

    let mut again = resumed(&streams, "0a1b2c3d-1-1").unwrap();
    assert_eq!(texts(&mut again), ["two"]);
    writer.say(note("answer")).await;
    drop(writer);
    assert_eq!(texts(&mut again), ["answer"]);
    assert!(is_at_end(&mut again));
    assert!(resumed(&streams, "0a1b2c3d-1-3").is_none(), "all was seen");
    assert_eq!(
        texts(&mut resumed(&streams, "0a1b2c3d-1-0").unwrap()).len(),
        3,
        "it may be asked for again"
    );
}

#[tokio::test]
async fn a_newer_reader_ends_the_older_one() {
    let (streams, budget) = streams();
    let (writer, mut older) = streams.open(&budget).unwrap();
    let waiting = tokio::spawn(async move { older.next().await });
    tokio::task::yield_now().await;
    let mut newer = resumed(&streams, "0a1b2c3d-1-0").unwrap();
    assert_eq!(waiting.await.unwrap(), None);
    writer.say(note("one")).await;
    assert_eq!(texts(&mut newer), ["one"]);
}

#[tokio::test]
async fn sec_03_ids_of_another_session_and_of_no_stream_lead_nowhere() {
    let (streams, budget) = streams();
    let (writer, reader) = streams.open(&budget).unwrap();
    writer.say(note("one")).await;
    drop(reader);
    for id in [
        "ffffffff-1-0",
        "-1-0",
        "0a1b2c3d-2-0",
        "0a1b2c3d-1-2",
        "0a1b2c3d-1-18446744073709551615",
    ] {
        assert!(matches!(streams.resume(id), Resumed::Nothing), "{id}");
    }
    for id in ["", "7", "0a1b2c3d", "0a1b2c3d-1", "0a1b2c3d-1-x", "ffffffff-0-5"] {
        assert!(matches!(streams.resume(id), Resumed::General(None)), "{id}");
    }
    assert!(matches!(
        streams.resume("0a1b2c3d-0-5"),
        Resumed::General(Some(5))
    ));
}

#[tokio::test]
async fn the_oldest_go_while_nobody_reads() {
    let (streams, budget) = streams();
    let (writer, reader) = streams.open(&budget).unwrap();
    drop(reader);
    for number in 1..=EVENTS + 2 {
        writer.say(note(&number.to_string())).await;
    }
    let mut reader = resumed(&streams, "0a1b2c3d-1-0").unwrap();
    let texts = texts(&mut reader);
    assert_eq!((texts.len(), &*texts[0]), (EVENTS, "3"));
}

#[tokio::test]
async fn nothing_is_lost_to_a_slow_reader() {
    let (streams, budget) = streams();
    let (writer, mut reader) = streams.open(&budget).unwrap();
    for number in 0..EVENTS {
        writer.say(note(&number.to_string())).await;
    }
    let mut waiting = Box::pin(writer.say(note("last")));
    assert!(
        waiting.as_mut().now_or_never().is_none(),
        "the reader would lose an event"
    );
    assert_eq!(texts(&mut reader).len(), EVENTS);
    waiting.await;
    assert_eq!(texts(&mut reader), ["last"]);
}

#[tokio::test]
async fn nothing_is_lost_where_the_last_bytes_of_room_are_those_around_a_message() {
    let (streams, budget) = streams();
    let (writer, mut reader) = streams.open(&budget).unwrap();
    let long = "x".repeat(BYTES / 128 - note("").len());
    let mut said = 0;
    while writer.say(note(&long)).now_or_never().is_some() {
        said += 1;
    }
    assert_eq!(texts(&mut reader).len(), said);
}

#[tokio::test]
async fn a_writer_does_not_wait_for_a_reader_that_left() {
    let (streams, budget) = streams();
    let (writer, reader) = streams.open(&budget).unwrap();
    writer.say(note(&"x".repeat(BYTES))).await;
    let mut waiting = Box::pin(writer.say(note("last")));
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(reader);
    waiting.await;
    assert_eq!(texts(&mut resumed(&streams, "0a1b2c3d-1-0").unwrap()), ["last"]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_kept_for_five_minutes_after_its_end() {
    let (streams, budget) = streams();
    let (writer, _) = streams.open(&budget).unwrap();
    advance(KEPT_FOR).await;
    writer.say(note("answer")).await;
    drop(writer);
    advance(KEPT_FOR - Duration::from_secs(1)).await;
    assert!(resumed(&streams, "0a1b2c3d-1-0").is_some());
    advance(Duration::from_secs(1)).await;
    streams.forget_old();
    assert_eq!(budget.used(), 0);
    assert!(resumed(&streams, "0a1b2c3d-1-0").is_none());
}

#[tokio::test(start_paused = true)]
async fn sec_05_a_session_has_so_many_streams_and_the_first_that_ended_goes() {
    let (streams, budget) = streams();
    let mut open: Vec<_> = (0..STREAMS).map(|_| streams.open(&budget).unwrap()).collect();
    assert!(streams.open(&budget).is_none(), "none has ended");
    for ended in [5, 2] {
        let (writer, _) = open.remove(ended - 1);
        writer.say(note("answer")).await;
        drop(writer);
        advance(Duration::from_secs(1)).await;
    }
    let (_writer, _) = streams.open(&budget).unwrap();
    assert!(resumed(&streams, "0a1b2c3d-5-0").is_none());
    assert!(resumed(&streams, "0a1b2c3d-2-0").is_some());
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_streams_and_frees_what_they_kept() {
    let (streams, budget) = streams();
    let (writer, mut reader) = streams.open(&budget).unwrap();
    let (left, _) = streams.open(&budget).unwrap();
    let general = streams.general(&budget);
    for stream in [&writer.0, &left.0, &general] {
        stream.say(note("one"));
    }
    streams.close();
    writer.say(note("two")).await;

    assert_eq!(
        texts(&mut reader),
        ["one"],
        "what was said before is still passed on"
    );
    assert!(is_at_end(&mut reader));
    drop((writer, reader));
    assert_eq!(budget.used(), 0);
    assert!(streams.open(&budget).is_none());
    assert!(is_at_end(&mut streams.general(&budget).read_after(None)));
}

#[tokio::test]
async fn sec_05_without_memory_nothing_is_kept_for_a_reader_that_may_never_come() {
    let streams = Streams::new("0a1b2c3d");
    let budget = Budget::new(100);
    let (writer, mut reader) = streams.open(&budget).unwrap();
    writer.say(note(&"x".repeat(200))).await;
    assert_eq!(texts(&mut reader).len(), 1, "who reads gets it");
    drop(reader);
    assert_eq!(budget.used(), 0);
    writer.say(note(&"y".repeat(200))).await;
    assert_eq!(budget.used(), 0);
    drop(writer);
    assert!(resumed(&streams, "0a1b2c3d-1-1").is_none());
}

#[tokio::test]
async fn what_belongs_to_no_request_is_read_on_from_where_it_was_left() {
    let (streams, budget) = streams();
    let general = streams.general(&budget);
    general.say(note("one"));
    assert_eq!(texts(&mut general.read_after(None)), ["one"]);
    general.say(note("two"));
    let mut fresh = streams.general(&budget).read_after(None);
    assert_eq!(fresh.before(), "0a1b2c3d-0-1");
    assert_eq!(
        texts(&mut fresh),
        ["two"],
        "a client without an id gets what none was given"
    );
    assert_eq!(texts(&mut general.read_after(Some(0))), ["one", "two"]);
    assert_eq!(
        texts(&mut general.read_after(Some(9))),
        [""; 0],
        "no event has that number"
    );
}
