//! States of suspended calls in the hands of real clients that do not keep to the rules (`protocol.md` 20, row 11).

use mcpr_tests::drivers::{Answers, Client, Operation, Told};
use mcpr_tests::{Eras, Gateway, Reference, gateway};
use serde_json::{Map, Value, json};

/// A tool that asks for a confirmation, and another.
const TOOLS: [&str; 2] = ["request_state", "elicitation"];

fn tool(server: &str, name: &str) -> String {
    format!("{server}_test_input_required_result_{name}")
}

#[tokio::test(flavor = "multi_thread")]
async fn row_11_a_state_is_good_for_its_client_and_its_call_alone() {
    let [session, stateless] = [Eras::Session, Eras::Stateless].map(Reference::start);
    let http = |reference: &Reference| json!({ "type": "http", "url": reference.url() });
    let gateway = gateway()
        .server("session", http(&session))
        .server("stateless", http(&stateless))
        .ready()
        .await;
    let foreign = gateway.another_token(&["read", "call"]).await;
    for client in Client::STATELESS {
        for server in ["session", "stateless"] {
            let states = States::of(client, &gateway, server).await;
            states.are_refused(&gateway, &foreign).await;
        }
    }
}

/// A call of a client that waits for an answer.
struct States {
    client: Client,
    server: &'static str,
    state: String,
    answers: Value,
}

impl States {
    async fn of(client: Client, gateway: &Gateway, server: &'static str) -> Self {
        let call = Operation::call_once(&tool(server, TOOLS[0]), json!({}), &json!({}));
        let told = run(client, gateway, &gateway.token, vec![call]).await;
        let asked = told.ok(0);
        assert_eq!(asked["resultType"], "input_required", "{client:?}: {asked}");
        let keys = asked["inputRequests"].as_object().into_iter().flat_map(Map::keys);
        let yes = json!({ "action": "accept", "content": { "ok": true } });
        Self {
            client,
            server,
            state: asked["requestState"].as_str().expect("a state").to_owned(),
            answers: keys
                .map(|key| (key.clone(), yes.clone()))
                .collect::<Map<_, _>>()
                .into(),
        }
    }

    /// The call, sent again with this state.
    fn again(&self, name: &str, state: &str) -> Operation {
        let retry = json!({ "inputResponses": self.answers, "requestState": state });
        Operation::call_once(&tool(self.server, name), json!({}), &retry)
    }

    async fn are_refused(&self, gateway: &Gateway, foreign: &str) {
        let (middle, own) = (self.state.len() / 2, &self.state);
        let other = if own[middle..].starts_with('A') { "B" } else { "A" };
        let tampered = format!("{}{other}{}", &own[..middle], &own[middle + 1..]);
        let wrong = vec![
            self.again(TOOLS[0], &tampered),
            self.again(TOOLS[0], &own[..middle]),
            self.again(TOOLS[0], "made up"),
            self.again(TOOLS[1], own),
            Operation::list_tools_from(own),
        ];
        self.refused(&run(self.client, gateway, &gateway.token, wrong).await);
        let stolen = vec![self.again(TOOLS[0], own)];
        self.refused(&run(self.client, gateway, foreign, stolen).await);

        let right = vec![self.again(TOOLS[0], own), self.again(TOOLS[0], own)];
        let told = run(self.client, gateway, &gateway.token, right).await;
        assert_eq!(told.text(0), "state-ok, confirmed: true", "{:?}", self.client);
        // A stateless server may take its state again; a call that waited is over.
        if self.server == "session" {
            assert_eq!(
                told.code(1),
                Some(-32602),
                "{:?}: {:?}",
                self.client,
                told.results[1]
            );
        }
    }

    fn refused(&self, told: &Told) {
        let refused = (0..told.results.len()).all(|index| told.code(index) == Some(-32602));
        assert!(refused, "{:?}: {:?}", self.client, told.results);
    }
}

async fn run(client: Client, gateway: &Gateway, token: &str, operations: Vec<Operation>) -> Told {
    let answers = Answers::of("Ada");
    let told = client
        .run_with(&gateway.url(), Some(token), &answers, &operations)
        .await;
    told.unwrap_or_else(|error| panic!("{error:#}"))
}
