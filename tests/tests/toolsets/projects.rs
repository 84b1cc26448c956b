//! Projects: which servers a request sees.

use mcpr_tests::client::Session;
use mcpr_tests::http::Request;
use mcpr_tests::{Fake, Gateway, gateway, logged};
use serde_json::{Value, json};

struct Shop {
    gateway: Gateway,
    _servers: [Fake; 2],
}

async fn shop() -> Shop {
    let script = || {
        let keys = r#"{"prompts":[{"name":"p"}],"resources":[{"uri":"file:///r","name":"r"}]}"#;
        Fake::script().tool("t").tool("u").with(keys)
    };
    let (web, desk) = (script().http(), script().http());
    let projects = json!({ "web": { "servers": ["web"] }, "eu": { "tags": ["eu"], "toolset": "few" } });
    let builder = gateway().own("projects", projects);
    let builder = builder.own(
        "toolsets",
        json!({ "few": { "tools": [{ "namespacedName": "*.t" }] } }),
    );
    let builder = builder.fake("web", &web);
    let gateway = builder
        .fake_with("desk", &desk, json!({ "tags": ["eu"] }))
        .ready()
        .await;
    Shop {
        gateway,
        _servers: [web, desk],
    }
}

/// What a request with these headers lists, and what the list says of itself.
async fn listed(
    client: &Session,
    path: &str,
    headers: &[(&str, &str)],
    method: &str,
) -> (Vec<String>, Value) {
    let text = client.text(method, "{}");
    let mut request = client.in_session(Request::post(path, text));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let result = request.send(client.port).await.message()["result"].clone();
    let member = method.split('/').next().expect("a method has two parts");
    let items = result[member].as_array().expect("a list").iter();
    let key = if member == "resources" { "uri" } else { "name" };
    let names = items
        .map(|item| item[key].as_str().expect("a name").to_owned())
        .collect();
    (names, result["_meta"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_01_a_project_limits_tools_prompts_and_resources_in_lists_and_calls() {
    let shop = shop().await;
    let client = shop.gateway.client().await;
    let web = [("x-mcpr-project", "web")];

    let (tools, notes) = listed(&client, "/mcp", &web, "tools/list").await;
    let (prompts, _) = listed(&client, "/mcp", &web, "prompts/list").await;
    let (resources, _) = listed(&client, "/mcp?project=web", &[], "resources/list").await;

    assert_eq!(tools, ["web_t", "web_u"]);
    assert_eq!(notes["dev.mcpr/servers"], json!({ "web": { "state": "ok" } }));
    assert_eq!((prompts[0].as_str(), prompts.len()), ("web_p", 1));
    assert_eq!(resources, ["resource://web/file:///r"]);
    let call = client.text("tools/call", r#"{"name":"desk_t","arguments":{}}"#);
    let answer = client
        .post(&call)
        .header("x-mcpr-project", "web")
        .send(client.port)
        .await;
    assert_eq!(answer.message()["error"]["message"], "Unknown tool: desk_t");
    assert_eq!(answer.message()["error"]["data"]["reason"], "unknown_tool");
    let read = client.text("resources/read", r#"{"uri":"resource://desk/file:///r"}"#);
    let answer = client
        .post(&read)
        .header("x-mcpr-project", "web")
        .send(client.port)
        .await;
    assert!(answer.message()["error"].is_object(), "{}", answer.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_02_the_header_wins_over_the_url_and_the_token_over_both() {
    let shop = shop().await;
    let made = json!({ "name": "bound", "project": "web", "scopes": ["read", "call"] });
    let made = shop.gateway.operate("tokens/create", made).await;
    let bound = Session::open(
        shop.gateway.port,
        made["secret"].as_str().expect("a secret"),
        "2025-11-25",
    )
    .await;
    let free = shop.gateway.client().await;

    let (by_header, _) = listed(
        &free,
        "/mcp?project=eu",
        &[("x-mcpr-project", "web")],
        "tools/list",
    )
    .await;
    let (own, _) = listed(&bound, "/mcp", &[], "tools/list").await;
    let (same, _) = listed(&bound, "/mcp?project=web", &[], "tools/list").await;
    let elsewhere = [
        listed(&bound, "/mcp", &[("x-mcpr-project", "eu")], "tools/list").await,
        listed(&bound, "/mcp?project=eu", &[], "tools/list").await,
    ];

    assert_eq!((by_header, &own, &same), (own.clone(), &own, &own));
    assert_eq!(own, ["web_t", "web_u"]);
    for (other, notes) in elsewhere {
        assert!(other.is_empty());
        assert_eq!(notes["dev.mcpr/project"], "unknown");
    }
    // Over the network `_meta` names no project: what a token is bound to holds.
    let call = r#"{"name":"NAME","arguments":{},"_meta":{"projectId":"eu"}}"#;
    for (tool, called) in [("web_t", true), ("desk_t", false)] {
        let answer = bound
            .request("tools/call", &call.replace("NAME", tool))
            .await
            .message();
        assert_eq!(answer["result"].is_object(), called, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_03_an_unknown_project_is_an_empty_list_that_says_so() {
    let shop = shop().await;
    let client = shop.gateway.client().await;

    for method in ["tools/list", "prompts/list", "resources/list"] {
        let (names, notes) = listed(&client, "/mcp?project=nowhere", &[], method).await;
        assert!(names.is_empty());
        assert_eq!(
            notes,
            json!({ "dev.mcpr/project": "unknown", "dev.mcpr/servers": {} })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_03_an_unknown_project_is_told_in_the_log() {
    logged();
    let shop = shop().await;
    let client = shop.gateway.client().await;

    listed(&client, "/mcp?project=lost-and-unfound", &[], "tools/list").await;

    let lines = logged();
    let told = lines
        .iter()
        .find(|line| line.contains("project=lost-and-unfound"));
    let told = told.unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(
        told.contains(" WARN ") && told.contains("there is no such project"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_03_a_header_that_names_nothing_readable_never_shows_everything() {
    let shop = shop().await;
    let client = shop.gateway.client().await;
    let odd: [&[(&str, &str)]; 3] = [
        &[("x-mcpr-project", "caf\u{e9}")],
        &[("x-mcpr-project", "web"), ("x-mcpr-project", "eu")],
        &[("x-mcpr-toolset", "caf\u{e9}")],
    ];

    for headers in odd {
        let (names, notes) = listed(&client, "/mcp", headers, "tools/list").await;
        assert!(names.is_empty(), "{headers:?} shows {names:?}");
        assert!(notes.to_string().contains("\"unknown\""), "{notes}");
    }
    let empty = [("x-mcpr-project", "")];
    let (by_url, _) = listed(&client, "/mcp?project=web", &empty, "tools/list").await;
    assert_eq!(by_url, ["web_t", "web_u"], "an empty header names nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_01_a_project_has_servers_by_tag_and_may_carry_a_toolset() {
    let shop = shop().await;
    let client = shop.gateway.client().await;

    let (carried, _) = listed(&client, "/mcp?project=eu", &[], "tools/list").await;
    let (chosen, _) = listed(&client, "/mcp", &[("x-mcpr-toolset", "few")], "tools/list").await;
    let (unknown, notes) = listed(&client, "/mcp?toolset=none", &[], "tools/list").await;

    assert_eq!(carried, ["desk_t"]);
    assert_eq!(chosen, ["web_t", "desk_t"]);
    assert!(unknown.is_empty());
    assert_eq!(notes["dev.mcpr/toolset"], "unknown");
    assert_eq!(client.tool_names().await.len(), 4, "nothing was equipped");
}

#[tokio::test(flavor = "multi_thread")]
async fn prj_01_projects_come_and_go_while_everything_runs() {
    let shop = shop().await;
    let client = shop.gateway.client().await;
    let operate = |path: &'static str, body: Value| shop.gateway.operate(path, body);

    let made = operate(
        "projects/save",
        json!({ "name": "desk", "servers": ["desk", "gone"] }),
    )
    .await;
    let (there, _) = listed(&client, "/mcp?project=desk", &[], "tools/list").await;
    let again = operate("projects/save", json!({ "name": "desk", "servers": [] })).await;
    let filed = operate("projects/delete", json!({ "name": "web" })).await;
    operate("projects/delete", json!({ "name": "desk" })).await;
    let (gone, _) = listed(&client, "/mcp?project=desk", &[], "tools/list").await;

    assert_eq!(
        (&made["members"], &made["missing"]),
        (&json!(["desk"]), &json!(["server gone"]))
    );
    assert_eq!(
        (there, gone),
        (vec!["desk_t".to_owned(), "desk_u".into()], vec![])
    );
    assert!(
        again["error"]["message"]
            .as_str()
            .expect("why")
            .contains("already"),
        "{again}"
    );
    assert!(
        filed["error"]["message"]
            .as_str()
            .expect("why")
            .contains("configuration file"),
        "{filed}"
    );
}
