//! A gateway under test: in this process, reached over HTTP like any other.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcpr_auth::{Principal, TokenStore};
use mcpr_config::{Config, Process};
use mcpr_core::front::http::{Bound, Door, options, serve};
use mcpr_core::{Balance, Facts, Gateway as Core, Layer, Operator, Tool};
use mcpr_store::Store;
use mcpr_telemetry::{CallLog, Tracer};
use mcpr_upstream::Dial;
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use crate::client::{Session, Stateless};
use crate::hooked::{Hook, Hooked};
use crate::{Fake, wait_until};

/// How long a server may take to become ready in a test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Its configuration file, in its home.
pub(crate) const FILE: &str = "mcpr.json";

/// A gateway in the making.
#[derive(Default)]
pub struct Builder {
    /// In the order of the file.
    servers: Vec<(String, Value)>,
    own: Value,
    home: Option<Arc<tempfile::TempDir>>,
    dial: Option<Arc<dyn Dial>>,
    layers: Vec<Arc<dyn Layer>>,
    tools: Vec<Tool>,
    balance: Option<Arc<dyn Balance>>,
    tokens: Option<Arc<dyn TokenStore>>,
    keep_alive: Option<Duration>,
    port: u16,
    open: bool,
    hook: Option<Hook>,
    calls: CallLog,
    tracer: Tracer,
    store: Option<Arc<dyn Store>>,
}

/// A running gateway with one token. It ends, with all its servers, when dropped.
pub struct Gateway {
    /// The gateway itself, for those who look inside.
    pub core: Arc<Core>,
    /// Where it listens, on loopback.
    pub port: u16,
    /// The token of the tests.
    pub token: String,
    home: Arc<tempfile::TempDir>,
    _serving: AbortOnDropHandle<()>,
}

/// Begins a gateway without servers.
pub fn gateway() -> Builder {
    Builder {
        // The built-in tools have tests of their own; here they would stand in every list.
        own: json!({ "builtins": false }),
        ..Builder::default()
    }
}

impl Builder {
    /// Has the built-in tools, as a gateway does by default.
    pub fn with_builtins(self) -> Self {
        self.own("builtins", json!(true))
    }

    /// Adds a fake server.
    pub fn fake(self, name: &str, fake: &Fake) -> Self {
        self.server(name, fake.entry())
    }

    /// Adds a fake server with keys of mcpr's own in its entry.
    pub fn fake_with(self, name: &str, fake: &Fake, own: Value) -> Self {
        let mut entry = fake.entry();
        entry["mcpr"] = own;
        self.server(name, entry)
    }

    /// Adds a server by its entry in the file.
    pub fn server(mut self, name: &str, entry: Value) -> Self {
        self.servers.push((name.to_owned(), entry));
        self
    }

    /// Adds a server by its command, given as its words.
    pub fn command<S: AsRef<str>>(self, name: &str, words: &[S]) -> Self {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        self.server(name, json!({ "command": words[0], "args": words[1..] }))
    }

    /// Sets a key of the object `mcpr` at the top of the file.
    pub fn own(mut self, key: &str, value: Value) -> Self {
        self.own[key] = value;
        self
    }

    /// Keeps its state where another gateway of the test had it.
    pub fn at_home_of(mut self, other: &Gateway) -> Self {
        self.home = Some(other.home.clone());
        self
    }

    /// Reaches its servers in another way.
    pub fn dial(mut self, dial: impl Dial) -> Self {
        self.dial = Some(Arc::new(dial));
        self
    }

    /// Has this code run before and after each request.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// Offers a tool of this program.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Records its requests here.
    pub fn calls(mut self, calls: CallLog) -> Self {
        self.calls = calls;
        self
    }

    /// Tells of spans here.
    pub fn tracer(mut self, tracer: Tracer) -> Self {
        self.tracer = tracer;
        self
    }

    /// Chooses among the backends of a server by this rule.
    pub fn balance(mut self, rule: impl Balance + 'static) -> Self {
        self.balance = Some(Arc::new(rule));
        self
    }

    /// Lets in whom this says.
    pub fn tokens(mut self, tokens: impl TokenStore + 'static) -> Self {
        self.tokens = Some(Arc::new(tokens));
        self
    }

    /// Has this happen before each operation of its store.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Keeps its state here instead of in a database.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Says something on silent streams this often.
    pub fn keep_alive(mut self, every: Duration) -> Self {
        self.keep_alive = Some(every);
        self
    }

    /// Listens on this port instead of a free one.
    pub fn on_port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Lets in whoever comes, with or without a token.
    pub fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// Makes a folder beside its configuration file.
    pub fn folder(mut self, name: &str) -> Self {
        std::fs::create_dir(self.home().path().join(name)).expect("a folder can be made");
        self
    }

