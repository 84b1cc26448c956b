//! Real servers ask real clients, in all pairings of eras (`protocol.md` 20, rows 5 and 6).

use mcpr_tests::drivers::{Answers, Client, Operation, Told};
use mcpr_tests::peers::{self, Served};
use mcpr_tests::{Eras, Gateway, Reference, gateway};
use serde_json::{Value, json};

use crate::brood::Brood;

/// A call, what it asks for, and what its result says when it was answered.
struct Interview {
    call: Operation,
    /// Their methods in order.
    questions: &'static [&'static str],
    /// `{who}` is the name of the client.
    says: &'static str,
}

const FORM: &str = "elicitation/create";
const MODEL: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";

/// What the name of a client's user is.
fn user(client: Client) -> String {
    format!("{client:?}")
}

/// Runs all interviews with each client at once; every answer is that of the client which called.
async fn ask_each(gateway: &Gateway, clients: &[Client], interviews: &[Interview]) -> Vec<(Client, Told)> {
    let calls: Vec<_> = interviews.iter().map(|interview| interview.call.clone()).collect();
    let work = |client| (Answers::of(&user(client)), calls.clone());
    let all = Client::run_each(clients, &gateway.url(), &gateway.token, work).await;
    for (client, told) in &all {
        for (index, interview) in interviews.iter().enumerate() {
            let (text, says) = (told.text(index), interview.says.replace("{who}", &user(*client)));
            assert!(text.contains(&says), "{client:?} {:?}: {text}", interview.call);
        }
        let mut asked = told.questions().into_iter();
        for interview in interviews {
            // What is asked at once has no order.
            let mut questions: Vec<_> = asked.by_ref().take(interview.questions.len()).collect();
            questions.sort_unstable();
            assert_eq!(questions, interview.questions, "{client:?} {:?}", interview.call);
        }
        assert_eq!(asked.next(), None, "{client:?} is asked too much");
    }
    all
}

/// What server-everything asks, under the name that it has in the file.
fn everything(server: &str) -> Vec<Interview> {
    let interview = |tool: &str, arguments: Value, questions, says| Interview {
        call: Operation::call_tool(&format!("{server}_{tool}"), arguments),
        questions,
        says,
    };
    let visit = json!({ "url": "https://example.com/visit", "message": "Please visit" });
    vec![
        interview("trigger_elicitation_request", json!({}), &[FORM], "provided the requested information"),
        interview("trigger_sampling_request", json!({ "prompt": "Hi" }), &[MODEL], "{who}'s model"),
        interview("trigger_url_elicitation", visit, &[FORM], "URL: https://example.com/visit"),
        interview("get_roots_list", json!({}), &[ROOTS], "file:///home/{who}"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn row_05_server_everything_asks_clients_of_both_eras_over_each_transport() {
    let (http, sse) = tokio::join!(Served::everything(), Served::everything_sse());
    let brood = Brood::new();
    let gateway = gateway()
        .server("stdio", brood.entry(&peers::ready().everything()))
        .server("http", json!({ "type": "http", "url": http.url() }))
        .server("sse", json!({ "type": "sse", "url": sse.url() }))
        .ready()
        .await;
    let interviews: Vec<_> = ["stdio", "http", "sse"].into_iter().flat_map(everything).collect();
    for (client, told) in ask_each(&gateway, &Client::EACH, &interviews).await {
        let form = &told.asked[0].params;
        assert_eq!(form["message"], "Please provide inputs for the following fields:", "{client:?}");
        assert_eq!(form["requestedSchema"]["required"], json!(["name"]), "{client:?}");
        let visit = &told.asked[2].params;
        assert_eq!((&visit["mode"], &visit["url"]), (&json!("url"), &json!("https://example.com/visit")));
        let named = visit["elicitationId"].is_string();
        assert_eq!(named, !client.is_stateless(), "{client:?}: {visit}");
    }
    brood.stop(gateway).await;
}

/// What the reference server asks; each tool of one era is there in the other too.
fn reference() -> Vec<Interview> {
    let interview = |tool: &str, arguments: Value, questions, says| Interview {
        call: Operation::call_tool(tool, arguments),
        questions,
        says,
    };
    let tool = |name: &str, questions, says| {
        interview(&format!("test_input_required_result_{name}"), json!({}), questions, says)
    };
    vec![
        tool("elicitation", &[FORM], "Hello, {who}!"),
        tool("sampling", &[MODEL], "{who}'s model"),
        tool("list_roots", &[ROOTS], "file:///home/{who}"),
        tool("request_state", &[FORM], "state-ok, confirmed: true"),
        tool("multiple_inputs", &[FORM, ROOTS, MODEL], "{who}'s model {who}, at home in [{"),
        tool("multi_round", &[FORM, FORM], "{who} likes {who}'s blue."),
        interview("test_sampling", json!({ "prompt": "Hi" }), &[MODEL], "LLM response: {who}'s model"),
        interview("test_elicitation", json!({ "message": "Who?" }), &[FORM], "User response: action=\"accept\""),
        interview("test_streaming_elicitation", json!({}), &[FORM], "Hello, {who}!"),
    ]
}

/// Every client is asked by a reference server of these eras, over HTTP and on a pipe.
async fn reference_asks(eras: Eras) {
    let http = Reference::start(eras);
    for entry in [http.entry(), Reference::stdio(eras)] {
        let gateway = gateway().server("reference", entry).ready().await;
        ask_each(&gateway, &Client::EACH, &reference()).await;
        gateway.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_06_a_stateless_server_asks_clients_of_both_eras() {
    reference_asks(Eras::Stateless).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_session_era_asks_clients_of_both_eras() {
    reference_asks(Eras::Session).await;
}
