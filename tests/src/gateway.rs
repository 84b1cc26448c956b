//! A gateway under test: in this process, reached over HTTP like any other.

mod running;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcpr_auth::TokenStore;
use mcpr_config::{Config, Process};
use mcpr_core::front::http::{Bound, Door, options, serve};
use mcpr_core::{Balance, Facts, Gateway as Core, Layer, Tool};
use mcpr_store::Store;
use mcpr_telemetry::{CallLog, Tracer};
use mcpr_upstream::Dial;
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use crate::hooked::{Hook, Hooked};
use crate::{Fake, free_port};

/// Its configuration file, in its home.
pub(crate) const FILE: &str = "mcpr.json";

/// Something that is set on a gateway before it starts.
type Setting = Box<dyn FnOnce(mcpr_core::Builder) -> mcpr_core::Builder + Send>;

/// A gateway in the making.
#[derive(Default)]
pub struct Builder {
    /// In the order of the file.
    servers: Vec<(String, Value)>,
    own: Value,
    home: Option<Arc<tempfile::TempDir>>,
    /// What a program that embeds it would set.
    settings: Vec<Setting>,
    /// Whether tokens are kept elsewhere than in its store.
    foreign_tokens: bool,
    keep_alive: Option<Duration>,
    port: u16,
    open: bool,
    hook: Option<Hook>,
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
    pub fn dial(self, dial: impl Dial) -> Self {
        self.set(|core| core.dial(Arc::new(dial)))
    }

    /// Has this code run before and after each request.
    pub fn layer(self, layer: impl Layer) -> Self {
        self.set(|core| core.layer(Arc::new(layer)))
    }

    /// Offers a tool of this program.
    pub fn tool(self, tool: Tool) -> Self {
        self.set(|core| core.tool(tool))
    }

    /// Records its requests here.
    pub fn calls(self, calls: CallLog) -> Self {
        self.set(|core| core.calls(calls))
    }

    /// Tells of spans here.
    pub fn tracer(self, tracer: Tracer) -> Self {
        self.set(|core| core.tracer(tracer))
    }

    /// Chooses among the backends of a server by this rule.
    pub fn balance(self, rule: impl Balance + 'static) -> Self {
        self.set(|core| core.balance(Arc::new(rule)))
    }

    /// Lets in whom this says.
    pub fn tokens(mut self, tokens: impl TokenStore + 'static) -> Self {
        self.foreign_tokens = true;
        self.set(|core| core.tokens(Arc::new(tokens)))
    }

    fn set(
        mut self,
        setting: impl FnOnce(mcpr_core::Builder) -> mcpr_core::Builder + Send + 'static,
    ) -> Self {
        self.settings.push(Box::new(setting));
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
        let config =
            Config::from_files(std::slice::from_ref(&file), &Process).expect("the configuration is valid");
        let mut options = options(&config.gateway);
        options.limits.keep_alive = self.keep_alive.unwrap_or(options.limits.keep_alive);
        let bound = Bound::tcp(SocketAddr::from(([127, 0, 0, 1], self.port))).expect("a free port");
        let port = bound.local_addr().expect("a port").port();
        let door = if self.open { Door::Open } else { Door::Tokens };
        let foreign_tokens = self.foreign_tokens;
        let core = self.core(config, file, port).await;
        let serving = serve(core.clone(), bound, door, options);
        let serving = tokio::spawn(async move { serving.await.expect("the socket can be watched") });
        let mut gateway = Gateway {
            core,
            port,
            token: String::new(),
            home,
            _serving: AbortOnDropHandle::new(serving),
        };
        if !foreign_tokens {
            gateway.token = gateway.new_token(json!({ "name": "test" })).await;
        }
        gateway
    }

    /// Starts the gateway itself, which is to be reached at this port.
    async fn core(mut self, config: Config, file: PathBuf, port: u16) -> Arc<Core> {
        let facts = Facts {
            listen: vec![format!("http://127.0.0.1:{port}/mcp")],
            ..Facts::default()
        };
        let settings = std::mem::take(&mut self.settings);
        let core = Core::builder(config)
            .store(self.opened().await)
            .reload(move || Config::from_files(std::slice::from_ref(&file), &Process))
            .facts(facts);
        let core = settings.into_iter().fold(core, |core, set| set(core));
        core.start().await.expect("the gateway starts")
    }

    /// Opens its store.
    async fn opened(mut self) -> Arc<dyn Store> {
        let file = self.home().path().join("mcpr.db");
        let store = match self.store {
            Some(store) => store,
            None => mcpr_store::open(file).await.expect("the database opens"),
        };
        match self.hook {
            Some(hook) => Arc::new(Hooked::new(store, hook)),
            None => store,
        }
    }

    /// Writes its configuration file; gives its home, and the port it is to listen on.
    pub(crate) fn laid_out(mut self) -> (Arc<tempfile::TempDir>, u16) {
        let home = self.home();
        self.write();
        let port = if self.port == 0 { free_port() } else { self.port };
        (home, port)
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

/// A configuration file; the servers stay in their order.
pub(crate) fn configuration(servers: &[(String, Value)], own: &Value) -> String {
    let servers: Vec<String> = servers
        .iter()
        .map(|(name, entry)| format!("{}:{entry}", json!(name)))
        .collect();
    format!(r#"{{"mcpServers":{{{}}},"mcpr":{own}}}"#, servers.join(","))
}
