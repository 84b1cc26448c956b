//! One entry of a client as an entry of mcpr.

use std::path::Path;

use super::Server;
use super::text::Texts;
use crate::clients::table::Unit;
use crate::clients::{ClientApp, Value};

/// An entry as a client's file has it.
pub(super) struct Entry<'e> {
    pub(super) app: Option<ClientApp>,
    /// The folder of the project that it belongs to.
    pub(super) folder: Option<&'e Path>,
    /// What VS Code asks for.
    pub(super) inputs: &'e [Value],
    pub(super) name: &'e str,
    pub(super) value: &'e Value,
    /// Whether something outside of the entry switches it off.
    pub(super) switched_off: bool,
}

/// Members that would change how a server is reached, and that mcpr cannot follow.
const MISSED: [&str; 8] = [
    "auth",
    "headersHelper",
    "http_headers_helper",
    "oauth",
    "oauth_resource",
    "scopes",
    "sandbox",
    "authProviderType",
];

/// The entry in mcpr's words.
///
/// # Errors
///
/// When mcpr has no words for it; the text says why.
pub(super) fn convert(entry: &Entry<'_>) -> Result<Server, String> {
    if !entry.value.is_object() {
        return Err("its entry is not an object".to_owned());
    }
    let mut texts = Texts::of(entry);
    let written = entry.reach(&mut texts)?;
    let written = entry.treatment(written);
    entry.missed(&mut texts);
    Ok(Server {
        entry: written,
        notes: texts.notes,
    })
}

