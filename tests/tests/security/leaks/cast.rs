//! Servers that are told something in confidence, and that work, fail or talk in every way.

use mcpr_tests::Fake;
use serde_json::{Value, json};

use crate::canaries::Canaries;

/// The servers of the story, each with what it was told in confidence.
pub(super) struct Cast {
    pub(super) fakes: Vec<(&'static str, Fake)>,
    /// The entries of all of them.
    pub(super) entries: Vec<(&'static str, Value)>,
}

impl Cast {
    /// All of them; `plain_port` is one at which nobody speaks TLS.
    pub(super) fn new(canaries: &mut Canaries, argument: &str, plain_port: u16) -> Self {
        let mut cast = Self {
            fakes: Vec::new(),
            entries: Vec::new(),
        };
        cast.programs(canaries, argument);
        cast.web(canaries);
        cast.unreachable(canaries, plain_port);
        cast
    }

    /// Programs: one that works and talks too much, one that dies, one that cannot be started.
    fn programs(&mut self, canaries: &mut Canaries, argument: &str) {
        let secret = canaries.secret("env", Some("shell"));
        let said = json!({ "code": -32000, "message": format!("no rights for {secret}") });
        let shell = Fake::script()
            .tool("t")
            .tool("denied")
            .error("tools/call:denied", said)
            .set("env_tool", json!(true))
            .set(
                "stderr_text",
                json!(format!("starting with {secret} and {argument}\n")),
            )
            .set("noise", json!([format!("banner {secret}")]))
            .stdio();
        let [program, spec] = shell.command();
        // What stands behind the spec is a word of the command line that nobody reads.
        let started = json!([
            "-c",
            "exec \"$0\" \"$1\"",
            program,
            spec,
            "--key=${ARGUMENT_SECRET}"
        ]);
        let mut entry = json!({ "command": "sh", "args": started });
        entry["env"] = json!({ "SHELL_KEY": secret, "TAKEN": "${GATEWAY_SECRET}" });
        self.fakes.push(("shell", shell));
        self.entries.push(("shell", entry));

        let last_words = canaries.secret("lastwords", Some("crash"));
        let crash = Fake::script()
            .tool("t")
            .with(r#"{"exit_on": "tools/call"}"#)
            .set(
                "stderr_text",
                json!(format!("fatal: {last_words} is not valid\n")),
            )
            .stdio();
        let mut entry = crash.entry();
        entry["env"] = json!({ "CRASH_KEY": last_words });
        self.fakes.push(("crash", crash));
        self.entries.push(("crash", entry));

        let (env, path) = (canaries.secret("deadenv", None), "/no/such/${GATEWAY_SECRET}");
        let dead = json!({ "command": path, "args": ["${GATEWAY_SECRET}"], "env": { "K": env } });
        self.entries.push(("dead", dead));
        let shouting = json!({ "command": "sh", "args": ["-c", "echo \"key $K\" >&2; exit 3"], "env": { "K": "${GATEWAY_SECRET}" } });
        self.entries.push(("exits", shouting));
        let unset =
            json!({ "command": "x", "args": ["${GATEWAY_SECRET}"], "env": { "A": "${NOT_SET_AT_ALL}" } });
        self.entries.push(("unset", unset));
    }

    /// Servers behind URLs that repeat what they were sent, in all kinds of answers.
    fn web(&mut self, canaries: &mut Canaries) {
        let repeats = |headers: &str, status: u16, ctype: &str| json!({ "on": "tools/call", "status": status, "ctype": ctype, "body": format!("you sent {headers}") });
        let kinds = [
            ("web", 200, "text/html", None),
            ("refuses", 401, "application/json", None),
            ("moves", 307, "text/plain", Some("http://127.0.0.1:9/")),
        ];
        for (name, status, ctype, location) in kinds {
            let header = canaries.secret(&format!("{name}header"), Some(name));
            let query = canaries.secret(&format!("{name}query"), Some(name));
            let key = canaries.secret(&format!("{name}key"), Some(name));
            let mut mask = repeats(&format!("Bearer {header}, {query}, {key}"), status, ctype);
            if let Some(location) = location {
                mask["headers"] = json!({ "Location": format!("{location}{header}?key={query}") });
            }
            let fake = Fake::script().tool("t").set("mask", mask).http();
            let entry = json!({
                "type": "http", "url": format!("{}?key={query}", fake.url()),
                "headers": { "Authorization": format!("Bearer {header}"), "X-Api-Key": key },
            });
            self.fakes.push((name, fake));
            self.entries.push((name, entry));
        }
        let lies = canaries.secret("always401", Some("locked"));
        let body = format!(r#"{{"error":"invalid_token","token":"{lies}"}}"#);
        let locked = Fake::script()
            .set(
                "mask",
                json!({ "status": 401, "ctype": "application/json", "body": body }),
            )
            .http();
        let headers = json!({ "Authorization": format!("Bearer {lies}") });
        self.entries.push((
            "locked",
            json!({ "type": "http", "url": locked.url(), "headers": headers }),
        ));
        self.fakes.push(("locked", locked));
        let slow = canaries.secret("slow", Some("slow"));
        let silent = Fake::script()
            .tool("t")
            .with(r#"{"silent": ["tools/call"]}"#)
            .http();
        let entry = json!({
            "type": "http", "url": silent.url(), "headers": { "X-Key": slow },
            "mcpr": { "timeouts": { "call": "300ms" } },
        });
        self.fakes.push(("slow", silent));
        self.entries.push(("slow", entry));
    }

    /// Servers that are never reached.
    fn unreachable(&mut self, canaries: &mut Canaries, port: u16) {
        let (user, query) = (
            canaries.secret("userinfo", None),
            canaries.secret("tlsquery", None),
        );
        let header = canaries.secret("tlsheader", None);
        let headers = json!({ "Authorization": format!("Bearer {header}") });
        let entries = [
            (
                "userinfo",
                json!({ "type": "http", "url": format!("http://robot:{user}@127.0.0.1:9/mcp") }),
            ),
            (
                "tls",
                json!({ "type": "http", "url": format!("https://localhost:{port}/mcp?key={query}"), "headers": headers }),
            ),
            (
                "proxied",
                json!({ "type": "http", "url": "http://mcp.invalid/mcp", "headers": headers }),
            ),
            (
                "file",
                json!({ "type": "http", "url": "http://127.0.0.1:9/mcp", "headers": { "X-File": "${file:key.txt}" } }),
            ),
            (
                "sealed",
                json!({ "type": "http", "url": "http://127.0.0.1:9/mcp", "headers": { "X-Sealed": "${secret:sealed}" } }),
            ),
            (
                "kept",
                json!({ "type": "http", "url": "http://127.0.0.1:9/mcp", "headers": { "X-Kept": "${secret:key}" } }),
            ),
        ];
        self.entries.extend(entries);
    }
}
