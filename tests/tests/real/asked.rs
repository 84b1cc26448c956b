//! Real servers ask real clients, in all pairings of eras (`protocol.md` 20, rows 5 and 6).

use ::rmcp::model::ProtocolVersion;
use mcpr_tests::drivers::{Answers, Client, Operation, Told};
use mcpr_tests::peers::{self, Served};
use mcpr_tests::{Eras, Gateway, Reference, gateway};
use serde_json::{Value, json};

use crate::brood::Brood;
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
    let calls = interviews
        .iter()
        .map(|interview| Operation::call_tool(&interview.tool, interview.arguments.clone()));
    let calls: Vec<_> = calls.collect();
    let work = |client| (Answers::of(&format!("{client:?}")), calls.clone());
    let (url, token) = (gateway.url(), &gateway.token);
    let (all, (), ()) = tokio::join!(
        Client::run_each(&Client::EACH, &url, token, work),
        ask_rmcp(gateway, &SESSION, interviews),
        ask_rmcp(gateway, &STATELESS, interviews),
    );
    for (client, told) in &all {
        for (index, interview) in interviews.iter().enumerate() {
            interview.check(&format!("{client:?}"), told.ok(index));
        }
        check_questions(&format!("{client:?}"), told.questions(), interviews);
    }
    all
}

async fn ask_rmcp(gateway: &Gateway, version: &ProtocolVersion, interviews: &[Interview]) {
    let who = format!("rmcp-{version}");
    let sdk = Sdk::connect_as(gateway, version, &who).await;
    for interview in interviews {
        interview.check(&who, &sdk.call(&interview.tool, &interview.arguments).await);
    }
    check_questions(&who, sdk.asked(), interviews);
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
    let tool = |name: &str| format!("{server}_{name}");
    let visit = json!({ "url": VISIT, "message": "Please visit" });
    let prompt = json!({ "prompt": "Hi" });
    let asked = "provided the requested information";
    let mut all = vec![
        Interview::new(&tool("trigger_elicitation_request"), json!({}), &[FORM], asked),
        Interview::new(
            &tool("trigger_sampling_request"),
            prompt,
            &[MODEL],
            "{who}'s model",
        ),
        Interview::new(&tool("trigger_url_elicitation"), visit, &[FORM], VISIT),
    ];
    // Over HTTP all share a session, in which there are no roots while several have calls open.
    if server != "http" {
        all.push(Interview::new(
            &tool("get_roots_list"),
            json!({}),
            &[],
            "file:///home/{who}",
        ));
    }
    all
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

/// What the reference server asks; each tool of one era is there in the other too.
fn reference() -> Vec<Interview> {
    let tool = |name: &str, questions, says| {
        Interview::new(
            &format!("test_input_required_result_{name}"),
            json!({}),
            questions,
            says,
        )
    };
    let (prompt, message) = (json!({ "prompt": "Hi" }), json!({ "message": "Who?" }));
    vec![
        tool("elicitation", &[FORM], "Hello, {who}!"),
        tool("sampling", &[MODEL], "{who}'s model"),
        tool("list_roots", &[ROOTS], "file:///home/{who}"),
        tool("request_state", &[FORM], "state-ok, confirmed: true"),
        tool(
            "multiple_inputs",
            &[FORM, ROOTS, MODEL],
            "{who}'s model {who}, at home in [{",
        ),
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

/// Every client is asked by a reference server of these eras, over HTTP and on a pipe.
async fn reference_asks(eras: Eras) {
    let http = Reference::start(eras);
    for entry in [http.entry(), Reference::stdio(eras)] {
        let gateway = gateway().server("reference", entry).ready().await;
        ask_each(&gateway, &reference()).await;
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
