//! From entries to servers: several entries of one group are one server with several backends (LB-01).

use std::collections::BTreeMap;
use std::sync::Arc;

use mcpr_registry::ServerName;
use mcpr_upstream::{BackendSpec, HttpSpec, Reach, ServerSpec, UpstreamSpec};

use crate::entry::{Backends, ServerEntry, ServerState, label};
use crate::fault::{Fault, Finding};

/// The servers that these entries make, in the order of their first entries.
///
/// A group has the name of the group, and is named, filtered and treated as its first entry says.
pub fn servers(entries: Vec<ServerEntry>) -> Vec<ServerEntry> {
    let mut groups: BTreeMap<ServerName, Vec<ServerEntry>> = BTreeMap::new();
    let mut order = Vec::new();
    for entry in entries {
        let name = entry.server().clone();
        let members = groups.entry(name.clone()).or_default();
        if members.is_empty() {
            order.push(name);
        }
        members.push(entry);
    }
    let whole = |name| groups.remove(&name).map(|members| server(name, members));
    order.into_iter().filter_map(whole).collect()
}

/// Finds what is wrong with groups: an entry whose group has the name of another server cannot be
/// used, and what a later entry of a group says of the server as a whole is not heard.
pub(crate) fn check(entries: &mut [ServerEntry], findings: &mut Vec<Finding>) {
    let alone = |entry: &&ServerEntry| entry.backends.group.is_none();
    let strangers: Vec<ServerName> = entries
        .iter()
        .filter(alone)
        .map(|entry| entry.name.clone())
        .collect();
    let mut first = BTreeMap::new();
    for entry in entries {
        let Some(group) = entry.backends.group.clone() else {
            continue;
        };
        if strangers.contains(&group) {
            entry.state = ServerState::Misconfigured(taken(&group, entry));
            entry.backends.group = None;
            continue;
        }
        let spoken = first.entry(group.clone()).or_insert_with(|| entry.name.clone());
        let silent = entry.naming == Default::default() && entry.tools == Default::default();
        if *spoken != entry.name && !silent {
            let what = format!(
                "`prefix`, `naming`, `resources` and `tools` are those of `{spoken}`, the first entry of the group `{group}`"
            );
            let fault = Fault::new(what).hint("say it there").at(&entry.place);
            findings.push(Finding::warning(fault).of(entry.name.as_str()));
        }
    }
}

/// The server that entries of one name make.
fn server(name: ServerName, mut members: Vec<ServerEntry>) -> ServerEntry {
    if members[0].backends.group.is_none() {
        return members.remove(0);
    }
    let first = members[0].clone();
    let mut tags: Vec<String> = members
        .iter()
        .flat_map(|member| member.backends.tags.clone())
        .collect();
    tags.sort();
    tags.dedup();
    ServerEntry {
        name,
        state: state(&members),
        // What one entry wants held back is held back, whichever backend has it.
        pins: members.iter().map(|member| member.pins).max().unwrap_or_default(),
        secrets: members.iter().flat_map(|member| member.secrets.clone()).collect(),
        wants: wants(&members),
        shown: members
            .iter()
            .map(|member| &*member.shown)
            .collect::<Vec<_>>()
            .join(", "),
        backends: Backends {
            tags,
            ..first.backends.clone()
        },
        members,
        ..first
    }
}

/// What the entries ask for, each once.
fn wants(members: &[ServerEntry]) -> Vec<String> {
    let mut wants: Vec<_> = members.iter().flat_map(|member| member.wants.clone()).collect();
    wants.sort();
    wants.dedup();
    wants
}

/// A group is to be used if one of its entries is.
fn state(members: &[ServerEntry]) -> ServerState {
    let states = || members.iter().map(|member| &member.state);
    let enabled = states().find(|state| matches!(state, ServerState::Enabled(_)));
    let wrong = states().find(|state| matches!(state, ServerState::Misconfigured(_)));
    enabled.or(wrong).unwrap_or(&members[0].state).clone()
}

