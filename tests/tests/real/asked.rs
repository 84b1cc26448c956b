//! Real servers ask real clients, in all pairings of eras (`protocol.md` 20, rows 5 and 6).

use ::rmcp::model::ProtocolVersion;
use mcpr_tests::drivers::{Answers, Client, Operation, Told};
use mcpr_tests::peers::{self, Served};
use mcpr_tests::{Brood, Eras, Gateway, Reference, gateway};
use serde_json::{Value, json};

use crate::rmcp::{SESSION, STATELESS, Sdk};

/// Where users are sent.
const VISIT: &str = "https://example.com/visit";

/// A call, what it asks for, and what its result says when it was answered.
struct Interview {
    tool: String,
    arguments: Value,
    /// Their methods; those of one round in the order of the alphabet.
    questions: &'static [&'static str],
    /// `{who}` is the name of the client's user.
    says: &'static str,
}

/// How the names of the reference server's interactive tools begin.
const INPUT: &str = "test_input_required_result";

const FORM: &str = "elicitation/create";
const MODEL: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";

impl Interview {
    fn new(tool: &str, arguments: Value, questions: &'static [&'static str], says: &'static str) -> Self {
        let tool = tool.to_owned();
        Self {
            tool,
            arguments,
            questions,
            says,
        }
    }

    /// Whether this is what a client gets whose user has this name.
    fn check(&self, who: &str, result: &Value) {
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let says = self.says.replace("{who}", who);
        assert!(text.contains(&says), "{who} calls {}: {result}", self.tool);
    }
}

/// Runs all interviews with each client at once; every answer is that of the client which called.
async fn ask_each(gateway: &Gateway, interviews: &[Interview]) -> Vec<(Client, Told)> {
    let (url, token) = (gateway.url(), &gateway.token);
    let work = |client| (Answers::of(&name(client)), calls(interviews));
    let (all, (), ()) = tokio::join!(
        Client::run_each(&Client::EACH, &url, token, work),
        ask_rmcp(gateway, &SESSION, token, interviews),
        ask_rmcp(gateway, &STATELESS, token, interviews),
    );
    all.iter()
        .for_each(|(client, told)| check(*client, told, interviews));
    all
}

/// The same with one client after the other, each with a token of its own.
async fn ask_in_turn(gateway: &Gateway, interviews: &[Interview]) {
    for client in Client::EACH {
        let token = gateway.another_token(&["read", "call"]).await;
        let (answers, calls) = (Answers::of(&name(client)), calls(interviews));
        let told = client
            .run_with(&gateway.url(), Some(&token), &answers, &calls)
            .await;
        check(
            client,
            &told.unwrap_or_else(|error| panic!("{error:#}")),
            interviews,
        );
    }
    for version in [SESSION, STATELESS] {
        let token = gateway.another_token(&["read", "call"]).await;
        ask_rmcp(gateway, &version, &token, interviews).await;
    }
}

async fn ask_rmcp(gateway: &Gateway, version: &ProtocolVersion, token: &str, interviews: &[Interview]) {
    let who = format!("rmcp-{version}");
    let sdk = Sdk::connect_as(gateway, version, token, &who).await;
    for interview in interviews {
        interview.check(&who, &sdk.call(&interview.tool, &interview.arguments).await);
    }
    check_questions(&who, sdk.asked(), interviews);
}

/// The name of a client's user.
fn name(client: Client) -> String {
    format!("{client:?}")
}

fn calls(interviews: &[Interview]) -> Vec<Operation> {
    let call = |interview: &Interview| Operation::call_tool(&interview.tool, interview.arguments.clone());
    interviews.iter().map(call).collect()
}

fn check(client: Client, told: &Told, interviews: &[Interview]) {
    for (index, interview) in interviews.iter().enumerate() {
        interview.check(&name(client), told.ok(index));
    }
    check_questions(&name(client), told.questions(), interviews);
}

fn check_questions(who: &str, mut asked: Vec<&str>, interviews: &[Interview]) {
    let about_roots = interviews
        .iter()
        .any(|interview| interview.questions.contains(&ROOTS));
    // server-everything asks for roots a while after its start, whatever call is open then, and when
    // mcpr tells it that they may be others.
    asked.retain(|question| about_roots || *question != ROOTS);
    let mut asked = asked.into_iter();
    for interview in interviews {
        let mut questions: Vec<_> = asked.by_ref().take(interview.questions.len()).collect();
        questions.sort_unstable();
        assert_eq!(questions, interview.questions, "{who} calls {}", interview.tool);
    }
    assert_eq!(asked.next(), None, "{who} is asked too much");
}

