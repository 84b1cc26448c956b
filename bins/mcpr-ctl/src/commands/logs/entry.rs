//! One line of the log, in either format.

use std::fmt::Write;

use mcpr_protocol::{Object, RawJson};
use mcpr_telemetry::Level;

use super::pretty;
use crate::out::look::{Look, Paint};
use crate::out::text::printable;

/// One line of the log.
#[derive(Debug)]
pub(super) struct Entry {
    /// As it stands in the file.
    line: String,
    format: Format,
    pub(super) facts: Facts,
}

/// What a line says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) time: String,
    pub(super) level: Option<Level>,
    /// Where an event comes from; `call` for the record of a request.
    pub(super) heading: Option<String>,
    pub(super) message: String,
    pub(super) fields: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Pretty,
    /// It is not from mcpr.
    Other,
}

/// The keys whose values are numbers where mcpr writes JSON.
const NUMBERS: [&str; 8] = [
    "requestId",
    "duration",
    "errorCode",
    "httpStatus",
    "attempt",
    "count",
    "pid",
    "replica",
];
/// The keys that the record of each request has.
const ALWAYS: [&str; 2] = ["serverName", "toolName"];
/// What a server wrote to its standard error.
const SAID: &str = "stderr";
/// What it wrote was too much.
const LEFT_OUT: &str = "stderr lines left out, they came too fast";

impl Entry {
    /// Reads a line.
    pub(super) fn of(line: String) -> Self {
        let json = || facts_of_json(&line).map(|facts| (Format::Json, facts));
        let pretty = || pretty::facts(&line).map(|facts| (Format::Pretty, facts));
        let (format, facts) = json()
            .or_else(pretty)
            .unwrap_or((Format::Other, Facts::default()));
        Self { line, format, facts }
    }

    /// The value of the first of these keys that is there.
    pub(super) fn field(&self, keys: &[&str]) -> Option<&str> {
        let fields = &self.facts.fields;
        let value = |key: &&str| fields.iter().find(|(name, _)| name == key);
        keys.iter().find_map(value).map(|(_, value)| value.as_str())
    }

    /// Whether it is what a server wrote to its standard error.
    pub(super) fn is_said(&self) -> bool {
        matches!(self.facts.message.as_str(), SAID | LEFT_OUT)
    }

    /// The line for people: pretty, whatever it was.
    pub(super) fn line(&self, look: &Look) -> String {
        let facts = &self.facts;
        let Some(level) = facts.level else {
            return printable(&self.line);
        };
        let mut rest = String::new();
        if let Some(heading) = &facts.heading {
            let _ = write!(rest, " {heading}:");
        }
        if !facts.message.is_empty() {
            let _ = write!(rest, " {}", facts.message);
        }
        for (key, value) in &facts.fields {
            let _ = write!(rest, " {key}={}", pretty::value(value));
        }
        let time = look.paint(Paint::Dim, &pretty::prose(&facts.time));
        format!("{time} {}{}", painted(level, look), pretty::prose(&rest))
    }

    /// What a server wrote, with the time it did.
    pub(super) fn said(&self, look: &Look) -> String {
        let time = look.paint(Paint::Dim, &self.facts.time);
        let gap = if look.width.is_some() { "  " } else { "\t" };
        let text = match self.facts.message.as_str() {
            LEFT_OUT => format!("… {} lines left out", self.field(&["count"]).unwrap_or("some")),
            _ => self.field(&["text"]).unwrap_or_default().to_owned(),
        };
        format!("{time}{gap}{}", printable(&text))
    }

    /// The line for scripts: an object, whatever it was.
    pub(super) fn json(&self) -> String {
        match self.format {
            Format::Json => self.line.clone(),
            Format::Pretty => self.facts.json(),
            Format::Other => format!("{{\"message\":{}}}", RawJson::string(&self.line).as_str()),
        }
    }
}

