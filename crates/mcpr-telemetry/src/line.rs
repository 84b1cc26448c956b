//! Builds one log line, in either format, in a buffer that is used again.

use std::fmt::{self, Display};
use std::time::Duration;

use crate::clock::{Clock, stamp};
use crate::escape::{self, number, put};
use crate::level::{Format, Level};
use crate::redact::{self, Known, Secrets};

/// A value is cut at this length.
const VALUE_MAX: usize = 2 * 1024;
/// A line is never longer than this.
pub(crate) const LINE_MAX: usize = 16 * 1024;
/// So much of a value is looked at: a secret that begins before the cut must be seen far enough to be known.
const WINDOW: usize = VALUE_MAX + redact::TELLING;
/// What [`Line::finish`] may need.
const TAIL: usize = 32;

/// How this process writes lines: everything but what they say.
#[derive(Clone)]
pub(crate) struct Voice {
    pub(crate) format: Format,
    pub(crate) clock: Clock,
    pub(crate) secrets: Secrets,
}

/// A line that is being written; every text that enters it is scrubbed, cut and escaped.
pub(crate) struct Line<'a> {
    out: &'a mut Vec<u8>,
    format: Format,
    known: &'a Known,
    cut: bool,
}

/// Collects what a `Display` or `Debug` writes, up to what a line can use of it.
#[derive(Default)]
pub(crate) struct Clip {
    text: String,
    missing: usize,
}

impl Voice {
    /// Writes one line into `out`, which held another line before.
    pub(crate) fn line(&self, level: Level, out: &mut Vec<u8>, fill: impl FnOnce(&mut Line<'_>)) {
        let known = self.secrets.known();
        out.clear();
        let mut line = Line {
            out,
            format: self.format,
            known: &known,
            cut: false,
        };
        line.begin(level, (self.clock)());
        fill(&mut line);
        line.finish();
    }

    /// Writes a line about logging itself.
    pub(crate) fn own(&self, level: Level, out: &mut Vec<u8>, message: &str) {
        self.line(level, out, |line| {
            line.target(env!("CARGO_CRATE_NAME"));
            line.message(message);
        });
    }
}

impl Line<'_> {
    /// Where an event comes from.
    pub(crate) fn target(&mut self, target: &str) {
        match self.format {
            Format::Json => self.text("target", target),
            Format::Pretty => self.heading(target),
        }
    }

    /// A word that leads a pretty line; a JSON line tells its kind by its keys.
    pub(crate) fn heading(&mut self, heading: &str) {
        if self.format == Format::Pretty {
            put(self.out, format_args!(" {heading}:"));
        }
    }

    /// What an event says in words.
    pub(crate) fn message(&mut self, message: &str) {
        self.clipped_message(message, 0);
    }

    /// A value that is a text.
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.clipped(key, value, 0);
    }

    /// A word of mcpr's own, in which there is nothing to hide or to escape.
    pub(crate) fn word(&mut self, key: &str, word: &'static str) {
        self.field(key, |line| {
            let quote: &[u8] = if line.format == Format::Json { b"\"" } else { b"" };
            for piece in [quote, word.as_bytes(), quote] {
                line.out.extend_from_slice(piece);
            }
        });
    }

    /// A text, or in JSON a `null` so that every record has the same keys.
    pub(crate) fn text_or_null(&mut self, key: &str, value: Option<&str>) {
        match (value, self.format) {
            (Some(value), _) => self.text(key, value),
            (None, Format::Json) => self.bare(key, "null"),
            (None, Format::Pretty) => {}
        }
    }

    /// A number.
    pub(crate) fn number(&mut self, key: &str, value: u64) {
        self.field(key, |line| number(line.out, value));
    }

    /// A value that needs no quotes.
    pub(crate) fn bare(&mut self, key: &str, value: impl Display) {
        self.field(key, |line| put(line.out, format_args!("{value}")));
    }

    /// A duration in milliseconds with three decimals.
    pub(crate) fn millis(&mut self, key: &str, value: Duration) {
        let micros = value.as_micros();
        self.field(key, |line| {
            number(line.out, u64::try_from(micros / 1000).unwrap_or(u64::MAX));
            line.out.push(b'.');
            let rest = (micros % 1000) as u16;
            line.out
                .extend([rest / 100, rest / 10 % 10, rest % 10].map(|digit| b'0' + digit as u8));
        });
    }

    /// A value, or the message, that was collected from a `Display` or `Debug`.
    pub(crate) fn clip(&mut self, key: &str, clip: &Clip) {
        match key {
            "message" => self.clipped_message(&clip.text, clip.missing),
            key => self.clipped(key, &clip.text, clip.missing),
        }
    }

    fn begin(&mut self, level: Level, now: std::time::SystemTime) {
        match self.format {
            Format::Json => {
                self.out.extend_from_slice(b"{\"timestamp\":\"");
                stamp(now, self.out);
                for piece in ["\",\"level\":\"", level.name(), "\""] {
                    self.out.extend_from_slice(piece.as_bytes());
                }
            }
            Format::Pretty => {
                stamp(now, self.out);
                put(self.out, format_args!(" {}", level.padded()));
            }
        }
    }

    fn finish(&mut self) {
        let end: &[u8] = match (self.format, self.cut) {
            (Format::Json, false) => b"}\n",
            (Format::Json, true) => b",\"cut\":true}\n",
            (Format::Pretty, false) => b"\n",
            (Format::Pretty, true) => b" cut=true\n",
        };
        self.out.extend_from_slice(end);
    }

    fn clipped(&mut self, key: &str, value: &str, missing: usize) {
        if missing == 0 && self.format == Format::Json && redact::is_known_plain(self.known, value) {
            return self.field(key, |line| {
                line.out.reserve(value.len() + 2);
                line.out.push(b'"');
                line.out.extend_from_slice(value.as_bytes());
                line.out.push(b'"');
            });
        }
        let value = redact::bounded(self.known, value, VALUE_MAX, missing);
        self.field(key, |line| match line.format {
            Format::Json => escape::json(line.out, &value),
            Format::Pretty => escape::value(line.out, &value),
        });
    }

    fn clipped_message(&mut self, message: &str, missing: usize) {
        if self.format == Format::Json {
            return self.clipped("message", message, missing);
        }
        let message = redact::bounded(self.known, message, VALUE_MAX, missing);
        self.within_limit(|line| {
            line.out.push(b' ');
            escape::prose(line.out, &message);
        });
    }

    fn field(&mut self, key: &str, value: impl FnOnce(&mut Self)) {
        self.within_limit(|line| {
            let (open, close): (&[u8], &[u8]) = match line.format {
                Format::Json => (b",\"", b"\":"),
                Format::Pretty => (b" ", b"="),
            };
            // Plain copies: the machinery of `format_args!` took a fifth of the time of a record.
            line.out.extend_from_slice(open);
            line.out.extend_from_slice(key.as_bytes());
            line.out.extend_from_slice(close);
            value(line);
        });
    }

    /// Takes a part back that would make the line too long; later, shorter parts may still fit.
    fn within_limit(&mut self, write: impl FnOnce(&mut Self)) {
        let mark = self.out.len();
        write(self);
        if self.out.len() > LINE_MAX - TAIL {
            self.out.truncate(mark);
            self.cut = true;
        }
    }
}

