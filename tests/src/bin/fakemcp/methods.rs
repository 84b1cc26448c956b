//! What each method does when the script says nothing about it.

use crate::fault::Fault;
use crate::interview::Outcome;
use crate::message::{LEGACY, MODERN, Params, Request, quoted, text_content};
use crate::server::{Context, Server};
use crate::spec::Raw;
use crate::tasks::Tasks;
use crate::tools::{BUILT_IN, finish_definition, touch_definition};

impl Server {
    /// The table of methods.
    pub(crate) async fn perform(
        &self,
        request: &Request,
        params: &Params,
        context: Context<'_>,
        stateless: bool,
    ) -> Result<String, Fault> {
        match self.interview(request, params, context, stateless).await {
            Outcome::Quiet => {}
            Outcome::Asks(result) => return Ok(result),
            Outcome::Said(text) => {
                self.report_progress(params, context.outlet, true).await;
                return Ok(self.repeated(request, &text, stateless));
            }
        }
        match (request.method.as_str(), stateless) {
            ("initialize", false) => Ok(self.introduction(params)),
            ("ping", false) => Ok("{}".to_owned()),
            ("server/discover", true) => Ok(self.discovery()),
            ("subscriptions/listen", true) => self.listen(request, params, context).await,
            ("tools/list" | "prompts/list" | "resources/list" | "resources/templates/list", _) => {
                self.list(&request.method, params, stateless)
            }
            ("tools/call", _) => self.call(request, params, context, stateless).await,
            ("prompts/get", _) => self.prompt(params, stateless),
            ("resources/read", _) => self.read(params, stateless),
            ("completion/complete", _) if self.offers_completion() => Ok(self.complete(params, stateless)),
            (method @ ("resources/subscribe" | "resources/unsubscribe"), false)
                if self.offers_resources() =>
            {
                let uri = params.uri.as_deref().unwrap_or_default();
                context.talk.subscribe(uri, method == "resources/subscribe");
                Ok("{}".to_owned())
            }
            ("tasks/get" | "tasks/update" | "tasks/cancel", true) if self.spec.tasks.is_some() => {
                self.task(&request.method, params)
            }
            (method @ ("tasks/get" | "tasks/result" | "tasks/cancel"), false) => {
                let unknown = || Fault::unknown_method(method, false);
                let tasks = self.spec.old_tasks.as_ref().ok_or_else(unknown)?;
                self.old_task(tasks, method, params, context).await
            }
            ("logging/setLevel", false) if self.capabilities().contains("logging") => Ok("{}".to_owned()),
            (method, _) => Err(Fault::unknown_method(method, stateless)),
        }
    }

    fn introduction(&self, params: &Params) -> String {
        let asked = params
            .protocol_version
            .as_deref()
            .filter(|version| LEGACY.contains(version));
        let version = self.spec.version.as_deref().or(asked).unwrap_or(LEGACY[0]);
        let (capabilities, info) = (self.capabilities(), self.info());
        format!(
            r#"{{"protocolVersion":{},"capabilities":{capabilities},"serverInfo":{info}{}}}"#,
            quoted(version),
            self.instructions()
        )
    }

