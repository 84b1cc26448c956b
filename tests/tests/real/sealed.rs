//! States of suspended calls in the hands of real clients that do not keep to the rules (`protocol.md` 20, row 11).

use futures_util::future::join_all;
use mcpr_tests::drivers::{Answers, Client, Operation, Told};
use mcpr_tests::{Eras, Gateway, Reference, gateway};
use serde_json::{Map, Value, json};

/// The servers, by their eras: the call waits at the one, and the other gives a state of its own.
const SERVERS: [&str; 2] = ["session", "stateless"];

/// A tool that asks for a confirmation, and another one.
const TOOLS: [&str; 2] = ["request_state", "elicitation"];

#[tokio::test(flavor = "multi_thread")]
async fn row_11_a_state_is_good_for_its_client_and_its_call_alone() {
    let [session, stateless] = [Eras::Session, Eras::Stateless].map(Reference::start);
    let http = |reference: &Reference| json!({ "type": "http", "url": reference.url() });
    let gateway = gateway()
        .server(SERVERS[0], http(&session))
        .server(SERVERS[1], http(&stateless))
        .ready()
        .await;
    join_all(Client::STATELESS.map(|client| wrong_ones_are_refused(&gateway, client))).await;
}

async fn wrong_ones_are_refused(gateway: &Gateway, client: Client) {
    let run = async |token: &str, operations: Vec<Operation>| {
        let told = client
            .run_with(&gateway.url(), Some(token), &Answers::of("Ada"), &operations)
            .await;
        told.unwrap_or_else(|error| panic!("{error:#}"))
    };
    let first = SERVERS.map(|server| Operation::call_once(&tool(server, TOOLS[0]), json!({}), &json!({})));
    let asked = run(&gateway.token, first.into()).await;
    let waiting = [0, 1].map(|index| Waiting::of(SERVERS[index], asked.ok(index)));

    let wrong = waiting.iter().flat_map(Waiting::wrong).collect();
    refused(client, &run(&gateway.token, wrong).await);
    let foreign = gateway.another_token(&["read", "call"]).await;
    let own = |waiting: &Waiting| waiting.again(TOOLS[0], &waiting.state);
    refused(client, &run(&foreign, waiting.iter().map(own).collect()).await);

    let [session, stateless] = &waiting;
    let right = run(&gateway.token, vec![own(session), own(stateless), own(session)]).await;
    let confirmed = [right.text(0), right.text(1)];
    assert_eq!(confirmed, ["state-ok, confirmed: true"; 2], "{client:?}");
    // A stateless server may take its own state again; a call that waited is over.
    assert_eq!(right.code(2), Some(-32602), "{client:?}: {:?}", right.results[2]);
}

fn refused(client: Client, told: &Told) {
    let refused = (0..told.results.len()).all(|index| told.code(index) == Some(-32602));
    assert!(refused, "{client:?}: {:?}", told.results);
}

/// A call that waits for an answer.
struct Waiting {
    server: &'static str,
    state: String,
    answers: Value,
}

impl Waiting {
    fn of(server: &'static str, asked: &Value) -> Self {
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let keys = asked["inputRequests"].as_object().into_iter().flat_map(Map::keys);
        let yes = json!({ "action": "accept", "content": { "ok": true } });
        Self {
            server,
            state: asked["requestState"].as_str().expect("a state").to_owned(),
            answers: keys
                .map(|key| (key.clone(), yes.clone()))
                .collect::<Map<_, _>>()
                .into(),
        }
    }

    /// A call with the answers and this state.
    fn again(&self, name: &str, state: &str) -> Operation {
        let retry = json!({ "inputResponses": self.answers, "requestState": state });
        Operation::call_once(&tool(self.server, name), json!({}), &retry)
    }

    /// Requests with states that are none, or not theirs.
    fn wrong(&self) -> [Operation; 5] {
        let (middle, own) = (self.state.len() / 2, &self.state);
        let other = if own[middle..].starts_with('A') { "B" } else { "A" };
        let tampered = format!("{}{other}{}", &own[..middle], &own[middle + 1..]);
        [
            self.again(TOOLS[0], &tampered),
            self.again(TOOLS[0], &own[..middle]),
            self.again(TOOLS[0], "made up"),
            self.again(TOOLS[1], own),
            Operation::list_tools_from(own),
        ]
    }
}

fn tool(server: &str, name: &str) -> String {
    format!("{server}_test_input_required_result_{name}")
}
