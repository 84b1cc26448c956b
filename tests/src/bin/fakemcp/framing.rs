//! Server-sent events, in all the spellings that the grammar allows.

use bytes::Bytes;

use crate::message::one_line;
use crate::spec::{Spec, SseStyle};

/// How a spec wants its events written.
#[derive(Clone, Debug)]
pub(crate) struct Framing {
    end: &'static str,
    styles: Vec<SseStyle>,
}

impl Framing {
    /// The spelling of a spec.
    pub(crate) fn of(spec: &Spec) -> Self {
        let styles = spec.sse_style.clone();
        let end = match (spec.crlf, styles.contains(&SseStyle::Cr)) {
            (true, _) => "\r\n",
            (false, true) => "\r",
            (false, false) => "\n",
        };
        Self { end, styles }
    }

    /// What a stream begins with.
    pub(crate) fn opening(&self) -> Bytes {
        let priming = if self.has(SseStyle::Priming) {
            vec!["id: p1".to_owned(), "data:".to_owned()]
        } else {
            vec![]
        };
        if priming.is_empty() {
            Bytes::new()
        } else {
            self.block(&priming)
        }
    }

    /// An event that carries a message.
    pub(crate) fn message(&self, text: &str) -> Bytes {
        self.event("message", &one_line(text))
    }

    /// An event of any type.
    pub(crate) fn event(&self, name: &str, data: &str) -> Bytes {
        let mut lines = Vec::new();
        let mut add = |style, line: &str| {
            if self.has(style) {
                lines.push(line.to_owned());
            }
        };
        add(SseStyle::Comments, ": keep-alive");
        add(SseStyle::Unknown, "weather: fine");
        add(SseStyle::Ids, "id: e-1");
        add(SseStyle::Retry, "retry: 1500");
        if !self.has(SseStyle::NoEvent) {
            lines.push(format!("event: {name}"));
        }
        lines.extend(self.data(data));
        self.block(&lines)
    }

    fn data(&self, data: &str) -> Vec<String> {
        let space = if self.has(SseStyle::NoSpace) { "" } else { " " };
        let line = |part: &str| format!("data:{space}{part}");
        // A line end after the first brace is white space in JSON.
        match data.strip_prefix('{').filter(|_| self.has(SseStyle::Split)) {
            Some(rest) => vec![line("{"), line(rest)],
            None => vec![line(data)],
        }
    }

    fn block(&self, lines: &[String]) -> Bytes {
        format!("{}{}{}", lines.join(self.end), self.end, self.end).into()
    }

    fn has(&self, style: SseStyle) -> bool {
        self.styles.contains(&style)
    }
}
