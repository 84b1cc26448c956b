//! What a toolset cannot be called, and how many there can be (SEC-05).

use mcpr_tests::client::Session;
use mcpr_tests::{Fake, Gateway, gateway};
use serde_json::{Value, json};

use crate::agents::{complaint, others, structured, use_tool};

async fn in_front_of(git: &Fake) -> Gateway {
    gateway().with_builtins().fake("git", git).ready().await
}

fn git() -> Fake {
    Fake::script().tool("status").tool("push").stdio()
}

fn toolset(name: &str, entries: &[String]) -> String {
    let entry = |name: &String| json!({ "namespacedName": name });
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    json!({ "name": name, "tools": entries }).to_string()
}

fn status() -> Vec<String> {
    vec!["git.status".to_owned()]
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_toolset_has_a_name_that_can_be_shown() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let agent = gateway.client().await;
    let (longest, longer) = ("ü".repeat(64), "ü".repeat(65));

    for name in ["", " few", "few ", "a/b", "a\nb", "\u{7}", "\u{0}", &longer] {
        let said = complaint(&agent.call("build-toolset", &toolset(name, &status())).await);
        assert!(
            said.contains("cannot name a toolset") && !said.contains(char::is_control),
            "{said:?}"
        );
    }

    use_tool(&agent, "build-toolset", &toolset(&longest, &status())).await;
    use_tool(&agent, "equip-toolset", &json!({ "name": longest }).to_string()).await;
    assert_eq!(others(&agent).await, ["git_status"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_toolset_has_entries_that_can_name_tools_and_not_too_many() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let agent = gateway.client().await;
    let named =
        |form: &dyn Fn(usize) -> String, count| (1..count).map(form).chain(status()).collect::<Vec<_>>();
    let exactly = |count| named(&|n| format!("git.tool{n}"), count);
    let by_patterns = |count| named(&|n| format!("git.s*{n}"), count);

    for entry in ["", "git.\u{1b}[31m", &"x*".repeat(257)] {
        let said = complaint(
            &agent
                .call("build-toolset", &toolset("x", &[entry.to_owned()]))
                .await,
        );
        assert!(
            said.contains("cannot name a tool") && !said.contains('\u{1b}'),
            "{said:?}"
        );
    }
    for (entries, limit) in [
        (vec![], "1 to 5000 entries"),
        (exactly(5001), "1 to 5000 entries"),
        (by_patterns(202), "at most 200 entries with `*`"),
    ] {
        let said = complaint(&agent.call("build-toolset", &toolset("x", &entries)).await);
        assert!(said.contains(limit), "{said}");
    }

    let built = use_tool(&agent, "build-toolset", &toolset("x", &by_patterns(201))).await;
    assert_eq!(
        (&built["toolset"]["entries"], &built["toolset"]["tools"]),
        (&json!(201), &json!(1))
    );
    let mut longest: Value = serde_json::from_str(&toolset("y", &exactly(5000))).expect("JSON");
    longest["force"] = true.into();
    assert_eq!(
        gateway.operate("toolsets/save", longest).await["toolset"]["entries"],
        5000
    );
    use_tool(&agent, "equip-toolset", r#"{"name":"x"}"#).await;
    assert_eq!(others(&agent).await, ["git_status"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_what_is_wrong_is_told_in_short() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let agent = gateway.client().await;
    let wrong: Vec<String> = (0..5000).map(|n| format!("git.statuz{n}")).collect();

    let told = complaint(&agent.call("build-toolset", &toolset("x", &wrong)).await);
    let long = json!({ "name": "x".repeat(1_000_000) }).to_string();
    let long = complaint(&agent.call("equip-toolset", &long).await);
    let unknown = complaint(&agent.call("unequip-toolset", r#"{"principal":"default"}"#).await);
    let twice = agent.call("equip-toolset", r#"{"name":"a","name":"b"}"#).await;

    assert_eq!(told.lines().count(), 12, "{told}");
    assert!(told.ends_with("and 4990 more"), "{told}");
    assert!(long.len() < 20_000, "{} bytes", long.len());
    assert!(unknown.contains("`unequip-toolset` takes nothing"), "{unknown}");
    let twice = twice["error"]["message"].as_str().expect("a message");
    assert!(twice.contains("`name` is there twice"), "{twice}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_description_is_no_book() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let described = |length: usize| json!({ "name": "x", "description": "ü".repeat(length), "tools": [{ "namespacedName": "git.*" }] });

    let longer = gateway.operate("toolsets/save", described(4097)).await;
    let longest = gateway.operate("toolsets/save", described(4096)).await;

    assert_eq!(longer["error"]["code"], "invalid", "{longer}");
    assert_eq!(longest["replaced"], false, "{longest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_principal_has_a_hundred_toolsets_and_others_have_theirs() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let agent = gateway.client().await;
    let build = async |agent: &Session, n: usize| {
        let name = format!("t{n}");
        agent.call("build-toolset", &toolset(&name, &status())).await
    };
    for n in 0..100 {
        structured(&build(&agent, n).await);
    }

    let refused = complaint(&build(&agent, 100).await);
    assert!(
        refused.contains("100 toolsets") && refused.contains("delete-toolset"),
        "{refused}"
    );
    assert_eq!(structured(&build(&agent, 7).await)["replaced"], true);
    let token = gateway.another_token(&["call"]).await;
    let stranger = Session::open(gateway.port, &token, "2025-11-25").await;
    structured(&build(&stranger, 100).await);
    use_tool(&agent, "delete-toolset", r#"{"name":"t3"}"#).await;
    structured(&build(&agent, 100).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_05_a_query_has_each_word_once_and_not_too_many() {
    let git = git();
    let gateway = in_front_of(&git).await;
    let agent = gateway.client().await;
    let query = |words: &str| json!({ "query": words }).to_string();
    let many: Vec<String> = (0..65).map(|number| number.to_string()).collect();

    let said = complaint(&agent.call("discover-all-tools", &query(&many.join(" "))).await);
    assert!(said.contains("65 different words, more than 64"), "{said}");

    let often = query(&"push GIT ".repeat(100_000));
    assert_eq!(use_tool(&agent, "discover-all-tools", &often).await["total"], 1);
}
