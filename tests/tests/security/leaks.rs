//! Secrets are planted everywhere, and everything that the gateway says is searched for them, at level trace.

mod cast;

use std::net::TcpListener;

use mcpr_tests::client::Session;
use mcpr_tests::http::Request;
use mcpr_tests::{Brood, Program, Received, gateway};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use self::cast::Cast;
use crate::canaries::{Canaries, Sink, basic};
use crate::text;

/// What operators ask for over HTTP.
const OPERATIONS: [(&str, &str); 13] = [
    ("status", "{}"),
    ("servers/list", "{}"),
    ("servers/show", r#"{"name":"shell"}"#),
    ("servers/show", r#"{"name":"web"}"#),
    ("servers/show", r#"{"name":"crash"}"#),
    ("tools/list", r#"{"all":true}"#),
    ("tools/explain", r#"{"name":"web.t"}"#),
    ("tools/explain", r#"{"name":"crash.t"}"#),
    ("history/list", r#"{"arguments":true}"#),
    ("tokens/list", "{}"),
    ("toolsets/list", "{}"),
    ("projects/list", "{}"),
    ("pins/diff", "{}"),
];

/// What they type.
const COMMANDS: [&str; 19] = [
    "status",
    "servers ls",
    "servers show web",
    "servers show crash",
    "servers show refuses",
    "servers logs shell",
    "servers test crash",
    "servers test refuses",
    "tools ls --all",
    "explain web_t",
    "doctor",
    "config show",
    "config show --effective",
    "config check",
    "history ls",
    "history export --format jsonl",
    "logs -n 10000",
    "tokens ls",
    "top --once",
];

/// What they type when no gateway runs.
const AFTERWARDS: [&str; 7] = [
    "doctor",
    "config check",
    "config show --effective",
    "servers test dead",
    "servers test exits",
    "history ls",
    "logs -n 10000",
];

/// What a client says about itself that is nobody else's.
struct Client {
    session: Session,
    cookie: String,
    meta: Value,
}

impl Client {
    async fn new(gateway: &Program, canaries: &mut Canaries, token: &str) -> Self {
        let meta = json!({
            "token": canaries.secret("metatoken", None),
            "projectId": "everything",
            "dev.mcpr/prefer": canaries.private("prefer"),
            "dev.mcpr/unknown": canaries.private("ours"),
            "progressToken": canaries.private("progress"),
        });
        Self {
            session: Session::open(gateway.port, token, "2025-11-25").await,
            cookie: canaries.secret("cookie", None),
            meta,
        }
    }

    /// The answer to a call, whatever it is.
    async fn call(&self, tool: &str, arguments: &Value) -> String {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": self.meta });
        let text = self.session.text("tools/call", &params.to_string());
        let request = self
            .session
            .post(&text)
            .header("cookie", &format!("sid={}", self.cookie));
        request
            .header("x-mcpr-project", "everything")
            .send(self.session.port)
            .await
            .text()
    }
}

/// All that a server received, as one text.
fn whole(received: &[Received]) -> String {
    let one = |received: &Received| format!("{} {:?}\n", received.text, received.http);
    received.iter().map(one).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_04_log_04_no_secret_is_seen_where_it_does_not_belong() {
    let mut canaries = Canaries::default();
    let of_gateway = canaries.secret("gatewayenv", None);
    let foreign = canaries.secret("foreignenv", None);
    let (proxy_user, proxy_password) = (
        canaries.secret("proxyuser", None),
        canaries.secret("proxypass", None),
    );
    let of_file = canaries.secret("file", None);
    canaries.also(basic(&proxy_user, &proxy_password));
    let argument = canaries.secret("argument", Some("shell"));
    let kept = canaries.secret("kept", None);
    let cast = Cast::new(&mut canaries, &argument, plain().await);
    // A port that nobody listens at any more.
    let nobody = TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let proxy = format!("http://{proxy_user}:{proxy_password}@127.0.0.1:{nobody}");
    let builder = cast
        .entries
        .iter()
        .fold(gateway(), |all, (name, entry)| all.server(name, entry.clone()));
    let names: Vec<_> = cast.entries.iter().map(|(name, _)| *name).collect();
    let gateway = builder
        .own("projects", json!({ "everything": { "servers": names } }))
        .program(&Brood::new())
        .await
        .variable("MCPR_LOG_LEVEL", "trace")
        .variable("GATEWAY_SECRET", &of_gateway)
        .variable("ARGUMENT_SECRET", &argument)
        .variable("UNRELATED_SECRET", &foreign)
        .variable("HTTP_PROXY", &proxy);
    std::fs::write(gateway.home().join("key.txt"), &of_file).unwrap();
    keep_secret(&gateway, "key", &kept);
    let token = gateway.token.clone();
    canaries.also(token.clone());
    gateway.run().await;
    let client = Client::new(&gateway, &mut canaries, &token).await;
    let private = canaries.secret("arguments", Some("shell"));

    // What clients get, from servers that fail in every way.
    for tool in [
        "web_t",
        "refuses_t",
        "moves_t",
        "slow_t",
        "crash_t",
        "locked_t",
        "dead_t",
        "none_t",
    ] {
        let answer = client.call(tool, &json!({})).await;
        canaries.look(&format!("the answer to {tool}"), Sink::Told, &answer);
    }
    let listed = client.session.request("tools/list", "{}").await.text();
    canaries.look("the list", Sink::Told, &listed);
    for wrong in [foreign.clone(), format!("mcpr_pat_{foreign}")] {
        let refused = Request::post("/mcp?token=x", "{}")
            .token(&wrong)
            .send(gateway.port)
            .await;
        canaries.look("a refusal", Sink::Told, &refused.text());
    }
    // What a server says to its own caller passes; it is kept nowhere.
    client.call("shell_t", &json!({ "key": private })).await;
    client.call("shell_denied", &json!({ "key": private })).await;
    let environment = client.session.call("shell_env", "{}").await;
    let environment = text(&environment).replace(&proxy, "").replace(&of_gateway, "");
    canaries.look("the environment of a child", Sink::Server("shell"), &environment);

    // What operators get.
    for (path, body) in OPERATIONS {
        let request = Request::post(&format!("/admin/v1/{path}"), body).token(&token);
        canaries.look(path, Sink::Told, &request.send(gateway.port).await.text());
    }
    let metrics = Request::get("/metrics").token(&token).send(gateway.port).await;
    assert_eq!(metrics.status(), 200);
    canaries.look("/metrics", Sink::Told, &metrics.text());
    type_all(&gateway, &mut canaries, &COMMANDS).await;

    // What servers get, and what is kept.
    for (name, fake) in &cast.fakes {
        canaries.look(
            &format!("what {name} received"),
            Sink::Server(name),
            &whole(&fake.received()),
        );
    }
    assert!(gateway.terminate().await.success());
    type_all(&gateway, &mut canaries, &AFTERWARDS).await;
    canaries.look("stderr", Sink::Told, &gateway.complaints());
    assert!(logs(&gateway).contains("debug"), "it is more than usual");
    canaries.look_into(&gateway.home(), &["mcpr.json", "key.txt", "secrets"]);
    canaries.assert_silence(80);
}

/// Looks at what commands print, for people and for scripts.
async fn type_all(gateway: &Program, canaries: &mut Canaries, commands: &[&str]) {
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        for json in [&[][..], &["--json"]] {
            let (_, said) = gateway.told(&[&words, json].concat()).await;
            canaries.look(command, Sink::Told, &said);
        }
    }
}

/// A port at which nobody speaks TLS, and says so at once.
async fn plain() -> u16 {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    port
}

/// Puts a secret where `${secret:NAME}` finds it.
fn keep_secret(gateway: &Program, name: &str, secret: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = gateway.home().join("secrets");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), secret).unwrap();
    std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// What the log files say, in lower case.
fn logs(gateway: &Program) -> String {
    let files = std::fs::read_dir(gateway.home().join("logs")).unwrap().flatten();
    let texts = files.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default());
    texts.collect::<String>().to_lowercase()
}
