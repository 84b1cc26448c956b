//! Tables of members and words, and prose of the source as prose of the page.

use super::contract::{Contract, FAILURE, anchor};
use super::source::{Content, Member, Type};

impl Contract {
    /// The members of a type, or its words.
    pub(super) fn content(&self, which: &Type) -> String {
        match &which.content {
            Content::Members(members) if members.is_empty() => String::new(),
            Content::Members(members) => {
                let rows: String = members.iter().map(|member| self.row(member)).collect();
                format!("| member | value | what it says |\n| --- | --- | --- |\n{rows}\n")
            }
            Content::Words(words) => {
                let row =
                    |(word, about): &(String, String)| format!("| `{word}` | {} |\n", self.prose(about));
                let rows: String = words.iter().map(row).collect();
                format!("| word | what it says |\n| --- | --- |\n{rows}\n")
            }
        }
    }

    fn row(&self, member: &Member) -> String {
        let Member {
            name,
            optional,
            about,
            ..
        } = member;
        let value = self.value(&member.kind);
        if member.flat {
            return format!("| … | all of {value} | {} |\n", self.prose(about));
        }
        let optional = if *optional { ", optional" } else { "" };
        format!("| `{name}` | {value}{optional} | {} |\n", self.prose(about))
    }

    /// What a member holds, in words.
    fn value(&self, kind: &str) -> String {
        let inner = |kind: &str, outer| kind.strip_prefix(outer)?.strip_suffix('>').map(str::to_owned);
        if let Some(item) = inner(kind, "Option<") {
            return self.value(&item);
        }
        if let Some(item) = inner(kind, "Vec<") {
            return format!("list: {}", self.value(&item));
        }
        if let Some(value) = inner(kind, "BTreeMap<String, ") {
            return format!("object: {} by name", self.value(&value));
        }
        match kind.strip_prefix("crate::").unwrap_or(kind) {
            "String" | "Secret" => "text".to_owned(),
            "bool" => "true or false".to_owned(),
            "u32" | "u64" | "i64" => "number".to_owned(),
            "RawJson" => "JSON".to_owned(),
            "Failure" => FAILURE.to_owned(),
            "ErrorCode" => "text, see below".to_owned(),
            name => {
                let name = &self.source.of(name).name;
                format!("[{name}](#{})", anchor(name))
            }
        }
    }

    /// Prose of the source, where names of types in brackets become links or words.
    pub(super) fn prose(&self, text: &str) -> String {
        let mut parts = text.split("[`");
        let mut prose = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once("`]").expect("a link of the source ends");
            let rest = rest
                .strip_prefix('(')
                .and_then(|rest| rest.split_once(')'))
                .map_or(rest, |(_, rest)| rest);
            prose += &self.link(name);
            prose += rest;
        }
        prose.replace('|', "\\|")
    }

    fn link(&self, name: &str) -> String {
        match name.split_once("::") {
            Some((of, variant)) => format!("`{}`", self.source.word(of, variant)),
            None if name == "Failure" => FAILURE.to_owned(),
            None if self.is_shared(self.source.of(name)) => format!("[{name}](#{})", anchor(name)),
            None => format!("`{name}`"),
        }
    }
}
