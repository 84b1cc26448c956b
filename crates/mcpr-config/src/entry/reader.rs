//! Reads an entry: whatever is wrong with it stays with it.

use std::path::PathBuf;

use mcpr_registry::{PinPolicy, ServerName, ServerNaming};
use mcpr_upstream::{Reach, SecretText, Timeouts, UpstreamSpec};

use super::fields::{Fields, Kind};
use super::{Backends, ServerEntry, ServerState, ToolFilter, address, own};
use crate::arguments;
use crate::environment::Environment;
use crate::expand::{Lookups, References};
use crate::fault::{Fault, Finding, Severity};
use crate::keys;
use crate::locations::SecretFolders;
use crate::paths::Folder;
use crate::read::Members;
use crate::tree::{Key, Node, Shape};

/// What an entry is read in.
pub(crate) struct Surroundings<'a> {
    pub(crate) env: &'a dyn Environment,
    pub(crate) secrets: &'a SecretFolders,
    pub(crate) references: References,
    /// The time limits of the gateway.
    pub(crate) timeouts: Timeouts,
    /// What the gateway says of changed definitions.
    pub(crate) pins: PinPolicy,
}

/// Reads one entry and remembers what is to be said about it.
pub(super) struct Reader<'a> {
    lookups: Lookups<'a>,
    timeouts: Timeouts,
    pins: PinPolicy,
    secrets: Vec<SecretText>,
    remarks: Vec<(Severity, Fault)>,
}

/// What an entry says besides how the server is reached and treated.
#[derive(Default)]
struct Terms {
    naming: ServerNaming,
    tools: ToolFilter,
    pins: PinPolicy,
    backends: Backends,
}

/// Names that mcpr needs for itself.
pub(crate) const RESERVED: [&str; 2] = ["mcpr", "native"];

/// Reads an entry; `None` if not even its key can stand for a server.
pub(crate) fn read(
    key: &Key,
    node: &Node,
    surroundings: &Surroundings<'_>,
    findings: &mut Vec<Finding>,
) -> Option<ServerEntry> {
    let Ok(name) = key.text.parse::<ServerName>() else {
        findings.push(Finding::error(unusable_name(key)).of(&key.text));
        return None;
    };
    let node = node.clone().into_root();
    let mut reader = Reader::new(&node, surroundings);
    let entry = reader.entry(name, key, &node);
    let remarks = reader.remarks.into_iter();
    findings.extend(remarks.map(|(severity, fault)| Finding::new(severity, fault).of(&key.text)));
    Some(entry)
}

fn unusable_name(key: &Key) -> Fault {
    let fault = Fault::new("this key cannot name a server, which is left out").at(&key.place);
    fault.hint("use 1 to 64 printable characters without `/`")
}

impl<'a> Reader<'a> {
    fn new(node: &Node, surroundings: &Surroundings<'a>) -> Self {
        let folder = Folder::of(&node.place.file, surroundings.env);
        Self {
            lookups: Lookups {
                references: surroundings.references,
                env: surroundings.env,
                folder,
                secrets: surroundings.secrets,
            },
            timeouts: surroundings.timeouts,
            pins: surroundings.pins,
            secrets: Vec::new(),
            remarks: Vec::new(),
        }
    }

    fn entry(&mut self, name: ServerName, key: &Key, node: &Node) -> ServerEntry {
        let fields = Fields::of(node);
        let (via, shown) = fields
            .as_ref()
            .map(|fields| (fields.via(), fields.shown()))
            .unwrap_or_default();
        if let Ok(fields) = &fields {
            fields.secret_arguments().for_each(|text| self.know(text));
        }
        let read = fields.and_then(|fields| Ok((fields.is_disabled()?, fields)));
        let (state, terms) = match read {
            Ok((false, fields)) => self.usable(&fields, key, node),
            Ok((true, fields)) => self.disabled(&fields, key, node),
            Err(fault) => (
                ServerState::Misconfigured(fault.at(&node.place)),
                Terms::default(),
            ),
        };
        let (secrets, place) = (std::mem::take(&mut self.secrets), key.place.clone());
        let Terms {
            naming,
            tools,
            pins,
            backends,
        } = terms;
        ServerEntry {
            name,
            place,
            naming,
            state,
            via,
            shown,
            secrets,
            wants: node.secrets(),
            tools,
            pins,
            backends,
            members: Vec::new(),
        }
    }

