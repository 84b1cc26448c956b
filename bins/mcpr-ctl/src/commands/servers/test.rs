//! `servers test`

use std::io;
use std::time::Duration;

use mcpr_admin::{ExitCode, Via};
use mcpr_config::{Config, Locations, Process, ServerEntry, ServerState};
use mcpr_protocol::{Object, RawJson};
use mcpr_registry::Kind;
use mcpr_telemetry::Secrets;
use mcpr_upstream::{Phase, Status, UpstreamSpec};
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::Global;
use crate::files::Files;
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::text::one_line;
use crate::probe::{Probe, Step};
use crate::problem::Problem;

/// What a server turned out to be. Serialised, it is what `servers test --json` prints.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tested {
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<Via>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
    /// What it says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_info: Option<RawJson>,
    tools: u64,
    prompts: u64,
    /// Templates too.
    resources: u64,
    steps: Vec<Step>,
}

/// What scripts are told of a failure besides its message.
#[derive(Serialize)]
struct Trace {
    steps: Vec<Step>,
    stderr: Vec<String>,
}

/// Starts or dials one server, tells how it does, and ends it again.
pub(super) async fn test(global: &Global, out: &Out, name: &str) -> Result<ExitCode, Problem> {
    let locations = Locations::from_env(&global.config, &Process)?;
    let config = Config::load(&locations, &Process)?;
    let entry = config.servers.iter().find(|entry| entry.name.as_str() == name);
    let Some(entry) = entry else {
        return Err(Files::open(global)?.no_server(name));
    };
    let mut spec = usable(entry, &entry.state)?;
    if matches!(entry.state, ServerState::Disabled(_)) {
        out.note(&format!(
            "`{name}` is switched off in the configuration; it is tried all the same"
        ));
    }
    spec.timeouts.start = global.timeout.unwrap_or(spec.timeouts.start);
    let limit = spec.timeouts.start;
    let mut signals = Signals::listen()?;
    let probe = Probe::new(entry.name.clone(), spec, &config.gateway)?;
    let settled = tokio::select! {
        settled = probe.settled() => Some(settled),
        () = signals.end() => None,
    };
    let outcome = match settled {
        Some((status, steps)) => told(out, entry, status, steps, &probe, limit),
        None => Ok(ExitCode::Interrupted),
    };
    tokio::select! {
        () = probe.end() => outcome,
        // Asked again: the guardian ends what is left.
        () = signals.end() => Ok(ExitCode::Interrupted),
    }
}

/// How the server is reached, whether or not it is switched off.
fn usable(entry: &ServerEntry, state: &ServerState) -> Result<UpstreamSpec, Problem> {
    match state {
        ServerState::Enabled(spec) => Ok((**spec).clone()),
        ServerState::Disabled(otherwise) => usable(entry, otherwise),
        ServerState::Misconfigured(fault) => {
            let problem = Problem::from(fault);
            let message = format!("`{}` is misconfigured: {}", entry.name, problem.message);
            Err(Problem::config(message, problem.hint))
        }
    }
}

fn told(
    out: &Out,
    entry: &ServerEntry,
    status: Option<Status>,
    steps: Vec<Step>,
    probe: &Probe,
    limit: Duration,
) -> Result<ExitCode, Problem> {
    match status {
        Some(status) if matches!(status.phase, Phase::Ready) && probe.complaints().is_empty() => {
            out.report(&tested(entry, &status, steps), page)?;
            Ok(ExitCode::Ok)
        }
        status => Err(failed(entry, status.as_ref(), steps, probe, limit)),
    }
}

fn tested(entry: &ServerEntry, status: &Status, steps: Vec<Step>) -> Tested {
    let offers = status.offers.as_ref();
    let count = |kind| offers.map_or(0, |offers| offers.items(kind).len() as u64);
    Tested {
        server: entry.name.to_string(),
        via: entry.via.map(via),
        protocol: status.replica.as_ref().map(|replica| replica.version.to_string()),
        server_info: offers.and_then(|offers| offers.server_info.clone()),
        tools: count(Kind::Tools),
        prompts: count(Kind::Prompts),
        resources: count(Kind::Resources) + count(Kind::Templates),
        steps,
    }
}

