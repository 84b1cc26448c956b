//! Drains a child's stderr: a bounded tail for failure messages, a bounded trickle for the log.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memchr::{memchr2, memmem};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tracing::debug;

use super::env::EnvValue;
use crate::spellings;

/// What a child has said last.
#[derive(Clone, Debug)]
pub(super) struct Stderr {
    tail: Arc<Mutex<Tail>>,
    ended: watch::Receiver<bool>,
}

/// The end that reads.
#[derive(Debug)]
pub(super) struct Drain {
    server: String,
    mask: Mask,
    meter: Meter,
    tail: Arc<Mutex<Tail>>,
    ended: watch::Sender<bool>,
}

/// The last lines, bounded in number and bytes.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    bytes: usize,
}

/// Cuts bytes into lines that end with LF or CR (progress bars), none longer than [`LINE_MAX`].
#[derive(Debug, Default)]
struct Cutter {
    line: Vec<u8>,
    /// Whether the rest of the line is left out.
    full: bool,
}

/// Hides the values of configured variables, which servers like to repeat.
#[derive(Debug)]
struct Mask(Vec<(String, EnvValue)>);

/// Lets so much into the log in each second.
#[derive(Debug)]
struct Meter {
    since: Instant,
    lines: u32,
    bytes: usize,
    left_out: u64,
}

const LINE_MAX: usize = 64 << 10;
const READ: usize = 8 << 10;
const TAIL_LINES: usize = 20;
const TAIL_BYTES: usize = 4 << 10;
const LOG_LINES: u32 = 100;
const LOG_BYTES: usize = 256 << 10;
/// A shorter value is no secret, and hiding it would make the text unreadable.
const SECRET_MIN: usize = 6;

/// Both ends for the child of `server`; the values of `env` will not show.
pub(super) fn stderr(server: &str, env: &[(String, EnvValue)]) -> (Stderr, Drain) {
    let (ended, watching) = watch::channel(false);
    let tail = Arc::<Mutex<Tail>>::default();
    let drain = Drain {
        server: server.to_owned(),
        mask: Mask::new(env),
        meter: Meter::new(),
        tail: tail.clone(),
        ended,
    };
    (
        Stderr {
            tail,
            ended: watching,
        },
        drain,
    )
}

impl Stderr {
    /// The last lines, joined.
    pub(super) fn tail(&self) -> String {
        let tail = self.tail.lock();
        tail.lines
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Waits until all has been read.
    pub(super) async fn ended(&self) {
        // An error means that the drain is gone, which is an end too.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

impl Drain {
    /// Reads until the last holder of the pipe has closed it.
    pub(super) async fn run(mut self, mut source: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; READ];
        let mut cutter = Cutter::default();
        while let Ok(count @ 1..) = source.read(&mut buffer).await {
            cutter.push(&buffer[..count], |line, cut| self.take(line, cut));
        }
        cutter.end(|line, cut| self.take(line, cut));
        self.report(self.meter.left_out);
        self.ended.send_replace(true);
    }

    fn take(&mut self, line: &[u8], cut: bool) {
        let line = plain(&self.mask.apply(line, cut));
        let (admitted, left_out) = self.meter.admit(Instant::now(), line.len());
        self.report(left_out);
        if admitted {
            debug!(server = %self.server, text = %line, "stderr");
        }
        self.tail.lock().push(line);
    }

    fn report(&self, left_out: u64) {
        if left_out > 0 {
            debug!(server = %self.server, count = left_out, "stderr lines left out, they came too fast");
        }
    }
}

impl Tail {
    fn push(&mut self, mut line: String) {
        line.truncate(boundary(&line, TAIL_BYTES));
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > TAIL_LINES || self.bytes > TAIL_BYTES {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
        }
    }
}

impl Cutter {
    /// Gives `emit` each line that `bytes` complete, and whether it has been cut. A line that
    /// reaches the limit is given at once.
    fn push(&mut self, mut bytes: &[u8], mut emit: impl FnMut(&[u8], bool)) {
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            self.extend(&bytes[..end], &mut emit);
            self.end(&mut emit);
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes, &mut emit);
    }

    fn extend(&mut self, bytes: &[u8], emit: impl FnOnce(&[u8], bool)) {
        if self.full {
            return;
        }
        let room = LINE_MAX - self.line.len();
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            emit(&self.line, true);
            self.full = true;
        }
    }

    fn end(&mut self, emit: impl FnOnce(&[u8], bool)) {
        if !self.full && !self.line.trim_ascii().is_empty() {
            emit(&self.line, false);
        }
        *self = Self::default();
    }
}