    /// What an entry says that is not to be used: nothing in it matters until somebody turns it on.
    fn disabled(&mut self, fields: &Fields<'_>, key: &Key, node: &Node) -> (ServerState, Terms) {
        let remarks = self.remarks.len();
        let (otherwise, terms) = self.usable(fields, key, node);
        self.remarks.truncate(remarks);
        (ServerState::Disabled(Box::new(otherwise)), terms)
    }

    fn usable(&mut self, fields: &Fields<'_>, key: &Key, node: &Node) -> (ServerState, Terms) {
        match self.read(fields, key) {
            Ok((spec, terms)) => (ServerState::Enabled(Box::new(spec)), terms),
            Err(fault) => (
                ServerState::Misconfigured(fault.at(&node.place)),
                Terms::default(),
            ),
        }
    }

    fn read(&mut self, fields: &Fields<'_>, key: &Key) -> Result<(UpstreamSpec, Terms), Fault> {
        if RESERVED.contains(&key.text.as_str()) {
            let fault = Fault::new(format!("the name `{}` is reserved", key.text)).at(&key.place);
            return Err(fault.hint("rename the entry, or remove it if it is this gateway itself"));
        }
        self.content(fields)
    }

    fn content(&mut self, fields: &Fields<'_>) -> Result<(UpstreamSpec, Terms), Fault> {
        self.remark_on_keys(fields)?;
        let own = fields
            .outer()
            .read("mcpr", |node| node.members(&keys::SERVER_OWN))?;
        let reach = match fields.kind()? {
            Kind::Stdio { command } => Reach::Stdio(self.process(command, fields, own)?),
            Kind::Url { url, stated } => Reach::Http(self.address(url, stated, fields)?),
        };
        let mut spec = UpstreamSpec {
            timeouts: self.timeouts,
            ..UpstreamSpec::new(reach)
        };
        if let Some(node) = fields.get("timeout") {
            self.timeout(&mut spec, node)?;
        }
        let terms = own.map(|own| self.own(&mut spec, own)).transpose()?;
        let silent = || Terms {
            pins: self.pins,
            ..Terms::default()
        };
        Ok((spec, terms.unwrap_or_else(silent)))
    }

    /// The URLs of further backends: only a server with a URL has such, and only a program is run
    /// several times.
    fn endpoints(
        &mut self,
        own: Members<'_>,
        reach: &Reach,
        replicas: usize,
    ) -> Result<Vec<SecretText>, Fault> {
        let items = own.read("endpoints", Node::items)?.unwrap_or_default();
        match (reach, own.get("endpoints"), own.get("replicas")) {
            (Reach::Stdio(_), Some(node), _) if !items.is_empty() => {
                let fault = node.fault("is for servers with a `url`");
                Err(fault.hint("run a program several times with `mcpr.replicas`"))
            }
            (Reach::Http(_), _, Some(node)) if replicas != 1 => {
                let fault = node.fault("is for servers that are programs");
                Err(fault.hint("give the addresses of several servers as `mcpr.endpoints`"))
            }
            (Reach::Stdio(_) | Reach::Native, ..) => Ok(Vec::new()),
            (Reach::Http(http), ..) => self.addresses(http.url.clone(), items),
        }
    }

    /// The addresses of a list, without that of the entry itself.
    fn addresses(&mut self, own: SecretText, items: &[Node]) -> Result<Vec<SecretText>, Fault> {
        let mut known = vec![own];
        for node in items {
            let text = self.expand_filled(node)?;
            if !self.lookups().leaves_open(node) {
                address::check(node, text.trim())?;
            }
            self.keep_parts(text.trim());
            let url = SecretText::new(text.trim());
            match known.contains(&url) {
                true => self.warn(node.fault("is there twice and counts once")),
                false => known.push(url),
            }
        }
        Ok(known.split_off(1))
    }

    /// Reads the object `mcpr`: how the server is treated into `spec`, and the rest.
    fn own(&mut self, spec: &mut UpstreamSpec, own: Members<'_>) -> Result<Terms, Fault> {
        own::treatment(spec, own)?;
        if let (false, Some(node)) = (spec.lazy, own.get("stopAfterIdle")) {
            self.warn(node.fault("has no effect without `mcpr.lazy`"));
        }
        let mut backends = own::backends(own)?;
        backends.endpoints = self.endpoints(own, &spec.reach, backends.replicas)?;
        Ok(Terms {
            naming: own::naming(own)?,
            tools: own::tools(own)?,
            pins: own
                .read("pins", |node| node.choice(&keys::PINS))?
                .unwrap_or(self.pins),
            backends,
        })
    }

