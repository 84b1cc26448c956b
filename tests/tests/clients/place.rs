//! A gateway that a command line knows, with a recorder on the way.

use mcpr_tests::clis::{Cli, User};
use mcpr_tests::recorder::Recorder;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::json;

use crate::fixture::Fixture;

/// A server with something of each kind behind a gateway that the user knows.
pub(crate) struct Place {
    pub(crate) user: User,
    pub(crate) recorder: Recorder,
    pub(crate) gateway: Gateway,
    cli: Cli,
    _fake: Fake,
}

impl Place {
    pub(crate) async fn new(cli: Cli) -> Self {
        let (fake, gateway) = serving().await;
        let recorder = Recorder::before(gateway.port).await;
        let user = cli.add(&recorder.url(), &gateway.token).await;
        Self {
            user,
            recorder,
            gateway,
            cli,
            _fake: fake,
        }
    }

    /// Checks that what was sent since the last time is what the fixture says. `marks` are texts that are
    /// never the same, with what stands for them.
    pub(crate) fn check_sent(&self, name: &str, marks: &[(&str, &str)]) {
        let marks = [&[(self.gateway.token.as_str(), "token")], marks].concat();
        let sent = Fixture::of(self.recorder.take(), &marks);
        sent.check(self.cli.folder(), name);
    }
}

/// A server with something of each kind behind a gateway.
pub(crate) async fn serving() -> (Fake, Gateway) {
    let form = json!({ "message": "Who?", "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } } });
    let ask = json!({ "method": "elicitation/create", "params": form });
    let fake = Fake::script()
        .with(r#"{"env_tool":true,"prompts":[{"name":"p"}],"resources":[{"uri":"memo:///r","name":"r"}]}"#)
        .tool("ask")
        .interview(json!({ "on": ["tools/call:ask"], "rounds": [[ask]] }))
        .stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    (fake, gateway)
}

/// Adds a tool to the server, which tells so.
pub(crate) async fn grow(gateway: &Gateway) {
    let told = gateway.client().await.call("a_add", "{}").await;
    assert!(told["result"].is_object(), "{told}");
}