    /// Starts it and gives it a token.
    pub async fn start(mut self) -> Gateway {
        let (home, file) = (self.home(), self.write());
        Gateway::start(home, &file, self).await
    }

    /// Writes its configuration file; gives its home, and the port it is to listen on.
    pub(crate) fn laid_out(mut self) -> (Arc<tempfile::TempDir>, u16) {
        let home = self.home();
        self.write();
        let free = || {
            let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
            free.local_addr().expect("a port").port()
        };
        (home, if self.port == 0 { free() } else { self.port })
    }

    /// Starts it, which must fail, and gives the reason.
    pub async fn refused(mut self) -> mcpr_core::StartError {
        let config = Config::from_files(&[self.write()], &Process).expect("the configuration is valid");
        Core::builder(config)
            .start()
            .await
            .err()
            .expect("the start fails")
    }

    fn home(&mut self) -> Arc<tempfile::TempDir> {
        let temporary = || Arc::new(tempfile::tempdir().expect("a temporary folder"));
        self.home.get_or_insert_with(temporary).clone()
    }

    /// Writes its configuration file.
    fn write(&mut self) -> PathBuf {
        let file = self.home().path().join(FILE);
        let text = configuration(&self.servers, &self.own);
        std::fs::write(&file, text).expect("the configuration can be written");
        file
    }

    /// Starts it and waits until no server is starting any more.
    pub async fn ready(self) -> Gateway {
        let gateway = self.start().await;
        gateway.settled().await;
        gateway
    }
}

impl Gateway {
    async fn start(home: Arc<tempfile::TempDir>, file: &Path, builder: Builder) -> Self {
        let config = Config::from_files(&[file.to_owned()], &Process).expect("the configuration is valid");
        let mut options = options(&config.gateway);
        if let Some(every) = builder.keep_alive {
            options.limits.keep_alive = every;
        }
        let store = match builder.store.clone() {
            Some(store) => store,
            None => mcpr_store::open(home.path().join("mcpr.db"))
                .await
                .expect("the database opens"),
        };
        let store = match builder.hook.clone() {
            Some(hook) => Arc::new(Hooked::new(store, hook)) as Arc<dyn Store>,
            None => store,
        };
        let file = file.to_owned();
        let read_again = move || Config::from_files(std::slice::from_ref(&file), &Process);
        let core = Core::builder(config)
            .store(store)
            .reload(read_again)
            .calls(builder.calls.clone())
            .tracer(builder.tracer.clone());
        let core = match builder.dial.clone() {
            Some(dial) => core.dial(dial),
            None => core,
        };
        let core = builder
            .layers
            .iter()
            .cloned()
            .fold(core, mcpr_core::Builder::layer);
        let core = builder.tools.iter().cloned().fold(core, mcpr_core::Builder::tool);
        let core = builder
            .balance
            .iter()
            .cloned()
            .fold(core, mcpr_core::Builder::balance);
        let core = builder
            .tokens
            .iter()
            .cloned()
            .fold(core, mcpr_core::Builder::tokens);
        let bound = Bound::tcp(SocketAddr::from(([127, 0, 0, 1], builder.port))).expect("a free port");
        let port = bound.local_addr().expect("a port").port();
        let listen = vec![format!("http://127.0.0.1:{port}/mcp")];
        let core = core.facts(Facts {
            listen,
            ..Facts::default()
        });
        let core = core.start().await.expect("the gateway starts");
        let door = if builder.open { Door::Open } else { Door::Tokens };
        let serving = serve(core.clone(), bound, door, options);
        let serving = tokio::spawn(async move { serving.await.expect("the socket can be watched") });
        let mut gateway = Self {
            core,
            port,
            token: String::new(),
            home,
            _serving: AbortOnDropHandle::new(serving),
        };
        if builder.tokens.is_none() {
            let made = gateway.operate("tokens/create", json!({ "name": "test" })).await;
            gateway.token = made["secret"].as_str().expect("a secret").to_owned();
        }
        gateway
    }

    /// The folder with its state.
    pub fn home(&self) -> PathBuf {
        self.home.path().to_owned()
    }