/// What server-everything asks, under the name that it has in the file.
fn everything(server: &str) -> Vec<Interview> {
    let tool = |name: &str| format!("{server}_trigger_{name}");
    let visit = json!({ "url": VISIT, "message": "Please visit" });
    let prompt = json!({ "prompt": "Hi" });
    let filled = "provided the requested information";
    vec![
        Interview::new(&tool("elicitation_request"), json!({}), &[FORM], filled),
        Interview::new(&tool("sampling_request"), prompt, &[MODEL], "{who}'s model"),
        Interview::new(&tool("url_elicitation"), visit, &[FORM], VISIT),
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
    let interviews: Vec<_> = ["stdio", "http", "sse"]
        .into_iter()
        .flat_map(everything)
        .collect();
    for (client, told) in ask_each(&gateway, &interviews).await {
        let forms = told.asked.iter().filter(|asked| asked.method == FORM);
        for form in forms.map(|asked| &asked.params) {
            // Only the session era has ids for the visits of URLs.
            let names_visit = form["mode"] == "url" && !client.is_stateless();
            assert_eq!(
                form["elicitationId"].is_string(),
                names_visit,
                "{client:?}: {form}"
            );
            let fields = form["requestedSchema"]["properties"]
                .as_object()
                .map_or(0, |fields| fields.len());
            assert_eq!(
                fields,
                if form["mode"] == "url" { 0 } else { 13 },
                "{client:?}: {form}"
            );
        }
    }
    brood.stop(gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn row_05_server_everything_is_told_the_roots_of_the_client_that_calls() {
    let (http, brood) = (Served::everything().await, Brood::new());
    let gateway = gateway()
        .server("stdio", brood.entry(&peers::ready().everything()))
        .server("http", json!({ "type": "http", "url": http.url() }))
        .ready()
        .await;
    let roots = |server| {
        let tool = format!("{server}_get_roots_list");
        Interview::new(&tool, json!({}), &[], "file:///home/{who}")
    };
    ask_in_turn(&gateway, &["stdio", "http", "stdio"].map(roots)).await;
    brood.stop(gateway).await;
}

/// What the reference server asks; each tool of one era is there in the other too.
fn reference() -> Vec<Interview> {
    let tool =
        |name: &str, questions, says| Interview::new(&format!("{INPUT}_{name}"), json!({}), questions, says);
    let (prompt, message) = (json!({ "prompt": "Hi" }), json!({ "message": "Who?" }));
    vec![
        tool("elicitation", &[FORM], "Hello, {who}!"),
        tool("sampling", &[MODEL], "{who}'s model"),
        tool("request_state", &[FORM], "state-ok, confirmed: true"),
        tool("multi_round", &[FORM, FORM], "{who} likes {who}'s blue."),
        Interview::new("test_sampling", prompt, &[MODEL], "LLM response: {who}'s model"),
        Interview::new(
            "test_elicitation",
            message,
            &[FORM],
            "User response: action=\"accept\"",
        ),
        Interview::new("test_streaming_elicitation", json!({}), &[FORM], "Hello, {who}!"),
    ]
}

/// The same for what is about roots.
fn reference_roots() -> Vec<Interview> {
    let tool =
        |name: &str, questions, says| Interview::new(&format!("{INPUT}_{name}"), json!({}), questions, says);
    vec![
        tool("list_roots", &[ROOTS], "file:///home/{who}"),
        tool(
            "multiple_inputs",
            &[FORM, ROOTS, MODEL],
            "{who}'s model {who}, at home in [{",
        ),
    ]
}

/// All of it.
fn all_of_the_reference() -> Vec<Interview> {
    reference().into_iter().chain(reference_roots()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn row_06_a_stateless_server_asks_clients_of_both_eras() {
    let http = Reference::start(Eras::Stateless);
    for entry in [http.entry(), Reference::stdio(Eras::Stateless)] {
        let gateway = gateway().server("reference", entry).ready().await;
        ask_each(&gateway, &all_of_the_reference()).await;
        gateway.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_session_era_asks_clients_of_both_eras_on_a_pipe() {
    let reference = Reference::stdio(Eras::Session);
    let gateway = gateway().server("reference", reference).ready().await;
    ask_each(&gateway, &all_of_the_reference()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_session_era_asks_clients_of_both_eras_over_http() {
    let server = Reference::start(Eras::Session);
    let gateway = gateway().server("reference", server.entry()).ready().await;
    ask_each(&gateway, &reference()).await;
    // Here all share a session, in which there are no roots while several have calls open.
    ask_in_turn(&gateway, &reference_roots()).await;
}
