//! Reads what nobody shall see: from a terminal without showing it, or all of standard input.

use std::io::{self, IsTerminal, Read};

use crate::out::Out;
use crate::problem::Problem;
use crate::terminal::{Manner, Terminal};

/// So much of what is piped in is read, in bytes.
const MOST: u64 = 1 << 20;

/// What was typed at a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Typed {
    Line(Vec<u8>),
    /// Ctrl-C, or the end of the input.
    Nothing,
}

/// Asks a person for a text and does not show what is typed; where nobody sits, reads what is piped in,
/// without one line break at its end. Nothing if the person would rather not.
pub(crate) fn read(out: &Out, question: &str) -> Result<Option<String>, Problem> {
    let bytes = match io::stdin().is_terminal() {
        true => match ask(out, question)? {
            Typed::Line(line) => line,
            Typed::Nothing => return Ok(None),
        },
        false => piped()?,
    };
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|_| Problem::usage("the value is not UTF-8, which no server can be given"))
}

fn piped() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Far more than any secret may have; what has no end is not read to it.
    io::stdin().lock().take(MOST).read_to_end(&mut bytes)?;
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    Ok(line.strip_suffix(b"\r").unwrap_or(line).to_vec())
}

fn ask(out: &Out, question: &str) -> io::Result<Typed> {
    let terminal = Terminal::take(Manner::Waits)?;
    out.prompt(question);
    let mut byte = [0];
    let typed = line(|| Ok((terminal.read(&mut byte)? == 1).then_some(byte[0])));
    out.end_prompt();
    typed
}

/// Reads to the end of a line, as a terminal does by itself while it shows what is typed.
fn line(mut next: impl FnMut() -> io::Result<Option<u8>>) -> io::Result<Typed> {
    const INTERRUPT: u8 = 3;
    const END: u8 = 4;
    const BACKSPACE: u8 = 8;
    const KILL: u8 = 21;
    const DELETE: u8 = 127;
    let mut line = Vec::new();
    loop {
        match next()? {
            None | Some(INTERRUPT) => return Ok(Typed::Nothing),
            Some(END) if line.is_empty() => return Ok(Typed::Nothing),
            Some(b'\n' | b'\r' | END) => return Ok(Typed::Line(line)),
            Some(BACKSPACE | DELETE) => drop_character(&mut line),
            Some(KILL) => line.clear(),
            Some(byte) => line.push(byte),
        }
    }
}

/// Takes back the last character, which may be several bytes of UTF-8.
fn drop_character(line: &mut Vec<u8>) {
    let follows = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    while line.pop().is_some_and(follows) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[u8]) -> Typed {
        let mut keys = keys.iter();
        line(|| Ok(keys.next().copied())).unwrap()
    }

    #[test]
    fn ctl_01_a_hidden_line_is_typed_as_any_other() {
        let line = |text: &str| Typed::Line(text.into());

        assert_eq!(typed(b"hunter2\nrest"), line("hunter2"));
        assert_eq!(typed(b"hux\x7fnter2\r"), line("hunter2"));
        assert_eq!(typed("aü\u{8}b\n".as_bytes()), line("ab"));
        assert_eq!(typed(b"wrong\x15right\n"), line("right"));
        assert_eq!(typed(b"\x7f\n"), line(""));
        assert_eq!(
            [typed(b"half\x03"), typed(b"\x04"), typed(b"half")],
            [Typed::Nothing, Typed::Nothing, Typed::Nothing]
        );
    }
}
