//! What an argument names.

use clap::Arg;

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Server,
    /// A tool as clients see it.
    Tool,
    /// A tool as `SERVER.TOOL`, as toolsets have it.
    Entry,
    Prompt,
    Toolset,
    Project,
    Token,
    Secret,
    Client,
}

impl Kind {
    /// What this argument of the command at `path` names, told by what its value is called. What a command makes
    /// anew has no name that is known.
    pub(super) fn of(path: &str, arg: &Arg) -> Option<Self> {
        let words: Vec<_> = path.split_whitespace().skip(1).collect();
        let value = arg.get_value_names()?.first()?.as_str();
        match (value, &words[..]) {
            ("SERVER" | "SERVER[.TOOL]", _) => Some(Self::Server),
            ("TOOL", ["toolsets" | "tokens", ..]) => Some(Self::Entry),
            ("TOOL", _) => Some(Self::Tool),
            ("PROMPT", _) => Some(Self::Prompt),
            ("TOOLSET", _) => Some(Self::Toolset),
            ("PROJECT", _) => Some(Self::Project),
            ("ID|NAME", _) => Some(Self::Token),
            ("CLIENT", _) => Some(Self::Client),
            ("NAME", [_, "add" | "create"]) => None,
            ("NAME" | "A" | "B", [group, _]) => Self::in_group(group),
            _ => None,
        }
    }

    /// What the commands of a group are about.
    fn in_group(group: &str) -> Option<Self> {
        match group {
            "servers" => Some(Self::Server),
            "toolsets" => Some(Self::Toolset),
            "projects" => Some(Self::Project),
            "secrets" => Some(Self::Secret),
            "clients" => Some(Self::Client),
            _ => None,
        }
    }
}
