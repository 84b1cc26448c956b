//! The fields of an entry under all the names that clients give them.

use super::Via;
use super::address;
use crate::arguments;
use crate::fault::Fault;
use crate::keys;
use crate::read::Members;
use crate::tree::{Key, Node, Shape};
use crate::veil::is_written_out;
use mcpr_registry::nearest;
use mcpr_telemetry::Secrets;

/// The fields of an entry, wherever they stand: some clients nest them in `transport`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'n> {
    node: &'n Node,
    outer: Members<'n>,
    nested: Option<Members<'n>>,
}

/// How an entry says that it is reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'n> {
    /// By a program.
    Stdio { command: &'n Node },
    /// By a URL; `stated` is the type if the entry has one.
    Url { url: &'n Node, stated: Option<Via> },
}

/// The spellings of `type`, in lower case without `-` and `_`.
const TYPES: [(&str, Via); 6] = [
    ("stdio", Via::Stdio),
    ("local", Via::Stdio),
    ("http", Via::Http),
    ("streamablehttp", Via::Http),
    ("remote", Via::Http),
    ("sse", Via::Sse),
];

impl<'n> Fields<'n> {
    pub(super) fn of(node: &'n Node) -> Result<Self, Fault> {
        let outer = node.loose_members(&keys::SERVER)?;
        let transport = outer
            .get("transport")
            .filter(|node| matches!(node.shape, Shape::Object(_)));
        let nested = transport
            .map(|node| node.loose_members(&keys::TRANSPORT))
            .transpose()?;
        Ok(Self { node, outer, nested })
    }

    /// A field of the entry, or else of its `transport`.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        self.outer.get(key).or_else(|| self.nested?.get(key))
    }

    /// A field that only the entry itself has.
    pub(super) fn outer(&self) -> Members<'n> {
        self.outer
    }

    pub(super) fn is_disabled(&self) -> Result<bool, Fault> {
        let disabled = self.outer.read("disabled", Node::boolean)?.unwrap_or(false);
        let enabled = self.outer.read("enabled", Node::boolean)?.unwrap_or(true);
        Ok(disabled || !enabled)
    }

    /// How the entry is reached; two ways or none are a fault.
    pub(super) fn kind(&self) -> Result<Kind<'n>, Fault> {
        let stated = self.stated()?;
        match (self.get("command"), self.url(), stated) {
            (Some(_), Some(url), _) => {
                let fault = url.fault("stands beside `command`: a server is either a program or a URL");
                Err(fault.hint("remove one of them"))
            }
            (Some(command), None, None | Some(Via::Stdio)) => Ok(Kind::Stdio { command }),
            (None, Some(url), None | Some(Via::Http | Via::Sse)) => Ok(Kind::Url { url, stated }),
            (Some(command), None, Some(via)) => Err(command
                .fault(format_args!("does not fit the type `{via}`"))
                .hint("that type needs a `url`")),
            (None, Some(url), Some(via)) => Err(url
                .fault(format_args!("does not fit the type `{via}`"))
                .hint("use the type `http`")),
            (None, None, _) => Err(self.unreachable(stated)),
        }
    }

    fn url(&self) -> Option<&'n Node> {
        ["url", "serverUrl", "httpUrl"]
            .into_iter()
            .find_map(|key| self.get(key))
    }

    /// The type, if the entry has one under any name.
    fn stated(&self) -> Result<Option<Via>, Fault> {
        let transport = || {
            self.outer
                .get("transport")
                .filter(|node| !matches!(node.shape, Shape::Object(_)))
        };
        let node = self
            .outer
            .get("type")
            .or_else(|| self.outer.get("transportType"))
            .or_else(transport);
        node.or_else(|| self.nested?.get("type")).map(via).transpose()
    }

    fn unreachable(&self, stated: Option<Via>) -> Fault {
        let (what, remedy) = match stated {
            None => (
                "there is neither `command` nor `url`",
                "give the program as `command`, or the address as `url`",
            ),
            Some(Via::Stdio) => ("there is no `command`", "give the program as `command`"),
            Some(Via::Http | Via::Sse) => ("there is no `url`", "give the address as `url`"),
        };
        let fault = Fault::new(what);
        match self.slips().next() {
            Some((key, known)) => fault
                .hint(format!("did you mean `{known}` by `{}`?", key.text))
                .at(&key.place),
            None => fault.hint(remedy).at(&self.node.place),
        }
    }

    /// Keys that nobody knows and that look like one of ours, with that one.
    pub(super) fn slips(&self) -> impl Iterator<Item = (&'n Key, &'static str)> {
        let strange = self.strange().filter(|key| !keys::SERVER_OWN.known(&key.text));
        strange.filter_map(|key| Some((key, nearest(&key.text, keys::SERVER.all.iter().copied())?)))
    }

    /// Keys that have a meaning only inside `mcpr`, but stand beside it.
    pub(super) fn misplaced(&self) -> impl Iterator<Item = &'n Key> {
        self.strange().filter(|key| keys::SERVER_OWN.known(&key.text))
    }

    /// Keys that no client is known to have.
    fn strange(&self) -> impl Iterator<Item = &'n Key> {
        self.outer.unknown().filter(|key| !keys::FOREIGN.known(&key.text))
    }

    /// Keys of other clients that would change how the server is reached.
    pub(super) fn missed(&self) -> impl Iterator<Item = &'n Key> {
        self.outer
            .unknown()
            .filter(|key| keys::MISSED.contains(&key.text.as_str()))
    }

    /// How it seems to be reached; for people, valid or not.
    pub(super) fn via(&self) -> Option<Via> {
        let by_field = || match (self.get("command"), self.url()) {
            (Some(_), _) => Some(Via::Stdio),
            (None, Some(_)) => Some(Via::Http),
            (None, None) => None,
        };
        self.stated().ok().flatten().or_else(by_field)
    }

    /// The command line or URL as the file has it, without what is secret in it.
    pub(super) fn shown(&self) -> String {
        match (self.get("command"), self.url()) {
            (Some(command), _) => {
                let args = arguments::shown(&self.arguments(), &self.variables());
                let words = std::iter::once(text(command).to_owned()).chain(args);
                words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
            }
            (None, Some(url)) => address::shown(text(url)),
            (None, None) => String::new(),
        }
    }

    /// The values of variables that are written out: what repeats them is secret too.
    fn variables(&self) -> Secrets {
        let secrets = Secrets::default();
        if let Some(Shape::Object(members)) = self.get("env").map(|env| &env.shape) {
            let values = members.iter().filter_map(|(_, value)| value.scalar().ok());
            values
                .filter(|value| is_written_out(value))
                .for_each(|value| secrets.add(value));
        }
        secrets
    }

    /// What is written out in the command line and is secret.
    pub(super) fn secret_arguments(&self) -> impl Iterator<Item = &'n str> {
        let args = self.arguments();
        let parts = arguments::secret_parts(&args).into_iter().zip(args);
        let texts = parts.flat_map(|(parts, arg)| parts.into_iter().map(|part| &arg[part]));
        texts.filter(|text| is_written_out(text))
    }

    /// The arguments as the file has them.
    fn arguments(&self) -> Vec<&'n str> {
        let args = self.get("args").and_then(|args| args.items().ok());
        args.unwrap_or_default().iter().map(text).collect()
    }
}

fn text(node: &Node) -> &str {
    node.scalar().unwrap_or("?")
}

fn via(node: &Node) -> Result<Via, Fault> {
    let text = node.text()?;
    let simple = text.to_ascii_lowercase().replace(['-', '_'], "");
    let known = TYPES.into_iter().find(|(spelling, _)| *spelling == simple);
    known.map(|(_, via)| via).ok_or_else(|| match simple.as_str() {
        "ws" | "websocket" => node
            .fault("is WebSocket, which mcpr does not speak")
            .hint("use `http` if the server has it"),
        _ => node.fault(format_args!("must be `stdio`, `http` or `sse`, not `{text}`")),
    })
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) {
        format!("{word:?}")
    } else {
        word.to_owned()
    }
}
