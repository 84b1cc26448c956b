//! Calls: what happens during one, and the tools that every fake server can have.

use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::sleep;

use crate::fault::Fault;
use crate::message::{self, Params, Request, quoted};
use crate::methods::has;
use crate::notices::{UPDATED, is_news};
use crate::outlet::Outlet;
use crate::server::{Context, Server};
use crate::spec::Notice;
use crate::tasks::Tasks;

/// The tool that `touch_tool` adds.
const TOUCH: &str = "touch";

/// The tool that ends tasks.
const FINISH: &str = "finish";

/// A tool that `env_tool` adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    /// Gives the environment as a JSON object.
    Env,
    /// Gives the working directory.
    Cwd,
    /// Gives its arguments as they came.
    Echo,
    /// Adds a tool, and says that the list has changed.
    Add,
    /// Gives the process id.
    Pid,
}

/// All of them, in the order of the list.
pub(crate) const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn::Env,
    BuiltIn::Cwd,
    BuiltIn::Echo,
    BuiltIn::Add,
    BuiltIn::Pid,
];

impl BuiltIn {
    fn name(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Cwd => "cwd",
            Self::Echo => "echo",
            Self::Add => "add",
            Self::Pid => "pid",
        }
    }

    /// Its entry in `tools/list`.
    pub(crate) fn definition(self) -> String {
        definition(self.name())
    }
}

impl Server {
    /// Runs a tool; a tool without a behaviour of its own repeats its arguments.
    pub(crate) async fn call(
        &self,
        request: &Request,
        params: &Params,
        context: Context<'_>,
        stateless: bool,
    ) -> Result<String, Fault> {
        let name = params.name.as_deref().unwrap_or_default();
        if self.spec.touch_tool && name == TOUCH {
            return Ok(self.touch(params, context.outlet, stateless));
        }
        let tasks = self.spec.tasks.as_ref();
        if name == FINISH && tasks.is_some_and(Tasks::are_held) {
            let found = self.finish_task(params);
            found.ok_or_else(|| Fault::invalid_params("no such task"))?;
            return Ok(self.text_result("finished", stateless));
        }
        let built_in = BUILT_IN
            .into_iter()
            .find(|tool| self.spec.env_tool && tool.name() == name);
        if built_in.is_none()
            && !has(&self.spec.tools, "name", name)
            && !has(&self.added.lock(), "name", name)
        {
            return Err(Fault::invalid_params(&format!("Unknown tool: {name}")));
        }
        if let Some(tasks) = tasks.filter(|tasks| stateless && tasks.take(request)) {
            return self.begin_task(tasks, params);
        }
        if self.spec.old_tasks.is_some()
            && !stateless
            && let Some(task) = self.begin_old_task(params)?
        {
            return Ok(task);
        }
        let text = built_in.map_or_else(
            || params.arguments_text().to_owned(),
            |tool| self.run(tool, params),
        );
        Ok(self.text_result(&text, stateless))
    }

    /// Reports progress on the call's own way.
    pub(crate) async fn report_progress(&self, params: &Params, outlet: &Outlet, after: bool) {
        let progress = self
            .spec
            .progress
            .as_ref()
            .filter(|progress| progress.after == after);
        let (Some(progress), Some(token)) = (progress, &params.meta.progress_token) else {
            return;
        };
        for step in 1..=progress.count {
            let total = progress.count;
            let params = format!(r#"{{"progressToken":{token},"progress":{step},"total":{total}}}"#);
            outlet.send(&message::notification("notifications/progress", Some(&params)));
            sleep(Duration::from_secs_f64(progress.interval)).await;
        }
    }

    /// Sends the notices that belong to a call, before its answer.
    pub(crate) fn notify_within(&self, request: &Request, outlet: &Outlet) {
        for notice in self.notices_of(request, false) {
            let params = notice.params_for(request);
            (0..notice.repeat).for_each(|_| {
                outlet.send(&message::notification(&notice.method, params.as_deref()));
            });
        }
    }

    /// Sends the news that follow a call, after its answer.
    pub(crate) fn notify_after(&self, request: &Request) {
        for notice in self.notices_of(request, true) {
            let params = notice.params_for(request);
            (0..notice.repeat).for_each(|_| self.notices.announce(&notice.method, params.as_deref()));
        }
        self.ask_late(request);
    }

    fn notices_of(&self, request: &Request, news: bool) -> impl Iterator<Item = &Notice> {
        let wanted = |notice: &&Notice| notice.on.as_ref().is_none_or(|key| request.is(key));
        let calls = request.method == "tools/call";
        let all = self.spec.notify.iter().filter(wanted);
        all.filter(move |notice| calls && is_news(&notice.method) == news)
    }

    /// Says that a resource has changed.
    fn touch(&self, params: &Params, outlet: &Outlet, stateless: bool) -> String {
        let arguments: serde_json::Value = serde_json::from_str(params.arguments_text()).unwrap_or_default();
        let news = serde_json::json!({ "uri": arguments["uri"] }).to_string();
        if arguments["within"] == true {
            outlet.send(&message::notification(UPDATED, Some(&news)));
        } else {
            self.notices.announce(UPDATED, Some(&news));
        }
        self.text_result("touched", stateless)
    }

    fn run(&self, tool: BuiltIn, params: &Params) -> String {
        match tool {
            BuiltIn::Env => environment(),
            BuiltIn::Cwd => std::env::current_dir()
                .map_or_else(|error| error.to_string(), |path| path.display().to_string()),
            BuiltIn::Echo => params.arguments_text().to_owned(),
            BuiltIn::Add => self.add_tool(),
            BuiltIn::Pid => std::process::id().to_string(),
        }
    }

    fn add_tool(&self) -> String {
        let name = {
            let mut added = self.added.lock();
            let name = format!("new{}", added.len() + 1);
            added.push(RawValue::from_string(definition(&name)).expect("a definition is JSON"));
            name
        };
        self.notices.announce("notifications/tools/list_changed", None);
        format!("added {name}")
    }
}

/// The entry of the tool that ends tasks.
pub(crate) fn finish_definition() -> String {
    definition(FINISH)
}

/// The entry of the tool that says that a resource has changed.
pub(crate) fn touch_definition() -> String {
    definition(TOUCH)
}

fn definition(name: &str) -> String {
    format!(r#"{{"name":{},"inputSchema":{{"type":"object"}}}}"#, quoted(name))
}

fn environment() -> String {
    let all = std::env::vars_os();
    let text = all.map(|(name, value)| {
        (
            name.to_string_lossy().into_owned(),
            value.to_string_lossy().into(),
        )
    });
    serde_json::Value::Object(text.collect()).to_string()
}