    /// The limit of a call, in the words of other clients.
    fn timeout(&mut self, spec: &mut UpstreamSpec, node: &Node) -> Result<(), Fault> {
        if is_below_a_second(node) {
            let fault = node.fault("is less than a second and is ignored: a number is milliseconds");
            self.warn(fault.hint("write seconds as a text such as \"60s\""));
        } else {
            spec.timeouts.call = node.limit()?;
        }
        Ok(())
    }

    /// What is not meant as it stands is told. What would protect and does not is an error.
    fn remark_on_keys(&mut self, fields: &Fields<'_>) -> Result<(), Fault> {
        for (key, known) in fields.slips() {
            let fault = Fault::new(format!("unknown key `{}` is ignored", key.text)).at(&key.place);
            self.warn(fault.hint(format!("did you mean `{known}`?")));
        }
        for key in fields.misplaced() {
            let hint = "it belongs in the object `mcpr` of the server";
            if &*key.text == "pins" {
                return Err(Fault::new("`pins` has no effect here").at(&key.place).hint(hint));
            }
            let fault = Fault::new(format!("`{}` is ignored here", key.text)).at(&key.place);
            self.warn(fault.hint(hint));
        }
        for key in fields.missed() {
            let what = format!(
                "`{}` is not supported: mcpr sends only what `headers` has",
                key.text
            );
            self.warn(Fault::new(what).at(&key.place));
        }
        Ok(())
    }

    pub(super) fn lookups(&self) -> &Lookups<'a> {
        &self.lookups
    }

    fn warn(&mut self, fault: Fault) {
        self.remarks.push((Severity::Warning, fault));
    }

    pub(super) fn note(&mut self, fault: Fault) {
        self.remarks.push((Severity::Note, fault));
    }

    /// Expands a text.
    pub(super) fn expand(&mut self, node: &Node) -> Result<String, Fault> {
        let expanded = self.lookups.expand(node)?;
        self.secrets
            .extend(expanded.secrets.into_iter().map(SecretText::new));
        Ok(expanded.text)
    }

    /// Expands a text that may hold nothing empty.
    pub(super) fn expand_filled(&mut self, node: &Node) -> Result<String, Fault> {
        let expanded = self.lookups.expand(node)?;
        if let Some(name) = expanded.hollow {
            return Err(Fault::new(format!("{} needs {name}, which is empty", node.path)).at(&node.place));
        }
        self.secrets
            .extend(expanded.secrets.into_iter().map(SecretText::new));
        if expanded.text.trim().is_empty() {
            return Err(node.fault("must not be empty"));
        }
        Ok(expanded.text)
    }

    /// Expands a text that is a secret as a whole.
    pub(super) fn expand_secret(&mut self, node: &Node) -> Result<SecretText, Fault> {
        let text = self.expand(node)?;
        Ok(self.keep_secret(text))
    }

    pub(super) fn keep_secret(&mut self, text: String) -> SecretText {
        for part in arguments::parts_of(&text) {
            self.know(&text[part]);
        }
        self.know(&text);
        SecretText::new(text)
    }

    /// Knows a part of something for a secret, whatever it says and what that means.
    pub(super) fn know(&mut self, part: &str) {
        for text in std::iter::once(part.to_owned()).chain(arguments::meanings(part)) {
            let secret = SecretText::new(text);
            // The same is mostly said again soon; a value may hold thousands.
            let said = self.secrets.iter().rev().take(64).any(|known| *known == secret);
            if !secret.reveal().is_empty() && !said {
                self.secrets.push(secret);
            }
        }
    }

    /// Keeps what of a command line is secret, as the program gets it.
    pub(super) fn keep_arguments(&mut self, args: &[String]) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        for text in arguments::secret_texts(&args) {
            self.know(&text);
        }
    }

    /// Keeps what of a URL is secret.
    pub(super) fn keep_parts(&mut self, url: &str) {
        for part in address::secrets(url) {
            self.keep_secret(part.to_owned());
        }
    }

    /// Expands a path.
    pub(super) fn path(&mut self, node: &Node) -> Result<PathBuf, Fault> {
        node.text()?;
        let text = self.expand_filled(node)?;
        Ok(self.lookups.folder.path(&text))
    }
}

/// Claude Code ignores such a `timeout`, and clients that write one mean seconds by it.
fn is_below_a_second(node: &Node) -> bool {
    let Shape::Number(number) = &node.shape else {
        return false;
    };
    number.parse::<u64>().is_ok_and(|millis| millis < 1000)
}