fn taken(group: &ServerName, entry: &ServerEntry) -> Fault {
    let what = format!("`mcpr.group` is `{group}`, which is the name of another server");
    let hint = "name the group otherwise, or put that server into it too";
    Fault::new(what).hint(hint).at(&entry.place)
}

impl ServerEntry {
    /// The backends of the server, in their order, where `spec` is how it is treated. What is turned
    /// off of a group is left out, unless all of it is.
    pub fn server_spec(&self, spec: &UpstreamSpec) -> ServerSpec {
        let usable = |also_off| {
            let usable = move |member: &ServerEntry| {
                Some(member.backends_as(member.state.spec(also_off)?, Some(&member.name)))
            };
            self.members
                .iter()
                .filter_map(usable)
                .flatten()
                .collect::<Vec<_>>()
        };
        let mut backends = match &*self.members {
            [] => self.backends_as(spec, None),
            _ => usable(false),
        };
        if backends.is_empty() {
            backends = usable(true);
        }
        tell_apart(&mut backends);
        ServerSpec {
            backends,
            spread: self.backends.spread,
            repeat: self.backends.repeat,
        }
    }

    /// The backends of one entry: those of a group have its name before their own.
    fn backends_as(&self, spec: &UpstreamSpec, member: Option<&ServerName>) -> Vec<BackendSpec> {
        let several = self.backends.replicas + self.backends.endpoints.len() > 1;
        let backend = |own: String, spec: UpstreamSpec| {
            let label: Arc<str> = match (member, several) {
                (Some(member), false) => member.as_str().into(),
                (Some(member), true) => format!("{member}/{own}").into(),
                (None, _) => own.into(),
            };
            BackendSpec {
                label,
                spec,
                tags: self.backends.tags.clone(),
            }
        };
        match &spec.reach {
            Reach::Native => vec![backend("1".to_owned(), spec.clone())],
            Reach::Stdio(_) => {
                let numbers = 1..=self.backends.replicas;
                numbers
                    .map(|number| backend(number.to_string(), spec.clone()))
                    .collect()
            }
            Reach::Http(http) => {
                let urls = std::iter::once(&http.url).chain(&self.backends.endpoints);
                let at = |url: &mcpr_upstream::SecretText| {
                    let reach = Reach::Http(HttpSpec {
                        url: url.clone(),
                        ..http.clone()
                    });
                    let spec = UpstreamSpec {
                        reach,
                        ..spec.clone()
                    };
                    backend(label(url.reveal()).to_owned(), spec)
                };
                urls.map(at).collect()
            }
        }
    }

    /// The name of the server that the entry makes, alone or with others.
    pub fn server(&self) -> &ServerName {
        self.backends.group.as_ref().unwrap_or(&self.name)
    }

    /// Whether another entry differs in nothing but its place in the file.
    pub fn means_the_same(&self, other: &Self) -> bool {
        let mut moved = self.clone();
        moved.place.clone_from(&other.place);
        for (member, other) in moved.members.iter_mut().zip(&other.members) {
            member.place.clone_from(&other.place);
        }
        moved == *other
    }
}

impl ServerState {
    /// How it is reached and treated; where it is turned off only if that is `also_off` asked for.
    fn spec(&self, also_off: bool) -> Option<&UpstreamSpec> {
        match self {
            Self::Enabled(spec) => Some(spec),
            Self::Disabled(otherwise) if also_off => otherwise.spec(false),
            _ => None,
        }
    }
}

/// Backends whose addresses differ only in what is not shown are numbered.
fn tell_apart(backends: &mut [BackendSpec]) {
    let mut seen: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for backend in backends {
        let count = seen.entry(backend.label.clone()).or_default();
        *count += 1;
        if *count > 1 {
            backend.label = format!("{}#{count}", backend.label).into();
        }
    }
}