impl Entry<'_> {
    /// The client for people.
    pub(super) fn client(&self) -> &'static str {
        self.app.map_or("the client", ClientApp::title)
    }

    fn reach(&self, texts: &mut Texts<'_>) -> Result<Value, String> {
        match (self.command(), self.url()) {
            (Some(_), Some(_)) => Err("it has both a command and a URL".to_owned()),
            (Some(command), None) => self.program(command, texts),
            (None, Some(url)) => self.address(url, texts),
            (None, None) => Err(self.unreachable()),
        }
    }

    /// A member of the entry, or of the object in it that some clients nest things in.
    fn get(&self, key: &str) -> Option<&Value> {
        let nested = || self.value.get("transport")?.get(key);
        self.value.get(key).or_else(nested)
    }

    fn any(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// The program. Zed once had an object there.
    fn command(&self) -> Option<&str> {
        let command = self.any(&["command", "cmd"])?;
        command.text().or_else(|| command.get("path")?.text())
    }

    /// What belongs to the program, wherever it stands.
    fn of_command(&self, keys: &[&str]) -> Option<&Value> {
        let inside = || keys.iter().find_map(|key| self.value.get("command")?.get(key));
        self.any(keys).or_else(inside)
    }

    fn url(&self) -> Option<&str> {
        self.any(&["url", "serverUrl", "httpUrl", "uri"])?.text()
    }

    fn kind(&self) -> Option<&str> {
        let stated = self.any(&["type", "transportType"]).and_then(Value::text);
        stated.or_else(|| self.value.get("transport")?.text())
    }

    fn unreachable(&self) -> String {
        match (self.app, self.kind()) {
            (
                Some(ClientApp::Goose),
                Some(kind @ ("builtin" | "platform" | "frontend" | "inline_python")),
            ) => {
                format!("it is a part of Goose (`{kind}`)")
            }
            (Some(ClientApp::Zed), _) => {
                "it is an extension of Zed, whose command is not in the file".to_owned()
            }
            _ => "it has neither a command nor a URL".to_owned(),
        }
    }

    fn program(&self, command: &str, texts: &mut Texts<'_>) -> Result<Value, String> {
        let args = self.args(texts)?;
        let cwd = self.get("cwd").and_then(Value::text).map(|cwd| texts.path(cwd));
        // Clients start the servers of a project in its folder.
        let cwd = cwd.or_else(|| self.folder.map(|folder| folder.display().to_string()));
        let env_file = self.get("envFile").and_then(Value::text);
        Ok(Value::object()
            .with("command", texts.program(command))
            .with_some("args", (!args.is_empty()).then_some(args))
            .with_some("env", self.variables(texts))
            .with_some("envFile", env_file.map(|file| texts.path(file)))
            .with_some("cwd", cwd))
    }

    fn args(&self, texts: &mut Texts<'_>) -> Result<Vec<String>, String> {
        let args = match self.of_command(&["args"]) {
            None => &[],
            Some(Value::List(args)) => &args[..],
            Some(_) => return Err("its `args` is not a list".to_owned()),
        };
        let args = args.iter().filter_map(Value::scalar);
        Ok(args.map(|arg| texts.text(arg)).collect())
    }

    fn variables(&self, texts: &mut Texts<'_>) -> Option<Value> {
        let set = self
            .of_command(&["env", "envs"])
            .map(Value::members)
            .unwrap_or_default();
        let mut env = Value::object();
        for (name, value) in set {
            if let Some(value) = value.scalar() {
                env.put(name, texts.text(value));
            }
        }
        for name in self.named_variables() {
            env.put(name, format!("${{{name}}}"));
            texts.note(self.where_variable_goes(name));
        }
        (!env.members().is_empty()).then_some(env)
    }

    /// Variables whose values are elsewhere: in the client's environment or its keyring.
    fn named_variables(&self) -> impl Iterator<Item = &str> {
        let names = self.any(&["env_vars", "env_keys"]).map(Value::items);
        names
            .unwrap_or_default()
            .iter()
            .filter_map(|item| item.text().or_else(|| item.get("name")?.text()))
    }

    fn where_variable_goes(&self, name: &str) -> String {
        let from = match self.app {
            Some(ClientApp::Goose) => "Goose may have its value in the keyring",
            _ => "its value is in the client's environment",
        };
        format!("set {name} where the gateway starts: {from}")
    }

    fn address(&self, url: &str, texts: &mut Texts<'_>) -> Result<Value, String> {
        let kind = self.transport()?;
        Ok(Value::object()
            .with_some("type", kind)
            .with("url", texts.text(url))
            .with_some("headers", self.headers(texts)))
    }

    /// The type that mcpr gives to a URL; without one it finds out.
    fn transport(&self) -> Result<Option<&'static str>, String> {
        let simple = self
            .kind()
            .map(|kind| kind.to_ascii_lowercase().replace(['-', '_'], ""));
        match simple.as_deref() {
            Some("http" | "streamablehttp" | "remote") => Ok(Some("http")),
            Some("sse") => Ok(Some("sse")),
            Some("ws" | "websocket") => {
                Err("it is reached by WebSocket, which mcpr does not speak".to_owned())
            }
            Some(_) => Err(format!(
                "mcpr does not know its type `{}`",
                self.kind().unwrap_or_default()
            )),
            None if self.value.get("httpUrl").is_some() => Ok(Some("http")),
            None => Ok(self.silent_transport()),
        }
    }

    /// What a client means by a URL without a type.
    fn silent_transport(&self) -> Option<&'static str> {
        match self.app {
            Some(ClientApp::Cline) => Some("sse"),
            Some(ClientApp::Codex | ClientApp::Zed) => Some("http"),
            _ => None,
        }
    }

    fn headers(&self, texts: &mut Texts<'_>) -> Option<Value> {
        let mut headers = Value::object();
        for (name, value) in self.members_of("headers").chain(self.members_of("http_headers")) {
            if let Some(value) = value.scalar() {
                headers.put(name, texts.header(value));
            }
        }
        for (name, variable) in self.members_of("env_http_headers") {
            if let Some(variable) = variable.text() {
                headers.put(name, format!("${{{variable}}}"));
            }
        }
        if let Some(variable) = self.get("bearer_token_env_var").and_then(Value::text) {
            headers.put("Authorization", format!("Bearer ${{{variable}}}"));
        }
        (!headers.members().is_empty()).then_some(headers)
    }

    fn members_of(&self, key: &str) -> impl Iterator<Item = &(String, Value)> {
        self.get(key).map(Value::members).unwrap_or_default().iter()
    }

    /// Adds how the server is treated: how long calls take, which tools it offers, whether it is on.
    fn treatment(&self, written: Value) -> Value {
        written
            .with_some("timeout", self.timeout())
            .with_some("disabled", self.is_disabled().then_some(true))
            .with_some("mcpr", self.own())
    }

    fn is_disabled(&self) -> bool {
        let off = self.get("disabled").and_then(Value::boolean) == Some(true);
        off || self.get("enabled").and_then(Value::boolean) == Some(false) || self.switched_off
    }

    /// The limit of a call, as mcpr writes it: a number is milliseconds.
    fn timeout(&self) -> Option<Value> {
        let known = self.app.and_then(|app| app.profile().timeout.as_ref());
        let value = self.get(known.map_or("timeout", |timeout| timeout.key))?;
        match known.map(|timeout| timeout.unit) {
            Some(Unit::Seconds) => Some(milliseconds(value.scalar()?)?.into()),
            _ => Some(value.clone()).filter(|value| value.scalar().is_some()),
        }
    }

    /// What only mcpr has words for. A file of its own may have them already.
    fn own(&self) -> Option<Value> {
        let mut own = self
            .value
            .get("mcpr")
            .cloned()
            .filter(Value::is_object)
            .unwrap_or_else(Value::object);
        if let Some(tools) = self.tools() {
            own.put("tools", tools);
        }
        if let Some(start) = self.start() {
            own.put("timeouts", Value::object().with("start", start));
        }
        (!own.members().is_empty()).then_some(own)
    }

    fn tools(&self) -> Option<Value> {
        let list = |keys: &[&str]| {
            let names = self.any(keys)?.items().iter();
            let names: Vec<_> = names.filter_map(Value::text).collect();
            (!names.is_empty()).then_some(names)
        };
        let allow = list(&["includeTools", "enabled_tools", "available_tools"]);
        let deny = list(&["excludeTools", "disabled_tools", "disabledTools"]);
        let tools = Value::object().with_some("allow", allow).with_some("deny", deny);
        (!tools.members().is_empty()).then_some(tools)
    }

    /// Codex says how long a start may take.
    fn start(&self) -> Option<u64> {
        milliseconds(self.get("startup_timeout_sec")?.scalar()?)
    }

    fn missed(&self, texts: &mut Texts<'_>) {
        for key in MISSED.into_iter().filter(|key| self.get(key).is_some()) {
            texts.note(format!("`{key}` has no counterpart in mcpr and is left out"));
        }
    }
}

/// Seconds, which may have a fraction, in milliseconds.
fn milliseconds(seconds: &str) -> Option<u64> {
    let seconds = std::time::Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
    u64::try_from(seconds.as_millis()).ok().filter(|ms| *ms > 0)
}
