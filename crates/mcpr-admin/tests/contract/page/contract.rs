//! The generated parts of the page.

use std::collections::BTreeSet;
use std::fmt::Write;

use mcpr_admin::{ErrorCode, PREFIX, ROUTES, Route, STREAMS};

use super::json::laid_out;
use super::source::{Entry, Source, Type};
use super::wire::Wire;

/// How the page speaks of a failure.
pub(super) const FAILURE: &str = "[failure](#failures)";

/// Types that are asked for, or described with others.
const APART: [&str; 3] = ["Watch", "Failure", "ErrorCode"];

/// The types of which each stream is made: what is asked, and what comes.
const STREAMED: [(&str, &str, &str); 2] = [
    ("events", "Watch", "Event"),
    ("tools/call", "CallTool", "CallStep"),
];

/// All that the page is made of.
pub(super) struct Contract {
    pub(super) source: Source,
    wire: Wire,
}

impl Contract {
    pub(super) fn read() -> Self {
        Self {
            source: Source::read(),
            wire: Wire::read(),
        }
    }

    pub(super) fn part(&self, name: &str) -> String {
        match name {
            "failures" => self.failures(),
            "streams" => self.streams(),
            "operations" => self.operations(),
            "types" => self.types(),
            _ => panic!("no part of the page is called `{name}`"),
        }
    }

    fn failures(&self) -> String {
        let mut table = self.content(self.source.of("Failure"));
        table += "| `code` | HTTP | `mcpr-ctl` ends with | what it means |\n| --- | --- | --- | --- |\n";
        for code in ErrorCode::ALL {
            let (word, meaning) = (
                code.as_str(),
                self.source.variant("ErrorCode", &format!("{code:?}")),
            );
            let (status, exit) = (code.status().as_u16(), code.exit_code().number());
            let _ = writeln!(
                table,
                "| `{word}` | {status} | {exit} | {} |",
                self.prose(meaning)
            );
        }
        table
    }

    fn streams(&self) -> String {
        STREAMS.iter().map(|route| self.stream(route)).collect()
    }

    fn stream(&self, route: &Route) -> String {
        let known = STREAMED.iter().find(|(path, ..)| *path == route.path);
        let (_, asked, item) = known.expect("the types of every stream are listed here");
        let asked = self.source.of(asked);
        format!(
            "### {} as a stream\n\n{}{}**Each event** carries one [{item}](#{}):\n\n{}",
            route.path,
            self.scope(route),
            self.request(asked),
            anchor(item),
            block("text", &self.wire.stream(route.path)),
        )
    }

    fn operations(&self) -> String {
        let mut text = String::from("| operation | scope | what it does |\n| --- | --- | --- |\n");
        for route in grouped() {
            let about = self.prose(first_sentence(&self.asked(route).about));
            let (path, anchor) = (route.path, anchor(route.path));
            let _ = writeln!(text, "| [`{path}`](#{anchor}) | {} | {about} |", scope_of(route));
        }
        grouped().for_each(|route| text += &self.operation(route));
        text
    }

    fn asked(&self, route: &Route) -> &Type {
        self.source.of(&self.entry(route).operation)
    }

    fn entry(&self, route: &Route) -> &Entry {
        let entry = self.source.table.iter().find(|entry| entry.path == route.path);
        entry.unwrap_or_else(|| panic!("`{}` is not in the table of the source", route.path))
    }

    fn operation(&self, route: &Route) -> String {
        let output = self.source.of(&self.entry(route).output);
        let sample = self.wire.sample(route.path);
        let failed = match sample.status.as_str() {
            "200 OK" => String::new(),
            status => format!("A failure, as an example: {status}.\n\n"),
        };
        let asked = self.request(self.asked(route));
        let sent = match sample.request.as_str() {
            "{}" => String::new(),
            request => block("json", &laid_out(request)),
        };
        let (scope, answer) = (self.scope(route), self.answer(output));
        let got = block("json", &laid_out(&sample.answer));
        format!(
            "\n### {}\n\n{scope}{asked}{sent}{answer}{failed}{got}",
            route.path
        )
    }

    fn scope(&self, route: &Route) -> String {
        format!("`POST {PREFIX}{}`, scope `{}`.\n\n", route.path, scope_of(route))
    }

    /// What is asked, and its members.
    fn request(&self, asked: &Type) -> String {
        let members = self.content(asked);
        let none = match members.is_empty() {
            true => " Nothing has to be said: `{}`.",
            false => "",
        };
        format!("{}{none}\n\n{members}", self.prose(&asked.about))
    }

    /// What comes back: described here, or among the types if others have it too.
    fn answer(&self, output: &Type) -> String {
        let (name, about) = (&output.name, self.prose(&output.about));
        match self.is_shared(output) {
            true => format!(
                "**Answer:** [{name}](#{}). {}\n\n",
                anchor(name),
                first_sentence(&about)
            ),
            false => format!("**Answer:** {about}\n\n{}", self.content(output)),
        }
    }

    /// Whether a type is described once for all.
    pub(super) fn is_shared(&self, which: &Type) -> bool {
        let answers = self
            .source
            .table
            .iter()
            .filter(|entry| entry.output == which.name);
        let within = self.source.types.iter().any(|other| other.mentions(&which.name));
        answers.count() != 1 || within
    }

    /// The types that operations and streams speak of, beside what is described with these.
    fn types(&self) -> String {
        let mut spoken = BTreeSet::new();
        let outputs = self
            .source
            .table
            .iter()
            .flat_map(|entry| [&entry.operation, &entry.output]);
        let streamed = STREAMED.iter().flat_map(|(_, asked, item)| [*asked, *item]);
        outputs
            .map(String::as_str)
            .chain(streamed)
            .for_each(|name| self.gather(name, &mut spoken));
        let asked = |name: &str| self.source.table.iter().any(|entry| entry.operation == name);
        let types = spoken.into_iter().map(|name| self.source.of(name));
        let is_described =
            |which: &&Type| asked(&which.name) || APART.contains(&&*which.name) || !self.is_shared(which);
        let sections = types.filter(|which| !is_described(which)).map(|which| {
            let (name, about) = (&which.name, self.prose(&which.about));
            format!("### {name}\n\n{about}\n\n{}", self.content(which))
        });
        sections.collect::<Vec<_>>().join("\n").trim_end().to_owned() + "\n"
    }

    fn gather<'s>(&'s self, name: &str, spoken: &mut BTreeSet<&'s str>) {
        let Some(which) = self.source.find(name) else {
            return;
        };
        if spoken.insert(&which.name) {
            let others = self
                .source
                .types
                .iter()
                .filter(|other| which.mentions(&other.name));
            others.for_each(|other| self.gather(&other.name, spoken));
        }
    }
}

/// All operations, those of one thing together.
fn grouped() -> impl Iterator<Item = &'static Route> {
    let thing = |route: &Route| route.path.split('/').next();
    let place = move |route: &&Route| ROUTES.iter().position(|other| thing(other) == thing(route));
    let mut routes: Vec<_> = ROUTES.iter().collect();
    routes.sort_by_key(place);
    routes.into_iter()
}

fn scope_of(route: &Route) -> &'static str {
    if route.read_only { "read" } else { "admin" }
}

/// Where a link to a heading leads.
pub(super) fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace('/', "")
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ")
        .map_or(text, |(first, _)| &text[..=first.len()])
}

fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```\n\n", text.trim_end())
}