impl Clip {
    /// What the arguments write.
    pub(crate) fn of(text: fmt::Arguments<'_>) -> Self {
        let mut clip = Self::default();
        // A `Display` that fails has told what it could.
        let _ = fmt::write(&mut clip, text);
        clip
    }
}

impl fmt::Write for Clip {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = redact::floor(text, WINDOW.saturating_sub(self.text.len()));
        // After the first gap nothing more may be added, or the text would read as if it were whole.
        let fits = if self.missing == 0 { fits } else { 0 };
        self.text.push_str(&text[..fits]);
        self.missing += text.len() - fits;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn line(format: Format, fill: impl FnOnce(&mut Line<'_>)) -> String {
        let voice = Voice {
            format,
            clock: clock::fixed,
            secrets: Secrets::default(),
        };
        voice.secrets.add("S3CRET1");
        let mut out = b"the line before".to_vec();
        voice.line(Level::Warn, &mut out, fill);
        String::from_utf8(out).unwrap()
    }

    fn event(line: &mut Line<'_>) {
        line.target("mcpr_core");
        line.message("the server is gone\nforged");
        line.text("server", "my git");
        line.text("reason", "Bearer S3CRET1 refused");
        line.bare("attempt", 3);
        line.millis("elapsed", Duration::from_micros(1_234_567));
    }

    #[test]
    fn log_01_a_pretty_line_reads_from_left_to_right() {
        insta::assert_snapshot!(line(Format::Pretty, event).trim_end(), @r#"2025-01-15T10:30:45.123Z  WARN mcpr_core: the server is gone\nforged server="my git" reason="Bearer [redacted] refused" attempt=3 elapsed=1234.567"#);
    }

    #[test]
    fn log_01_a_json_line_is_one_object() {
        insta::assert_snapshot!(line(Format::Json, event).trim_end(), @r#"{"timestamp":"2025-01-15T10:30:45.123Z","level":"warn","target":"mcpr_core","message":"the server is gone\nforged","server":"my git","reason":"Bearer [redacted] refused","attempt":3,"elapsed":1234.567}"#);
    }

    #[test]
    fn log_04_a_long_value_is_cut_and_says_so() {
        let line = line(Format::Json, |line| line.text("text", &"x".repeat(50_000)));
        assert!(line.len() < VALUE_MAX + 200);
        assert!(line.ends_with("x… (47952 bytes more)\"}\n"));
    }

    #[test]
    fn log_04_a_secret_across_the_cut_does_not_show_its_beginning() {
        let text = "x".repeat(VALUE_MAX - 3) + "S3CRET1" + &"y".repeat(5000);

        let line = line(Format::Json, |line| line.text("text", &text));

        assert!(line.contains("x[re… ("));
        assert!(!line.contains("S3C"));
    }

    #[test]
    fn log_04_a_long_line_leaves_out_what_does_not_fit() {
        let line = line(Format::Json, |line| {
            (0..20).for_each(|_| line.text("text", &"\u{1}".repeat(VALUE_MAX)));
            line.text("server", "git");
        });

        let back: serde_json::Value = serde_json::from_str(&line).unwrap();

        assert!(line.len() <= LINE_MAX);
        assert_eq!((&back["server"], &back["cut"]), (&"git".into(), &true.into()));
    }

    #[test]
    fn log_04_an_endless_display_is_not_kept_in_memory() {
        let clip = Clip::of(format_args!("{}{}", "é".repeat(50_000), "end"));

        let line = line(Format::Pretty, |line| line.clip("text", &clip));

        assert_eq!(clip.text.len(), WINDOW);
        assert!(
            line.ends_with("… (97955 bytes more)\"\n"),
            "{}",
            &line[line.len() - 40..]
        );
    }
}
