//! All that is written: data to standard output, talk to standard error.

pub(crate) mod content;
pub(crate) mod facts;
pub(crate) mod indent;
pub(crate) mod live;
pub(crate) mod look;
pub(crate) mod path;
pub(crate) mod phrase;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod watch;

use std::io::{self, ErrorKind, IsTerminal, Write};

use mcpr_admin::ExitCode;
use mcpr_protocol::RawJson;
use serde::Serialize;

use self::look::{Look, Paint};
use self::text::{cut, printable, tame_json};
use crate::cli::{Color, Global};
use crate::problem::Problem;

/// Where and how things are written.
#[derive(Debug)]
pub(crate) struct Out {
    json: bool,
    quiet: bool,
    color: Color,
    look: Look,
    talk: Look,
}

#[derive(Serialize)]
struct Failed<'a> {
    error: &'a Problem,
}

impl Out {
    /// As the user wants it and the terminal can show it.
    pub(crate) fn new(global: &Global) -> Self {
        let look = Look::of(&io::stdout(), global.color);
        let talk = Look::of(&io::stderr(), global.color);
        Self {
            json: global.json,
            quiet: global.quiet,
            color: global.color,
            look,
            talk,
        }
    }

    /// JSON only, for when the command line itself is at fault.
    pub(crate) fn for_scripts() -> Self {
        let [look, talk] = [
            Look::of(&io::stdout(), Color::Never),
            Look::of(&io::stderr(), Color::Never),
        ];
        Self {
            json: true,
            quiet: true,
            color: Color::Never,
            look,
            talk,
        }
    }

    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether what is written is seen by a person at once.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether what is written may be drawn over by what comes next.
    pub(crate) fn is_drawn_over(&self) -> bool {
        self.is_terminal() && !self.json
    }

    /// What standard output can show now; the window may be another size than before.
    pub(crate) fn look(&self) -> Look {
        Look::of(&io::stdout(), self.color)
    }

    /// Shows a report: as it is to scripts, as `page` draws it to people.
    pub(crate) fn report<T: Serialize>(
        &self,
        report: &T,
        page: impl FnOnce(&T, &Look) -> String,
    ) -> Result<(), Problem> {
        if self.json {
            return self.json(report);
        }
        self.bytes(page(report, &self.look).as_bytes())
    }

    /// Shows one report of many, as [`Out::report`] does, and tells whether anybody still reads.
    pub(crate) fn line<T: Serialize>(
        &self,
        report: &T,
        line: impl FnOnce(&T, &Look) -> String,
    ) -> Result<bool, Problem> {
        match self.json {
            true => write(&self.json_line(report)),
            false => write(line(report, &self.look).as_bytes()),
        }
    }

    /// Writes data.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Problem> {
        write(bytes).map(drop)
    }

    /// Writes data, and tells whether anybody still reads.
    pub(crate) fn feed(&self, bytes: &[u8]) -> Result<bool, Problem> {
        write(bytes)
    }

    /// Tells people something that is no data.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet && !self.json {
            self.say(text);
        }
    }

    /// Tells people what is wrong, when that is not the end.
    pub(crate) fn complain(&self, problem: &Problem) {
        self.say(&self.told(problem));
    }

    /// Asks a person something, and gives the answer in lower case; nobody there gives none.
    pub(crate) fn ask(&self, question: &str) -> Result<Option<String>, Problem> {
        let mut answer = String::new();
        self.prompt(question);
        let read = io::stdin().read_line(&mut answer)?;
        Ok((read > 0).then(|| answer.trim().to_lowercase()))
    }

    /// Asks a person for something that is read without [`Out::ask`].
    pub(crate) fn prompt(&self, question: &str) {
        let _ = write!(io::stderr().lock(), "{} ", printable(question));
    }

    /// Ends the line of [`Out::prompt`], on which nothing that was typed is shown.
    pub(crate) fn end_prompt(&self) {
        self.say("");
    }

    /// Whether a person is there to be asked.
    pub(crate) fn has_person(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Shows a person at a terminal how far it is: one line, redrawn each time.
    pub(crate) fn redraw(&self, text: &str) {
        if let (Some(width), false, false) = (self.talk.width, self.quiet, self.json) {
            // Nobody is left to tell if that fails.
            let _ = write!(io::stderr().lock(), "\r\x1b[2K{}", cut(text, width));
        }
    }

    /// Takes the line of [`Out::redraw`] away.
    pub(crate) fn clear(&self) {
        self.redraw("");
    }

    /// Tells how the command ended.
    pub(crate) fn ended(&self, outcome: Result<ExitCode, Problem>) -> ExitCode {
        let problem = match outcome {
            Ok(code) => return code,
            Err(problem) => problem,
        };
        if self.json {
            // Nobody is left to tell if that fails.
            let _ = self.json(&Failed { error: &problem });
        } else {
            self.say(&self.told(&problem));
        }
        problem.exit
    }

    /// What is wrong and what to do next, for people.
    pub(crate) fn told(&self, problem: &Problem) -> String {
        let line = |paint, head, text| format!("{} {}", self.talk.paint(paint, head), printable(text));
        let error = line(Paint::Bad, "error:", &problem.message);
        match &problem.hint {
            Some(hint) => format!("{error}\n{}", line(Paint::Good, " help:", hint)),
            None => error,
        }
    }

    /// One line, without parsing and writing again what a server said.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Problem> {
        self.bytes(&self.json_line(value))
    }

    /// To a pipe or file byte for byte; a terminal gets no control characters.
    fn json_line(&self, value: &impl Serialize) -> Vec<u8> {
        let json = RawJson::render(value);
        let mut line = match self.is_terminal() {
            true => tame_json(json.as_str()).into_bytes(),
            false => json.into_bytes().to_vec(),
        };
        line.push(b'\n');
        line
    }

    /// Nobody is left to tell if that fails.
    fn say(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// Writes data, and tells whether anybody still reads.
fn write(bytes: &[u8]) -> Result<bool, Problem> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // The reader has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => Ok(written.map(|()| true)?),
    }
}
