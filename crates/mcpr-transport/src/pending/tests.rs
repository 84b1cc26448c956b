//! Whose is what comes on a shared connection.

use bytes::Bytes;

use super::*;
use crate::FailedKind;
use crate::backlog::MESSAGES;

#[derive(Debug, Default)]
struct Log(Mutex<Vec<(u64, Reason)>>);

impl Withdraw for Log {
    fn withdraw(self: Arc<Self>, id: u64, why: Reason) {
        self.0.lock().push((id, why));
    }
}

fn message(text: &'static str) -> Message {
    Message::parse(&Bytes::from_static(text.as_bytes())).unwrap()
}

fn poll(ticket: &mut Ticket) -> Poll<Result<Message, Failed>> {
    ticket.poll_next(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn b17_progress_comes_to_its_own_request_and_before_the_result() {
    let pending = Pending::new();
    let (mut one, mut two) = (
        pending.enter(1, Party::GATEWAY).unwrap(),
        pending.enter(2, Party::GATEWAY).unwrap(),
    );
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"2","progress":2}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
    ] {
        assert!(pending.deliver(message(text)).is_none());
    }
    for _ in 0..2 {
        assert!(matches!(
            poll(&mut two),
            Poll::Ready(Ok(Message::Notification(_)))
        ));
    }
    assert!(matches!(poll(&mut two), Poll::Ready(Ok(Message::Response(_)))));
    assert!(poll(&mut one).is_pending());
}

#[test]
fn b90_a_text_that_cannot_be_read_ends_the_requests_that_it_answers_and_no_other() {
    let pending = Pending::new();
    let (mut one, mut two) = (
        pending.enter(1, Party::GATEWAY).unwrap(),
        pending.enter(2, Party::GATEWAY).unwrap(),
    );
    let failed = Failed::maybe_sent(FailedKind::Malformed, "broken");

    assert!(!pending.fail_answered(br#"{"id":7,"result":1}"#, &failed));
    assert!(pending.fail_answered(br#"[{"jsonrpc":"2.0","id":2}]"#, &failed));

    assert!(matches!(poll(&mut two), Poll::Ready(Err(failed)) if failed.detail == "broken"));
    assert!(poll(&mut one).is_pending());
    assert!(!pending.fail(2, &failed), "nobody waits any more");
}

#[test]
fn a_notification_of_a_subscription_comes_to_the_listen_request() {
    let pending = Pending::new();
    let mut listen = pending.enter(3, Party::GATEWAY).unwrap();
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed",
        "params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#;
    assert!(pending.deliver(message(changed)).is_none());
    assert!(poll(&mut listen).is_ready());
}

#[test]
fn a_cancel_of_a_listen_comes_to_it_and_one_of_anything_else_does_not() {
    let pending = Pending::new();
    let mut call = pending.enter(3, Party::GATEWAY).unwrap();
    let mut listen = pending.enter(4, Party::GATEWAY).unwrap();
    listen.is_for_a_listen();
    for other in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    ] {
        let event = pending.deliver(message(other));
        assert!(matches!(event, Some(Event::Notification(_))), "{other}");
    }
    assert!(poll(&mut call).is_pending() && poll(&mut listen).is_pending());
    let given_up = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#;
    assert!(pending.deliver(message(given_up)).is_none());
    assert!(poll(&mut listen).is_ready() && poll(&mut call).is_pending());
}

#[test]
fn b37_a_request_that_was_never_sent_leaves_nothing_behind() {
    let pending = Pending::new();
    drop(pending.enter(1, party(1)).unwrap());
    assert!(pending.is_quiet_for(party(2)) && pending.is_empty());
    drop(sent(&pending, 2, 1));
    assert!(!pending.is_quiet_for(party(2)));
}

#[test]
fn what_belongs_to_no_request_is_an_event_and_a_late_answer_is_nothing() {
    let pending = Pending::new();
    drop(pending.enter(1, Party::GATEWAY).unwrap());
    let event = |text| pending.deliver(message(text));
    assert!(event(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).is_none());
    assert!(event(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#).is_none());
    let ping = event(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(matches!(ping, Some(Event::Request(_))));
    let log = event(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
    assert!(matches!(log, Some(Event::Notification(_))));
}

#[test]
fn b20_when_the_connection_ends_all_open_requests_end_and_later_ones_are_unsent() {
    let pending = Pending::new();
    let mut open = pending.enter(1, Party::GATEWAY).unwrap();
    pending.fail_all(&Failed::maybe_sent(FailedKind::Closed, "the stream ended"));
    let Poll::Ready(Err(failed)) = poll(&mut open) else {
        panic!()
    };
    assert_eq!((failed.kind, failed.sent), (FailedKind::Closed, Sent::Maybe));
    let late = pending.enter(2, Party::GATEWAY).unwrap_err();
    assert_eq!((late.kind, late.sent), (FailedKind::Closed, Sent::No));
}

#[test]
fn a_slow_reader_loses_notifications_but_never_the_response() {
    let pending = Pending::new();
    let mut slow = pending.enter(1, Party::GATEWAY).unwrap();
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    (0..MESSAGES + 9).for_each(|_| assert!(pending.deliver(message(progress)).is_none()));
    pending.deliver(message(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
    let notifications = std::iter::from_fn(|| {
        matches!(poll(&mut slow), Poll::Ready(Ok(Message::Notification(_)))).then_some(())
    });
    assert_eq!(notifications.count(), MESSAGES);
    assert_eq!(slow.slot.inbox.lock().dropped, 9);
}

fn party(who: u64) -> Party {
    Party {
        who,
        client: who,
        can_be_asked: true,
    }
}

/// A request that was sent.
fn sent(pending: &Arc<Pending>, id: u64, who: u64) -> Waiting<Log> {
    Waiting::new(pending.enter(id, party(who)).unwrap(), None)
}

#[tokio::test]
async fn a_question_that_nobody_reads_is_answered_by_somebody_else() {
    let pending = Pending::new();
    let _slow = pending.enter(1, party(7)).unwrap();
    let ping = || message(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    assert!((0..MESSAGES).all(|_| pending.deliver(ping()).is_none()));
    assert!(matches!(pending.deliver(ping()), Some(Event::Request(_))));
}

#[tokio::test]
async fn b37_a_question_after_a_cancel_is_nobodys_until_the_late_answer() {
    let pending = Pending::new();
    drop(sent(&pending, 1, 7));
    let _other = pending.enter(2, party(8)).unwrap();
    let ask = || pending.deliver(message(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#));
    assert!(!pending.is_quiet_for(party(8)) && ask().is_some());

    pending.deliver(message(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));

    assert!(pending.is_quiet_for(party(8)) && ask().is_none());
}

#[test]
fn b35_an_exchange_that_is_dropped_is_withdrawn_once() {
    let (pending, log) = (Pending::new(), Arc::new(Log::default()));
    let waiting = |id| {
        Box::new(Waiting::new(
            pending.enter(id, Party::GATEWAY).unwrap(),
            Some(Arc::clone(&log)),
        ))
    };
    waiting(1).cancel(Reason::Deadline);
    drop(waiting(2));
    let mut answered = waiting(3);
    pending.deliver(message(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#));
    assert!(
        answered
            .poll_next(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    );
    drop(answered);
    assert_eq!(*log.0.lock(), [(1, Reason::Deadline), (2, Reason::Client)]);
    assert!(pending.is_empty());
}