impl Mask {
    /// Each line of each value counts by itself, in each way in which it is likely to be quoted: a key in PEM is written
    /// over many.
    fn new(env: &[(String, EnvValue)]) -> Self {
        let lines = env.iter().flat_map(|(name, value)| {
            let lines = value
                .reveal()
                .lines()
                .map(str::trim)
                .filter(|line| line.len() >= SECRET_MIN);
            let spelled = lines.flat_map(spellings::of);
            spelled.map(|line| (name.clone(), EnvValue::new(line)))
        });
        let mut hidden: Vec<_> = lines.collect();
        // The longest first, so that a value that holds another is hidden whole.
        hidden.sort_by_key(|(_, value)| std::cmp::Reverse(value.reveal().len()));
        Self(hidden)
    }

    /// The line with the name of the variable in the place of each value. Of a line that has been
    /// cut, the end is left out, where half a value may stand.
    fn apply(&self, line: &[u8], cut: bool) -> String {
        let mut masked = String::new();
        let mut copied = 0;
        let mut search = Search::new(&self.0, line);
        while let Some((name, place)) = search.next() {
            masked += &String::from_utf8_lossy(&line[copied..place.start]);
            masked += &format!("[env {name}]");
            copied = place.end;
        }
        let doubtful = self
            .0
            .first()
            .filter(|_| cut)
            .map_or(0, |(_, value)| value.reveal().len());
        let end = line.len().saturating_sub(doubtful).max(copied);
        masked + &String::from_utf8_lossy(&line[copied..end])
    }
}

/// Looks for values in a line, for each of them once from its beginning to its end.
struct Search<'v> {
    line: &'v [u8],
    /// The values that are still there, with the place where each stands next.
    next: Vec<(usize, &'v str, &'v [u8])>,
}

impl<'v> Search<'v> {
    fn new(values: &'v [(String, EnvValue)], line: &'v [u8]) -> Self {
        let values = values
            .iter()
            .map(|(name, value)| (&**name, value.reveal().as_bytes()));
        let found = values.filter_map(|(name, value)| Some((memmem::find(line, value)?, name, value)));
        Self {
            line,
            next: found.collect(),
        }
    }

    /// The name of the first value, the longest of those that begin there, and its place. One that begins inside
    /// another makes that longer.
    fn next(&mut self) -> Option<(&'v str, Range<usize>)> {
        let (start, name, value) = *self.next.iter().min_by_key(|(at, ..)| *at)?;
        let mut end = start + value.len();
        while let Some(overlapping) = self.next.iter_mut().find(|(at, ..)| *at < end) {
            let (at, _, value) = overlapping;
            end = end.max(*at + value.len());
            let from = *at + 1;
            match memmem::find(&self.line[from..], value) {
                Some(behind) => *at = from + behind,
                None => *at = usize::MAX,
            }
        }
        self.next.retain(|(at, ..)| *at < usize::MAX);
        Some((name, start..end))
    }
}

impl Meter {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            lines: 0,
            bytes: 0,
            left_out: 0,
        }
    }

    /// Whether a line of `len` bytes may be logged now, and how many to report as left out before.
    fn admit(&mut self, now: Instant, len: usize) -> (bool, u64) {
        let mut report = 0;
        if now.duration_since(self.since) >= Duration::from_secs(1) {
            report = self.left_out;
            *self = Self {
                since: now,
                lines: 0,
                bytes: 0,
                left_out: 0,
            };
        }
        let admitted = self.lines < LOG_LINES && self.bytes < LOG_BYTES;
        self.lines += u32::from(admitted);
        self.bytes += if admitted { len } else { 0 };
        self.left_out += u64::from(!admitted);
        (admitted, report)
    }
}

