//! What a stream of events may look like.

use proptest::prelude::*;

use super::*;

fn parse(pieces: &[&[u8]]) -> (Vec<(Option<String>, String)>, Parser) {
    let mut parser = Parser::new(1024);
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(Bytes::copy_from_slice(piece));
        while let Some(event) = parser.next().unwrap() {
            events.push((event.name.map(Into::into), lossy(&event.data).into_owned()));
        }
    }
    (events, parser)
}

fn data(text: &str) -> Vec<String> {
    let (events, _) = parse(&[text.as_bytes()]);
    events.into_iter().map(|(_, data)| data).collect()
}

#[test]
fn b85_lines_end_in_three_ways_and_the_space_is_optional() {
    for end in ["\n", "\r\n", "\r"] {
        let text = [
            "event:message",
            "data: {1}",
            "",
            ":ping",
            "data:{2}",
            "",
            "data:  3",
            "",
            "",
        ]
        .join(end);
        assert_eq!(data(&text), ["{1}", "{2}", " 3"], "{end:?}");
    }
}

#[test]
fn b85_comments_unknown_fields_and_names_without_value_do_no_harm() {
    assert_eq!(data(": a\n\n:\nfoo: bar\nfoo\nevent\ndata: x\n\n"), ["x"]);
}

#[test]
fn b85_an_event_that_nothing_ends_is_dropped() {
    assert_eq!(data("data: 1\n\ndata: 2\n"), ["1"]);
    assert_eq!(data("data: 1\n\ndata: 2"), ["1"]);
}

#[test]
fn data_lines_are_joined() {
    assert_eq!(data("data: a\ndata\ndata: b\n\n"), ["a\n\nb"]);
}

#[test]
fn empty_data_is_no_message_but_its_id_and_retry_count() {
    let (events, parser) = parse(&[b"id: 7\nretry: 250\ndata:\n\nid: 8\n"]);
    assert!(events.is_empty());
    assert_eq!(
        parser.last_id().unwrap(),
        "7",
        "the id of an unfinished event does not count"
    );
    assert_eq!(parser.retry(), Some(Duration::from_millis(250)));
    assert_eq!(parser.events(), 1);
}

#[test]
fn bad_ids_and_bad_retries_are_passed_over() {
    let (_, parser) = parse(&[b"id: 1\nretry: 5\ndata: a\n\nid: \0\nretry: 5s\ndata: b\n\n"]);
    assert_eq!(
        (parser.last_id().unwrap().as_ref(), parser.retry()),
        (&b"1"[..], Some(Duration::from_millis(5)))
    );
}

#[test]
fn an_empty_id_takes_the_old_one_back() {
    let (_, parser) = parse(&[b"id: 1\ndata: a\n\nid\ndata: b\n\n"]);
    assert!(parser.last_id().is_none());
}

#[test]
fn a_byte_order_mark_at_the_beginning_is_no_part_of_a_name() {
    assert_eq!(data("\u{feff}data: 1\n\n\u{feff}data: 2\n\n"), ["1"]);
}

#[test]
fn names_are_kept_for_their_own_event_only() {
    let (events, _) = parse(&[b"event: endpoint\ndata: /m\n\ndata: 1\n\n"]);
    assert_eq!(
        events,
        [(Some("endpoint".into()), "/m".into()), (None, "1".into())]
    );
}

#[test]
fn an_event_over_the_limit_is_refused_however_it_comes() {
    let refused = |pieces: &[&'static [u8]]| {
        let mut parser = Parser::new(8);
        pieces.iter().any(|piece| {
            parser.push(Bytes::from_static(piece));
            parser.next().is_err()
        })
    };
    assert!(refused(&[b"data: 1234567890\n\n"]));
    assert!(refused(&[b"data: 12", b"34567890"]));
    assert!(refused(&[b"data:123\n", b"data:456\n", b"data:789\n"]));
    assert!(!refused(&[b"data:123\n\n", b"data:456\n\n", b":7\n:8\n:9\n:0\n"]));
}

#[test]
fn an_event_in_one_piece_is_not_copied() {
    let piece = Bytes::from_static(b"data: {}\n\n");
    let mut parser = Parser::new(1024);
    parser.push(piece.clone());
    let event = parser.next().unwrap().unwrap();
    assert!(piece.as_ptr_range().contains(&event.data.as_ptr()));
}

#[test]
fn what_is_written_is_one_event_even_if_the_json_has_lines() {
    let (events, parser) = parse(&[
        &priming("0", Some(Duration::from_secs(1))).into_bytes(),
        KEEP_ALIVE.as_bytes(),
        &message(Some("1"), Rope::from("{\r\n\"a\":1}".to_owned())).into_bytes(),
        &named("endpoint", "/messages").into_bytes(),
    ]);
    let expected = [("message", "{  \"a\":1}"), ("endpoint", "/messages")];
    assert_eq!(
        events,
        expected.map(|(name, data)| (Some(name.to_owned()), data.to_owned()))
    );
    assert_eq!(parser.last_id().unwrap(), "1");
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_stream_is_cut(
        text in "(data: ?[a-z]{0,3}|id: ?[0-9]|:x|retry: 1|event: e|)(\n|\r\n|\r|\n\n|\r\r|\r\n\r\n){1,8}(data:[a-z]{1,3}(\n|\r\n|\r){0,2}){0,4}",
        cuts in prop::collection::vec(0usize..64, 0..6),
    ) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<_> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        let (whole, one) = parse(&[bytes]);
        let (parts, many) = parse(&pieces);
        prop_assert_eq!(whole, parts);
        prop_assert_eq!(one.last_id(), many.last_id());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut parser = Parser::new(32);
        parser.push(Bytes::from(bytes));
        while let Ok(Some(_)) = parser.next() {}
    }
}
