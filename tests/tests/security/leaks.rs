//! Secrets are planted everywhere, and everything that the gateway says is searched for them, at level trace.

mod cast;

use mcpr_tests::client::Session;
use mcpr_tests::http::Request;
use mcpr_tests::{Brood, Program, Received, free_port, gateway};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinHandle;

use self::cast::Cast;
use crate::canaries::{Canaries, Sink, basic};
use crate::text;

/// What operators ask for over HTTP; all of it is answered.
const OPERATIONS: [(&str, &str); 19] = [
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
    ("pins/list", r#"{"server":"shell"}"#),
    ("secrets/list", "{}"),
    ("tools/show", r#"{"name":"shell.t"}"#),
    ("resources/list", "{}"),
    ("prompts/list", "{}"),
    ("log/show", "{}"),
];

/// What they type, and how it ends.
const COMMANDS: [(&str, i32); 25] = [
    ("status", 0),
    ("servers ls", 0),
    ("servers show web", 0),
    ("servers show crash", 0),
    ("servers show refuses", 0),
    ("servers logs shell", 0),
    ("servers test crash", 0),
    ("servers test refuses", 0),
    ("tools ls --all", 0),
    ("tools show shell_t", 0),
    ("explain web_t", 0),
    ("doctor", 6),
    ("config show", 0),
    ("config show --effective", 0),
    ("config check", 7),
    ("clients ls", 0),
    ("history ls", 0),
    ("history export --format jsonl", 0),
    ("logs -n 10000", 0),
    ("logs level", 0),
    ("tokens ls", 0),
    ("secrets ls", 0),
    ("pins ls shell", 0),
    ("pins diff", 0),
    ("top --once", 0),
];

/// What they type when no gateway runs.
const AFTERWARDS: [(&str, i32); 9] = [
    ("doctor", 6),
    ("config check", 7),
    ("config show --effective", 0),
    ("servers test dead", 1),
    ("servers test exits", 1),
    ("history ls", 0),
    ("logs -n 10000", 0),
    ("secrets ls", 0),
    ("pins ls shell", 0),
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
    let sealed = canaries.secret("sealed", None);
    let cast = Cast::new(&mut canaries, &argument, plain().await);
    let proxy = format!("http://{proxy_user}:{proxy_password}@127.0.0.1:{}", free_port());
    let builder = cast
        .entries
        .iter()
        .fold(gateway(), |all, (name, entry)| all.server(name, entry.clone()));
    let names: Vec<_> = cast.entries.iter().map(|(name, _)| *name).collect();
    let gateway = builder
        .own("projects", json!({ "everything": { "servers": names } }))
        .own("pins", json!("warn"))
        .program(&Brood::new())
        .await
        .variable("MCPR_LOG_LEVEL", "trace")
        .variable("GATEWAY_SECRET", &of_gateway)
        .variable("ARGUMENT_SECRET", &argument)
        .variable("UNRELATED_SECRET", &foreign)
        .variable("HTTP_PROXY", &proxy);
    std::fs::write(gateway.home().join("key.txt"), &of_file).unwrap();
    keep_secret(&gateway, "key", &kept);
    let set = gateway
        .ctl_with(&["secrets", "set", "sealed"], &sealed, &[])
        .await;
    assert!(set.status.success(), "{set:?}");
    let token = gateway.token.clone();
    canaries.also(token.clone());
    gateway.run().await;
    let events = watch(&gateway, &token).await;
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
        assert!(answer.contains(r#""jsonrpc""#), "{tool}: {answer}");
        canaries.look(&format!("the answer to {tool}"), Sink::Told, &answer);
    }
    let listed = client.session.request("tools/list", "{}").await.text();
    canaries.look("the list", Sink::Told, &listed);
    for wrong in [foreign.clone(), format!("mcpr_pat_{foreign}")] {
        let refused = Request::post("/mcp?token=x", "{}")
            .token(&wrong)
            .send(gateway.port)
            .await;
        assert_eq!(refused.status(), 401);
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
        let answer = request.send(gateway.port).await;
        assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
        canaries.look(path, Sink::Told, &answer.text());
    }
    let metrics = Request::get("/metrics").token(&token).send(gateway.port).await;
    assert_eq!(metrics.status(), 200);
    canaries.look("/metrics", Sink::Told, &metrics.text());
    type_all(&gateway, &mut canaries, &COMMANDS).await;
    let copy = gateway.home().join("copy.db");
    let (code, told) = gateway.told(&["backup", copy.to_str().unwrap()]).await;
    assert_eq!(code, 0, "{told}");
    canaries.look("backup", Sink::Told, &told);

    // What servers get, and what is kept.
    for (name, fake) in &cast.fakes {
        assert!(!fake.received().is_empty(), "{name} was asked");
        canaries.look(
            &format!("what {name} received"),
            Sink::Server(name),
            &whole(&fake.received()),
        );
    }
    assert!(gateway.terminate().await.success());
    let events = events.await.unwrap();
    for kind in [r#""kind":"server""#, r#""kind":"call""#] {
        assert!(events.contains(kind), "{kind} is not in {events}");
    }
    canaries.look("the events", Sink::Told, &events);
    type_all(&gateway, &mut canaries, &AFTERWARDS).await;
    canaries.look("stderr", Sink::Told, &gateway.complaints());
    assert!(logs(&gateway).contains("asking the server"), "the level is trace");
    canaries.look_into(gateway.home(), &["mcpr.json", "key.txt", "secrets"]);
    for file in ["mcpr.db", "secrets.json", "copy.db", "copy.db.secrets.json"] {
        canaries.assert_looked_at(&gateway.home().join(file).display().to_string());
    }
    canaries.assert_silence(100);
}

/// Looks at what commands print, for people and for scripts; each does what it is to do.
async fn type_all(gateway: &Program, canaries: &mut Canaries, commands: &[(&str, i32)]) {
    let mut surprises = Vec::new();
    for (command, expected) in commands {
        let words: Vec<&str> = command.split(' ').collect();
        for json in [&[][..], &["--json"]] {
            let (code, said) = gateway.told(&[&words, json].concat()).await;
            canaries.look(command, Sink::Told, &said);
            if code != *expected || said.is_empty() {
                surprises.push(format!("{command} {json:?} ended with {code}: {said}"));
            }
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// Hears of all that happens, until the gateway ends.
async fn watch(gateway: &Program, token: &str) -> JoinHandle<String> {
    let request = Request::post("/admin/v1/events", "{}").token(token);
    let (head, mut events) = request
        .replace("accept", "text/event-stream")
        .open(gateway.port)
        .await;
    assert_eq!(head.status, 200);
    tokio::spawn(async move {
        let mut heard = String::new();
        while let Some(event) = events.event().await {
            heard.push_str(&event.data);
        }
        heard
    })
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
