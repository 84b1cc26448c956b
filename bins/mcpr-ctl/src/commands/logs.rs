//! The log of the gateway.

mod entry;
mod level;
mod pretty;
mod source;
mod tail;
mod wanted;

use std::collections::VecDeque;
use std::time::Duration;

use mcpr_admin::{ExitCode, ListServers};
use mcpr_auth::Timestamp;
use tokio::time::sleep;

use self::entry::Entry;
use self::source::Source;
use self::tail::Tail;
use self::wanted::Wanted;
use crate::cli::Global;
use crate::cli::logs::{LogChange, Logs, Reading, ServerLogs};
use crate::connect::Gateway;
use crate::interrupt::unless_interrupted;
use crate::out::Out;
use crate::out::look::Look;
use crate::out::text::tame_json;
use crate::problem::Problem;
use crate::suggest;

/// How the log is read, and what of it.
struct Reader<'a> {
    out: &'a Out,
    wanted: Wanted,
    /// How an entry looks to people.
    line: fn(&Entry, &Look) -> String,
    /// What to say if nothing was found.
    nothing: String,
}

/// How long a new line may take to be seen.
const PAUSE: Duration = Duration::from_millis(200);
/// After so many pauses it is looked whether the log goes on elsewhere.
const PAUSES: u32 = 5;
/// So much is written at once.
const CHUNK: usize = 64 << 10;
/// So many lines stand before those that are followed.
const BEFORE: usize = 10;

/// `logs`
pub(super) async fn logs(global: &Global, out: &Out, asked: &Logs) -> Result<ExitCode, Problem> {
    if let Some(LogChange::Level { level }) = asked.change {
        return level::level(&Gateway::locate(global)?, out, level).await;
    }
    let reader = Reader {
        out,
        wanted: Wanted {
            level: asked.level,
            server: asked.server.clone(),
            request: asked.request.clone(),
            since: begin(&asked.reading),
            said: false,
        },
        line: Entry::line,
        nothing: "the log has no such lines".to_owned(),
    };
    reader.run(global, &asked.reading).await
}

/// `servers logs`
pub(super) async fn of_server(global: &Global, out: &Out, asked: &ServerLogs) -> Result<ExitCode, Problem> {
    let name = &asked.name;
    let reader = Reader {
        out,
        wanted: Wanted {
            server: Some(name.clone()),
            since: begin(&asked.reading),
            said: true,
            ..Wanted::default()
        },
        line: Entry::said,
        nothing: format!(
            "the log has nothing that `{name}` wrote to standard error; it is logged at the level debug: \
             `mcpr-ctl logs level debug`"
        ),
    };
    reader.run(global, &asked.reading).await
}

fn begin(reading: &Reading) -> Option<Timestamp> {
    reading.since.map(|since| since.from(Timestamp::now()))
}

impl Reader<'_> {
    async fn run(&self, global: &Global, reading: &Reading) -> Result<ExitCode, Problem> {
        let (source, path) = Source::find(global, self.out).await?;
        let mut tail = source.open(path)?;
        let found = self.found(&mut tail, reading)?;
        if found.is_empty() {
            self.explain_nothing(&source).await?;
        }
        if !self.write(found)? || !reading.follow {
            return Ok(ExitCode::Ok);
        }
        let followed = unless_interrupted(self.follow(&source, tail)).await;
        followed.unwrap_or(Ok(ExitCode::Interrupted))
    }

    /// The lines that are there already.
    fn found(&self, tail: &mut Tail, reading: &Reading) -> Result<VecDeque<String>, Problem> {
        let usual = (reading.follow && reading.since.is_none()).then_some(BEFORE);
        let most = reading.lines.or(usual).unwrap_or(usize::MAX);
        let mut found = VecDeque::new();
        while let Some(line) = tail.line()? {
            found.extend(self.shown(line));
            if found.len() > most {
                found.pop_front();
            }
        }
        Ok(found)
    }

    /// Writes what is added to the log, wherever it goes on, until nobody reads it.
    async fn follow(&self, source: &Source<'_>, mut tail: Tail) -> Result<ExitCode, Problem> {
        let mut pauses = 0;
        while self.write(self.added(&mut tail)?)? {
            sleep(PAUSE).await;
            pauses = (pauses + 1) % PAUSES;
            if pauses > 0 {
                continue;
            }
            if let Some(next) = source.next(&tail).await {
                // What was written meanwhile.
                self.write(self.added(&mut tail)?)?;
                self.out
                    .note(&format!("the log goes on in {}", next.path().display()));
                tail = next;
            }
        }
        Ok(ExitCode::Ok)
    }

    fn added(&self, tail: &mut Tail) -> Result<VecDeque<String>, Problem> {
        let mut added = VecDeque::new();
        while let Some(line) = tail.line()? {
            added.extend(self.shown(line));
        }
        Ok(added)
    }

    /// The line as it is shown, if it is.
    fn shown(&self, line: String) -> Option<String> {
        let entry = Entry::of(line);
        if !self.wanted.takes(&entry) {
            return None;
        }
        Some(match self.out.is_json() {
            true if self.out.is_terminal() => tame_json(&entry.json()),
            true => entry.json(),
            false => (self.line)(&entry, &self.out.look()),
        })
    }

    /// Writes lines, and tells whether anybody still reads.
    fn write(&self, lines: VecDeque<String>) -> Result<bool, Problem> {
        let mut chunk = String::new();
        for line in lines {
            chunk.push_str(&line);
            chunk.push('\n');
            if chunk.len() > CHUNK && !self.out.feed(std::mem::take(&mut chunk).as_bytes())? {
                return Ok(false);
            }
        }
        self.out.feed(chunk.as_bytes())
    }

    /// Nothing was found: because the server does not exist, or else that is worth a word.
    async fn explain_nothing(&self, source: &Source<'_>) -> Result<(), Problem> {
        let named = self.wanted.server.as_deref();
        let servers = match named {
            Some(_) => source.gateway().ask(&ListServers {}).await.ok(),
            None => None,
        };
        if let (Some(name), Some(list)) = (named, servers)
            && !list.servers.iter().any(|server| server.name == name)
        {
            let problem = Problem::not_found(format!("there is no server `{name}`"));
            return Err(suggest::server(source.gateway(), named, problem).await);
        }
        self.out.note(&self.nothing);
        Ok(())
    }
}