    fn discovery(&self) -> String {
        let (capabilities, info) = (self.capabilities(), self.info());
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/serverInfo":{info}}}"#);
        let known = format!(r#""supportedVersions":["{MODERN}"],"capabilities":{capabilities}"#);
        self.cacheable(&format!("{known}{},{meta}", self.instructions()), true)
    }

    fn info(&self) -> String {
        let default = r#"{"name":"fakemcp","version":"1.0.0"}"#;
        self.spec
            .server_info
            .as_ref()
            .map_or(default, |raw| raw.get())
            .to_owned()
    }

    fn instructions(&self) -> String {
        let text = self.spec.instructions.as_ref();
        text.map_or_else(String::new, |text| format!(r#","instructions":{}"#, quoted(text)))
    }

    fn capabilities(&self) -> String {
        if let Some(raw) = &self.spec.capabilities {
            return raw.get().to_owned();
        }
        let all = [
            (self.offers_tools(), r#""tools":{"listChanged":true}"#),
            (!self.spec.prompts.is_empty(), r#""prompts":{"listChanged":true}"#),
            (
                self.offers_resources(),
                r#""resources":{"subscribe":true,"listChanged":true}"#,
            ),
            (self.offers_completion(), r#""completions":{}"#),
            (
                self.spec.tasks.is_some(),
                r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#,
            ),
            (
                self.spec.old_tasks.is_some(),
                r#""tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}"#,
            ),
        ];
        let offered: Vec<_> = all
            .iter()
            .filter(|(offered, _)| *offered)
            .map(|(_, text)| *text)
            .collect();
        format!("{{{}}}", offered.join(","))
    }

    fn offers_tools(&self) -> bool {
        self.spec.env_tool || self.spec.touch_tool || !self.spec.tools.is_empty()
    }

    fn offers_resources(&self) -> bool {
        !self.spec.resources.is_empty() || !self.spec.templates.is_empty()
    }

    fn offers_completion(&self) -> bool {
        !self.spec.prompts.is_empty() || !self.spec.templates.is_empty()
    }

    /// Stays open; what happens meanwhile comes from the notices.
    async fn listen(
        &self,
        request: &Request,
        params: &Params,
        context: Context<'_>,
    ) -> Result<String, Fault> {
        let filter = params.notifications.as_ref().map_or("{}", |raw| raw.get());
        let named: serde_json::Value = serde_json::from_str(filter).unwrap_or_default();
        let named = named["resourceSubscriptions"].as_array().map_or(0, Vec::len);
        if self.spec.most_heard.is_some_and(|most| named > most) {
            return Err(Fault::invalid_params(
                "too many subscriptions: one listen may have few",
            ));
        }
        self.notices
            .listen(&request.id, &self.accepted(filter), context.outlet);
        std::future::pending().await
    }

    /// What is accepted of a filter.
    fn accepted(&self, filter: &str) -> String {
        let mut filter: serde_json::Value = serde_json::from_str(filter).unwrap_or_default();
        if let Some(uris) = filter
            .get_mut("resourceSubscriptions")
            .and_then(|uris| uris.as_array_mut())
        {
            uris.retain(|uri| !self.spec.unheard.iter().any(|unheard| uri == unheard));
        }
        if let Some(ids) = filter.get_mut("taskIds").and_then(|ids| ids.as_array_mut()) {
            self.known_tasks(ids);
        }
        filter.to_string()
    }

    /// One page of a list. A list without entries that nothing else promises does not exist.
    fn list(&self, method: &str, params: &Params, stateless: bool) -> Result<String, Fault> {
        let entries = self.listed(method);
        let promised = self.promises(method);
        if entries.is_empty() && !promised {
            return Err(Fault::unknown_method(method, stateless));
        }
        let size = self.spec.page.unwrap_or(usize::MAX).max(1);
        let start = self.start_of(params)?;
        let page: Vec<_> = entries
            .iter()
            .skip(start)
            .take(size)
            .map(String::as_str)
            .collect();
        let member = if method == "resources/templates/list" {
            "resourceTemplates"
        } else {
            method_noun(method)
        };
        let cursor = self.next_cursor(start + page.len(), entries.len());
        Ok(self.cacheable(&format!(r#""{member}":[{}]{cursor}"#, page.join(",")), stateless))
    }

    fn listed(&self, method: &str) -> Vec<String> {
        let text = |raw: &Raw| raw.get().to_owned();
        let mut entries: Vec<_> = self.spec.entries(method).iter().map(text).collect();
        if method == "tools/list" {
            if !self.spec.old_tools.is_empty() && !self.was_called() {
                entries = self.spec.old_tools.iter().map(text).collect();
            }
            let finish = self.spec.tasks.as_ref().is_some_and(Tasks::are_held);
            entries.extend(finish.then(finish_definition));
            entries.extend(self.added.lock().iter().map(text));
            entries.extend(self.spec.touch_tool.then(touch_definition));
            entries.extend(
                BUILT_IN
                    .iter()
                    .filter(|_| self.spec.env_tool)
                    .map(|tool| tool.definition()),
            );
        }
        entries
    }

    fn promises(&self, method: &str) -> bool {
        method.starts_with("resources/") && self.offers_resources()
            || self
                .capabilities()
                .contains(&format!("\"{}\"", method_noun(method)))
    }

    fn start_of(&self, params: &Params) -> Result<usize, Fault> {
        match params.cursor.as_deref() {
            None | Some("again") => Ok(0),
            Some(cursor) => {
                let start = cursor.strip_prefix("from-").and_then(|start| start.parse().ok());
                start.ok_or_else(|| Fault::invalid_params(&format!("Invalid cursor: {cursor}")))
            }
        }
    }

    fn next_cursor(&self, next: usize, all: usize) -> String {
        match (self.spec.cursor_loop, next < all) {
            (true, _) => r#","nextCursor":"again""#.to_owned(),
            (false, true) => format!(r#","nextCursor":"from-{next}""#),
            (false, false) => String::new(),
        }
    }

    /// A prompt that repeats its name and arguments.
    fn prompt(&self, params: &Params, stateless: bool) -> Result<String, Fault> {
        let name = params.name.as_deref().unwrap_or_default();
        if !has(&self.spec.prompts, "name", name) {
            return Err(Fault::invalid_params(&format!("Unknown prompt: {name}")));
        }
        Ok(self.message(&format!("{name} {}", params.arguments_text()), stateless))
    }

    fn message(&self, text: &str, stateless: bool) -> String {
        let text = quoted(text);
        let message = format!(r#"{{"role":"user","content":{{"type":"text","text":{text}}}}}"#);
        self.result(&format!(r#""messages":[{message}]"#), stateless)
    }

    /// A result that holds one text, in the shape of the method.
    fn repeated(&self, request: &Request, text: &str, stateless: bool) -> String {
        match request.method.as_str() {
            "prompts/get" => self.message(text, stateless),
            "resources/read" => self.content(request.subject().unwrap_or_default(), text, stateless),
            _ => self.text_result(text, stateless),
        }
    }

    /// A resource whose text repeats the URI asked for; templates match every URI.
    fn read(&self, params: &Params, stateless: bool) -> Result<String, Fault> {
        let uri = params.uri.as_deref().unwrap_or_default();
        if self.spec.templates.is_empty() && !has(&self.spec.resources, "uri", uri) {
            let code = if stateless { -32602 } else { -32002 };
            let data = format!(r#"{{"uri":{}}}"#, quoted(uri));
            return Err(Fault::new(code, "Resource not found").with_data(&data));
        }
        Ok(self.content(uri, &format!("read {uri}"), stateless))
    }

    fn content(&self, uri: &str, text: &str, stateless: bool) -> String {
        let (uri, text) = (quoted(uri), quoted(text));
        let content = format!(r#"{{"uri":{uri},"mimeType":"text/plain","text":{text}}}"#);
        self.cacheable(&format!(r#""contents":[{content}]"#), stateless)
    }

    /// Two values that begin with what was typed.
    fn complete(&self, params: &Params, stateless: bool) -> String {
        let typed = params
            .argument
            .as_ref()
            .map_or("", |argument| argument.value.as_str());
        let values = ["one", "two"]
            .map(|end| quoted(&format!("{typed}{end}")))
            .join(",");
        self.result(
            &format!(r#""completion":{{"values":[{values}],"hasMore":false}}"#),
            stateless,
        )
    }

    /// A tool result that holds one text.
    pub(crate) fn text_result(&self, text: &str, stateless: bool) -> String {
        self.result(&text_content(text), stateless)
    }
}

/// Whether an entry has this value under `key`.
pub(crate) fn has(entries: &[Raw], key: &str, value: &str) -> bool {
    let is = |raw: &Raw| {
        serde_json::from_str::<serde_json::Value>(raw.get())
            .is_ok_and(|entry| entry[key].as_str() == Some(value))
    };
    entries.iter().any(is)
}

/// `tools` of `tools/list`.
fn method_noun(method: &str) -> &str {
    method.split('/').next().unwrap_or(method)
}
