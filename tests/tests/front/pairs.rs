//! Servers of each era and transport, for promises that hold before all of them.

use std::time::Duration;

use mcpr_tests::{Fake, Gateway, Received, Script, gateway, wait_until};

/// A gateway before one server `a` each: of the session era on a pipe and over HTTP, and of the
/// stateless era on a pipe and over HTTP. The script must be the same each time.
pub(crate) async fn servers(script: impl Fn(Script) -> Script) -> Vec<(Fake, Gateway)> {
    let stateless = |fake: Script| script(fake.with(r#"{"era":"stateless"}"#));
    let session = |fake: Script| script(fake.with(r#"{"session":true}"#));
    let fakes = [
        session(Fake::script()).stdio(),
        session(Fake::script()).http(),
        stateless(Fake::script()).stdio(),
        stateless(Fake::script()).http(),
    ];
    let mut pairs = Vec::new();
    for fake in fakes {
        let gateway = gateway().fake("a", &fake).ready().await;
        pairs.push((fake, gateway));
    }
    for (fake, _) in &pairs[1..] {
        wait_until(Duration::from_secs(10), "mcpr listens", || {
            fake.received().iter().any(is_listening).then_some(())
        })
        .await;
    }
    pairs
}

/// Whether this is the request for the stream of notices.
fn is_listening(received: &Received) -> bool {
    let get = received.http.as_ref().is_some_and(|head| head.method == "GET");
    get || received.method.as_deref() == Some("subscriptions/listen")
}