impl Facts {
    fn json(&self) -> String {
        let text = |text: &str| RawJson::string(text).as_str().to_owned();
        let mut members = vec![("timestamp", text(&self.time))];
        members.extend(self.level.map(|level| ("level", text(level.name()))));
        let target = self.heading.as_deref().filter(|_| !self.is_record());
        members.extend(target.map(|target| ("target", text(target))));
        if !self.message.is_empty() {
            members.push(("message", text(&self.message)));
        }
        members.extend(
            self.fields
                .iter()
                .map(|(key, value)| (key.as_str(), typed(key, value))),
        );
        members.extend(self.missing().map(|key| (key, "null".to_owned())));
        let members = members
            .iter()
            .map(|(key, value)| format!("{}:{value}", text(key)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }

    fn is_record(&self) -> bool {
        self.heading.as_deref() == Some("call")
    }

    /// The keys that a pretty line leaves out and a JSON line does not.
    fn missing(&self) -> impl Iterator<Item = &'static str> {
        let is_there = |key: &str| self.fields.iter().any(|(name, _)| name == key);
        ALWAYS
            .into_iter()
            .filter(move |key| self.is_record() && !is_there(key))
    }
}

/// The value as mcpr writes it in JSON.
fn typed(key: &str, value: &str) -> String {
    let number = NUMBERS.contains(&key) && value.parse::<f64>().is_ok();
    match number || key == "cut" {
        true => value.to_owned(),
        false => RawJson::string(value).as_str().to_owned(),
    }
}

fn facts_of_json(line: &str) -> Option<Facts> {
    let raw = RawJson::parse(line.to_owned().into()).ok()?;
    let object = Object::read(&raw).ok()?;
    let mut facts = Facts::default();
    for (key, value) in object.members() {
        let text = value.to_text().unwrap_or_else(|| value.as_str().to_owned());
        match key {
            "timestamp" => facts.time = text,
            "level" => facts.level = Some(text.parse().ok()?),
            "target" => facts.heading = Some(text),
            "message" => facts.message = text,
            _ if value.is_null() => {}
            _ => facts.fields.push((key.to_owned(), text)),
        }
    }
    if facts.heading.is_none() && object.get("requestId").is_some() {
        facts.heading = Some("call".to_owned());
    }
    facts.level.map(|_| facts)
}

fn painted(level: Level, look: &Look) -> String {
    let text = format!("{:>5}", level.name().to_uppercase());
    match level {
        Level::Fatal | Level::Error => look.paint(Paint::Bad, &text),
        Level::Warn => look.paint(Paint::Uncertain, &text),
        Level::Info => text,
        Level::Debug | Level::Trace => look.paint(Paint::Dim, &text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: [&str; 2] = [
        r#"{"timestamp":"2025-01-15T10:30:45.123Z","level":"warn","target":"mcpr_core","message":"the server is gone","server":"my git","reason":"it said \"no\"","attempt":3,"version":"1.0"}"#,
        r#"2025-01-15T10:30:45.123Z  WARN mcpr_core: the server is gone server="my git" reason="it said \"no\"" attempt=3 version=1.0"#,
    ];
    const RECORD: [&str; 2] = [
        r#"{"timestamp":"2025-01-15T10:30:45.123Z","level":"info","requestId":7,"correlationId":"0b7e","method":"tools/list","duration":12.345,"status":"ok","serverName":null,"toolName":null}"#,
        "2025-01-15T10:30:45.123Z  INFO call: requestId=7 correlationId=0b7e method=tools/list duration=12.345 status=ok",
    ];
    const PLAIN: Look = Look {
        width: None,
        color: false,
    };

    fn entry(line: &str) -> Entry {
        Entry::of(line.to_owned())
    }

    #[test]
    fn log_01_both_formats_say_the_same() {
        for [json, pretty] in [EVENT, RECORD] {
            assert_eq!(entry(json).facts, entry(pretty).facts);
            for line in [json, pretty] {
                assert_eq!(entry(line).json(), json);
                assert_eq!(entry(line).line(&PLAIN), pretty);
            }
        }
    }

    #[test]
    fn a_line_of_another_program_is_shown_as_it_is_and_is_an_object_to_scripts() {
        for line in [
            "panicked at \u{1b}[31mx",
            r#"{"a":1}"#,
            "",
            "2025-01-15T10:30:45.123Z LOUD x",
        ] {
            assert_eq!(entry(line).facts.level, None, "{line}");
        }
        assert_eq!(entry("a\u{1b}[31m \"b\"").line(&PLAIN), "a[31m \"b\"");
        assert_eq!(entry("a \"b\"").json(), r#"{"message":"a \"b\""}"#);
    }

    #[test]
    fn ctl_01_what_a_server_said_stands_alone() {
        let said = entry(
            r#"2025-01-15T10:30:45.123Z DEBUG mcpr_transport::child: stderr server=git text="no such file""#,
        );
        let left = entry(
            r#"{"timestamp":"2025-01-15T10:30:46.123Z","level":"debug","message":"stderr lines left out, they came too fast","server":"git","count":900}"#,
        );

        assert!(said.is_said() && left.is_said());
        assert_eq!(said.said(&PLAIN), "2025-01-15T10:30:45.123Z\tno such file");
        assert_eq!(
            left.said(&PLAIN),
            "2025-01-15T10:30:46.123Z\t… 900 lines left out"
        );
    }
}