    /// Writes its configuration file anew; it counts after a reload.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    pub fn configure(&self, servers: &[(&str, Value)], own: &Value) {
        let servers: Vec<_> = servers
            .iter()
            .map(|(name, entry)| ((*name).to_owned(), entry.clone()))
            .collect();
        self.rewrite(&configuration(&servers, own));
    }

    /// Writes this text into its configuration file.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    pub fn rewrite(&self, text: &str) {
        std::fs::write(self.home.path().join(FILE), text).expect("the configuration can be written");
    }

    /// The URL of its endpoint.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Carries out an operation of the admin API.
    pub async fn operate(&self, path: &str, body: Value) -> Value {
        let operator = Operator::new(self.core.clone());
        let answer = operator
            .perform(&Principal::local(), path, body.to_string().as_bytes())
            .await;
        serde_json::from_slice(answer.body()).expect("operations answer in JSON")
    }

    /// What the gateway says of one of its servers.
    pub async fn server(&self, name: &str) -> Value {
        let listed = self.operate("servers/list", json!({})).await;
        let servers = listed["servers"].as_array().expect("a list of servers");
        servers
            .iter()
            .find(|server| server["name"] == name)
            .expect("the server is configured")
            .clone()
    }

    /// Waits until a server is in this state.
    pub async fn await_state(&self, name: &str, state: &str) -> Value {
        self.await_server(name, |server| server["state"] == state).await
    }

    /// Waits until a server fits.
    pub async fn await_server(&self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            let server = self.server(name).await;
            if fits(&server) {
                return server;
            }
            assert!(
                tokio::time::Instant::now() < end,
                "server `{name}` stays so: {server}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the gateway's status fits.
    pub async fn await_status(&self, fits: impl Fn(&Value) -> bool) -> Value {
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            let status = self.operate("status", json!({})).await;
            if fits(&status) {
                return status;
            }
            assert!(tokio::time::Instant::now() < end, "the status stays so: {status}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until every server is ready or known not to be, and the lists say so.
    pub async fn settled(&self) {
        let moving = |state: &Value| matches!(state["state"].as_str(), Some("starting" | "stale"));
        let still = |states: &Value| {
            !states
                .as_object()
                .expect("states of servers")
                .values()
                .any(moving)
        };
        self.await_lists(still).await;
    }

    /// Waits until the lists say that a server is in this state, and gives what they say of it.
    pub async fn listed_as(&self, name: &str, state: &str) -> Value {
        self.await_lists(|states| states[name]["state"] == state).await[name].clone()
    }

    /// Waits until what the lists say of all servers fits, and gives that.
    async fn await_lists(&self, fits: impl Fn(&Value) -> bool) -> Value {
        let client = self.client().await;
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            // Items may hold numbers that no value can.
            let answer = client.request("tools/list", "{}").await;
            let states = answer.raw(&["result", "_meta", "dev.mcpr/servers"]);
            let states = serde_json::from_str(&states).expect("states of servers");
            if fits(&states) {
                return states;
            }
            assert!(tokio::time::Instant::now() < end, "the lists stay so: {states}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A client of the newest revision with a session.
    pub async fn client(&self) -> Session {
        self.client_of("2025-11-25").await
    }

    /// A client of that revision with a session.
    pub async fn client_of(&self, version: &str) -> Session {
        Session::open(self.port, &self.token, version).await
    }

    /// A client of that revision with a session, with these capabilities.
    pub async fn client_with(&self, version: &str, capabilities: &Value) -> Session {
        Session::open_with(self.port, &self.token, version, capabilities).await
    }

    /// A stateless client.
    pub fn stateless(&self) -> Stateless {
        Stateless {
            port: self.port,
            token: self.token.clone(),
        }
    }

    /// Another token.
    pub async fn another_token(&self, scopes: &[&str]) -> String {
        let made = self
            .operate("tokens/create", json!({ "name": "another", "scopes": scopes }))
            .await;
        made["secret"].as_str().expect("a secret").to_owned()
    }

    /// Stops it and waits until nothing of it is left.
    pub async fn stop(self) -> Arc<tempfile::TempDir> {
        self.core.shutdown().await;
        self.home.clone()
    }
}

/// A configuration file; the servers stay in their order.
pub(crate) fn configuration(servers: &[(String, Value)], own: &Value) -> String {
    let servers: Vec<String> = servers
        .iter()
        .map(|(name, entry)| format!("{}:{entry}", json!(name)))
        .collect();
    format!(r#"{{"mcpServers":{{{}}},"mcpr":{own}}}"#, servers.join(","))
}

/// Waits until no process has `mark` in its command line.
pub async fn await_no_process(mark: &str) {
    wait_until(
        Duration::from_secs(10),
        &format!("no process with `{mark}`"),
        || processes(mark).is_empty().then_some(()),
    )
    .await;
}

/// The processes that have `mark` in their command line, this one aside.
pub fn processes(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_mark = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    pids.filter(|pid| *pid != own).filter(has_mark).collect()
}