/// The last place at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// The text without terminal control sequences and other control characters.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\x1b' if rest.as_str().starts_with('[') => {
                // A control sequence ends with its first letter or the like (ECMA-48, 5.4).
                rest.by_ref().skip(1).find(|c| matches!(c, '\x40'..='\x7e'));
            }
            '\t' => plain.push(' '),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<(usize, bool)> {
        let (mut cutter, mut lines) = (Cutter::default(), Vec::new());
        for piece in pieces {
            cutter.push(piece, |line, cut| lines.push((line.len(), cut)));
        }
        cutter.end(|line, cut| lines.push((line.len(), cut)));
        lines
    }

    fn mask(values: &[(&str, &str)]) -> Mask {
        let env: Vec<_> = values
            .iter()
            .map(|&(name, value)| (name.to_owned(), EnvValue::new(value)))
            .collect();
        Mask::new(&env)
    }

    #[test]
    fn b58_an_endless_line_is_given_once_and_cut() {
        let (mut cutter, mut lines) = (Cutter::default(), Vec::new());
        for _ in 0..50_000_000 / READ {
            cutter.push(&[b'x'; READ], |line, cut| lines.push((line.len(), cut)));
        }
        assert_eq!(lines, [(LINE_MAX, true)]);
        assert!(cutter.line.capacity() <= 2 * LINE_MAX);
    }

    #[test]
    fn b58_a_progress_bar_is_many_lines() {
        assert_eq!(
            cut(&[b"10 %\r20", b" %\r\n30 %"]),
            [(4, false), (4, false), (4, false)]
        );
    }

    #[test]
    fn a_line_after_a_cut_one_is_whole() {
        assert_eq!(
            cut(&[&[b'x'; LINE_MAX + 1], b"xx\nnext"]),
            [(LINE_MAX, true), (4, false)]
        );
        assert_eq!(cut(&[&[b'x'; LINE_MAX], b"\n"]), [(LINE_MAX, false)]);
    }

    #[test]
    fn b58_the_log_takes_so_much_in_a_second_and_counts_the_rest() {
        let (mut meter, start) = (Meter::new(), Instant::now());
        let admitted = (0..1000).filter(|_| meter.admit(start, 10).0).count();
        assert_eq!(admitted, 100);
        assert_eq!(meter.admit(start + Duration::from_secs(2), 10), (true, 900));
        let huge = (0..1000)
            .filter(|_| meter.admit(start + Duration::from_secs(4), LINE_MAX).0)
            .count();
        assert_eq!(huge, 4);
    }

    #[test]
    fn the_tail_keeps_the_last_lines_within_its_bounds() {
        let mut tail = Tail::default();
        (0..100).for_each(|n| tail.push(n.to_string()));
        assert_eq!(tail.lines.len(), TAIL_LINES);
        assert_eq!(tail.lines.back().unwrap(), "99");
        tail.push("é".repeat(LINE_MAX));
        assert_eq!((tail.lines.len(), tail.bytes), (1, TAIL_BYTES));
    }

    #[test]
    fn values_of_variables_do_not_show() {
        let mask = mask(&[
            ("KEY", "s3cr3t-long"),
            ("SHORT", "1"),
            ("PEM", "-----BEGIN\nMIIabcdef\n"),
            ("PART", "s3cr3t"),
            ("HOST_ENV", "HOST_ENV"),
        ]);
        let masked = mask.apply(b"key=s3cr3t-long, s3cr3t 1 MIIabcdef HOST_ENV.", false);
        assert_eq!(masked, "key=[env KEY], [env PART] 1 [env PEM] [env HOST_ENV].");
    }

    #[test]
    fn log_04_a_value_within_a_spelling_of_another_does_not_lay_bare_the_rest() {
        let mask = mask(&[
            ("KEY", "my\"s3cret/Prod"),
            ("STAGE", "s3cret"),
            ("NEXT", "ProdUction"),
        ]);
        for line in [
            r#"my\"s3cret/Prod"#,
            "my%22s3cret%2FProd",
            "my\"s3cret/prod",
            r#"my\\\"s3cret/Prod"#,
        ] {
            assert_eq!(mask.apply(line.as_bytes(), false), "[env KEY]", "{line}");
        }
        let both = b"my\"s3cret/ProdUction s3cret";
        assert_eq!(mask.apply(both, false), "[env KEY] [env STAGE]");
        assert_eq!(mask.apply(b"a s3cret", true), "a [env STAGE]");
    }

    #[test]
    fn sec_05_a_line_of_many_values_is_looked_through_once_for_each() {
        let names: Vec<_> = (0..500).map(|number| format!("missing-{number}")).collect();
        let mut variables: Vec<_> = names.iter().map(|name| (&**name, &**name)).collect();
        variables.push(("KEY", "s3cret"));
        let mask = mask(&variables);
        // Some milliseconds; minutes if all the rest is searched again behind each of them.
        for _ in 0..10 {
            let masked = mask.apply("s3cret".repeat(LINE_MAX / 6).as_bytes(), false);
            assert_eq!(masked.len(), "[env KEY]".len() * (LINE_MAX / 6));
        }
    }

    #[test]
    fn half_a_value_at_a_cut_does_not_show() {
        assert_eq!(
            mask(&[("KEY", "s3cr3t-long")]).apply(b"aaaaaaaaaaaaaaas3cr3t-l", true),
            "aaaaaaaaaaaa"
        );
    }

    #[test]
    fn colours_and_control_characters_are_left_out() {
        assert_eq!(
            plain("\x1b[1;31mError\x1b[0m:\tno\x07 such file \x1b]"),
            "Error: no such file ]"
        );
    }
}