fn via(via: mcpr_config::Via) -> Via {
    match via {
        mcpr_config::Via::Stdio => Via::Stdio,
        mcpr_config::Via::Http => Via::Http,
        mcpr_config::Via::Sse => Via::Sse,
    }
}

fn page(tested: &Tested, look: &Look) -> String {
    let facts = [
        ("via", tested.via.map(|via| via.as_str().to_owned())),
        ("protocol", tested.protocol.clone()),
        ("calls itself", tested.server_info.as_ref().and_then(calls_itself)),
        ("tools", Some(tested.tools.to_string())),
        ("prompts", Some(tested.prompts.to_string())),
        ("resources", Some(tested.resources.to_string())),
        ("took", Some(took(&tested.steps))),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(what, fact)| Some(format!("  {what:<14}{}\n", fact?)));
    let name = look.paint(Paint::Head, &one_line(&tested.server));
    format!(
        "{name} {}\n{}",
        look.paint(Paint::Good, "works"),
        facts.collect::<String>()
    )
}

fn calls_itself(info: &RawJson) -> Option<String> {
    let info = Object::read(info).ok()?;
    let words: Vec<_> = ["name", "version"]
        .into_iter()
        .filter_map(|key| info.text(key))
        .collect();
    Some(one_line(&words.join(" "))).filter(|text| !text.is_empty())
}

fn took(steps: &[Step]) -> String {
    let steps = steps.iter().map(|Step { step, ms }| format!("{step} {ms} ms"));
    steps.collect::<Vec<_>>().join(" · ")
}

fn failed(
    entry: &ServerEntry,
    status: Option<&Status>,
    steps: Vec<Step>,
    probe: &Probe,
    limit: Duration,
) -> Problem {
    let secrets = Secrets::default();
    entry
        .secrets
        .iter()
        .for_each(|secret| secrets.add(secret.reveal()));
    let words = secrets.scrub(&probe.last_words()).into_owned();
    let reason = match status.and_then(Status::reason) {
        Some(reason) => reason.to_owned(),
        None => probe.complaints().join("; "),
    };
    let mut message = format!("`{}` does not work: {}", entry.name, secrets.scrub(&reason));
    if !words.is_empty() && !message.contains(&words) {
        message += &format!("; its last words: {words}");
    }
    let spent: u64 = steps.iter().map(|step| step.ms).sum();
    let late = u128::from(spent) + 1 >= limit.as_millis();
    let problem = if late {
        Problem::late(message)
    } else {
        Problem::failed(message)
    };
    let hint = next_step(entry, status, steps.last(), late);
    let stderr = words.lines().map(str::to_owned).collect();
    problem.hint(hint).data(RawJson::render(&Trace { steps, stderr }))
}

/// What to do about a server that got as far as this.
fn next_step(entry: &ServerEntry, status: Option<&Status>, reached: Option<&Step>, late: bool) -> String {
    let name = &entry.name;
    if matches!(
        status.map(|status| &status.phase),
        Some(Phase::AuthRequired { .. })
    ) {
        return format!(
            "give it credentials: mcpr-ctl servers set {name} 'headers.Authorization=Bearer ${{TOKEN}}'"
        );
    }
    match reached.map(|step| step.step) {
        _ if late => format!(
            "give it more time with --timeout, and if that helps, for good: mcpr-ctl servers set {name} mcpr.timeouts.start=2m"
        ),
        Some("start") => format!("give another program: mcpr-ctl servers set {name} command=PROGRAM"),
        Some("introduce") if entry.via == Some(mcpr_config::Via::Stdio) => {
            "see what it writes when it is started by hand; on standard output there may be nothing but MCP"
                .to_owned()
        }
        Some("introduce") => {
            "see whether the URL is that of an MCP endpoint, and whether it can be reached from here"
                .to_owned()
        }
        _ => "look into the log of the server".to_owned(),
    }
}

/// The signals that ask for the end.
struct Signals([Signal; 3]);

impl Signals {
    fn listen() -> io::Result<Self> {
        let listen = |kind| signal(kind);
        Ok(Self([
            listen(SignalKind::interrupt())?,
            listen(SignalKind::terminate())?,
            listen(SignalKind::hangup())?,
        ]))
    }

    async fn end(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
