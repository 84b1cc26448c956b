//! `docs/cli.md` is made of what the programs say of themselves.

use std::env;
use std::fmt::Write;
use std::fs;
use std::process::Command;

use mcpr_tests::binary;

use crate::tidy::root;

const PAGE: &str = "docs/cli.md";

/// What makes the page anew.
const UPDATE: &str =
    "cargo build --workspace --bins && UPDATE_DOCS=1 cargo nextest run -p mcpr-tests --test tree cli_page";

const HEAD: &str = "\
What `mcpr-gateway` (the gateway) and `mcpr-ctl` (which looks after it) understand: the same as `--help` of each
command shows. For a shell that completes commands, options and names see [`mcpr-ctl completions`](#mcpr-ctl-completions),
for man pages [`mcpr-ctl man`](#mcpr-ctl-man).
";

/// Chapters that `mcpr-ctl help` has, and their titles.
const TOPICS: [(&str, &str); 3] = [
    ("exit-codes", "Exit codes"),
    ("environment", "Environment"),
    ("formats", "Formats"),
];

/// Sections that stand elsewhere on the page.
const ELSEWHERE: [&str; 4] = ["Commands", "Global options", "Exit codes", "Environment"];

/// One command, and what it says of itself.
struct Entry {
    /// The words that lead to it, the program's name first.
    path: String,
    about: String,
    usage: String,
    sections: Vec<Section>,
}

/// A title at the margin, and the lines below it.
struct Section {
    title: String,
    lines: Vec<String>,
}

impl Entry {
    fn read(path: &str) -> Self {
        let text = said(&format!("{path} --help"));
        let (about, rest) = text.split_once("\n\nUsage: ").expect("a text and a usage");
        let (usage, rest) = rest.split_once("\n\n").unwrap_or((rest, ""));
        Self {
            path: path.to_owned(),
            about: about.to_owned(),
            usage: usage.lines().map(|line| format!("{}\n", line.trim())).collect(),
            sections: Section::all(rest),
        }
    }

    fn section(&self, title: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.title == title)
    }

    /// The commands below it; clap's own `help` is none.
    fn below(&self) -> Vec<String> {
        let listed = self.section("Commands").map_or(&[][..], |section| &section.lines);
        let named = listed
            .iter()
            .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        named
            .filter(|name| !name.is_empty() && *name != "help")
            .map(|name| format!("{} {name}", self.path))
            .collect()
    }

    /// Where a link to it leads.
    fn anchor(&self) -> String {
        self.path.replace(' ', "-")
    }

    fn chapter(&self) -> String {
        let own = self.sections.iter().filter(|section| !section.is_elsewhere());
        let sections: String = own.filter_map(Section::block).collect();
        let block = fenced(&format!("{}{sections}", self.usage));
        format!("### {}\n\n{}.\n\n{block}\n", self.path, self.about)
    }
}

impl Section {
    /// Cuts a text where a line at the margin ends with a colon, and where prose begins, which has no title.
    fn all(text: &str) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for line in text.lines() {
            let at_margin = !line.is_empty() && !line.starts_with(' ');
            let title = line.strip_suffix(':').filter(|_| at_margin);
            match all.last_mut() {
                Some(last) if title.is_none() && (!at_margin || last.title.is_empty()) => {
                    last.lines.push(line.to_owned());
                }
                _ => all.push(Self::begun(title, line)),
            }
        }
        all
    }

    fn begun(title: Option<&str>, line: &str) -> Self {
        match title {
            Some(title) => Self {
                title: title.to_owned(),
                lines: Vec::new(),
            },
            None => Self {
                title: String::new(),
                lines: vec![line.to_owned()],
            },
        }
    }

    fn is_elsewhere(&self) -> bool {
        ELSEWHERE
            .iter()
            .any(|title| self.title.split(" (").next() == Some(title))
    }

    /// The section without the option that every command has; nothing if there is no other.
    fn block(&self) -> Option<String> {
        let text = self.lines.join("\n");
        let text = match text.split_once("  -h, --help") {
            Some((before, after)) if after.contains("-V, --version") => {
                format!("{before}  -V, --version{}", after.split_once("-V, --version")?.1)
            }
            Some((before, after)) => format!("{before}{}", after_option(after)),
            None => text,
        };
        let text = text.trim_end();
        let title = if self.title.is_empty() {
            String::new()
        } else {
            format!("{}:\n", self.title)
        };
        (!text.is_empty()).then(|| format!("\n{title}{text}\n"))
    }
}

/// What follows an option's own lines.
fn after_option(text: &str) -> &str {
    text.split_once("\n\n").map_or("", |(_, rest)| rest)
}

/// What a command line writes.
fn said(line: &str) -> String {
    let mut words = line.split(' ');
    let program = binary(words.next().expect("a program"));
    let output = Command::new(program)
        .args(words)
        .env_clear()
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "`{line}` failed");
    String::from_utf8(output.stdout).expect("the help is text")
}

/// The commands of a program, each before those below it.
fn commands(path: &str) -> Vec<Entry> {
    let entry = Entry::read(path);
    let below: Vec<_> = entry.below().iter().flat_map(|path| commands(path)).collect();
    [entry].into_iter().chain(below).collect()
}

fn page() -> String {
    let programs = ["mcpr-ctl", "mcpr-gateway"].map(commands);
    let mut page = format!("# Commands\n\n<!-- Generated. To make it anew: {UPDATE} -->\n\n{HEAD}\n");
    programs.iter().for_each(|commands| page += &contents(commands));
    programs.iter().for_each(|commands| page += &program(commands));
    TOPICS
        .iter()
        .for_each(|(topic, title)| page += &chapter(topic, title));
    page.trim_end().to_owned() + "\n"
}

fn contents(commands: &[Entry]) -> String {
    let mut table = String::from("| command | what it does |\n| --- | --- |\n");
    for entry in commands {
        let about = entry.about.replace('|', "\\|");
        let _ = writeln!(table, "| [`{}`](#{}) | {about} |", entry.path, entry.anchor());
    }
    table + "\n"
}

fn program(commands: &[Entry]) -> String {
    let name = &commands[0].path;
    let global = commands[0].section("Global options").and_then(Section::block);
    let global = global.map(|block| {
        format!(
            "Every command of `{name}` understands these too:\n\n{}\n",
            fenced(&block)
        )
    });
    let chapters: String = commands.iter().map(Entry::chapter).collect();
    format!(
        "## The commands of {name}\n\n{}{chapters}",
        global.unwrap_or_default()
    )
}

fn chapter(topic: &str, title: &str) -> String {
    let text = said(&format!("mcpr-ctl {topic}"));
    format!("## {title}\n\n{}\n", fenced(&text))
}

fn fenced(text: &str) -> String {
    format!("```text\n{}\n```\n", text.trim_matches('\n'))
}

#[test]
fn the_page_of_commands_says_what_the_programs_say() {
    let (path, page) = (root().join(PAGE), page());
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let different = || {
        let mut pairs = page.lines().zip(written.lines().chain(std::iter::repeat("")));
        pairs.find(|(now, before)| now != before).unwrap_or_default()
    };
    assert!(
        page == written,
        "{PAGE} is not what the programs say: {:?}\nmake it anew: {UPDATE}",
        different()
    );
}
