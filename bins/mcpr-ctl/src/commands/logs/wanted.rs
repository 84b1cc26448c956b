//! Which lines are wanted.

use mcpr_auth::Timestamp;
use mcpr_telemetry::Level;

use super::entry::Entry;

/// Which lines are wanted: those that fit everything that is said here.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Not less grave than this.
    pub(super) level: Option<Level>,
    /// About this server.
    pub(super) server: Option<String>,
    /// About the request with this id, mcpr's or its client's.
    pub(super) request: Option<String>,
    /// Not older than this.
    pub(super) since: Option<Timestamp>,
    /// Only what servers wrote to their standard error.
    pub(super) said: bool,
}

/// Events and the records of requests have different keys for the same.
const SERVER: [&str; 2] = ["serverName", "server"];
const REQUEST: [&str; 2] = ["requestId", "request_id"];
const CORRELATION: [&str; 2] = ["correlationId", "correlation_id"];

impl Wanted {
    /// Whether a line is wanted.
    pub(super) fn takes(&self, entry: &Entry) -> bool {
        let is = |wanted: &Option<String>, keys: &[&[&str]]| match wanted {
            Some(wanted) => keys.iter().any(|keys| entry.field(keys) == Some(wanted)),
            None => true,
        };
        self.level.is_none_or(|least| entry.facts.level >= Some(least))
            && is(&self.server, &[&SERVER])
            && is(&self.request, &[&REQUEST, &CORRELATION])
            && self.since.is_none_or(|since| is_after(entry, since))
            && (!self.said || entry.is_said())
    }
}

/// Both times are in UTC and of the same form, up to the second.
fn is_after(entry: &Entry, since: Timestamp) -> bool {
    let second = |text: &str| text.get(..19).map(str::to_owned);
    second(&entry.facts.time) >= second(&since.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 4] = [
        "2027-01-15T08:00:00.123Z  INFO call: requestId=7 correlationId=0b7e serverName=git status=ok",
        "2027-01-15T08:00:01.123Z  WARN mcpr_core: the server is gone server=git",
        "2027-01-15T08:00:02.123Z DEBUG mcpr_transport::child: stderr server=docs text=oops",
        "panicked at nothing",
    ];

    fn taken(wanted: Wanted) -> Vec<usize> {
        let entries = LINES.map(|line| Entry::of(line.to_owned()));
        (0..LINES.len())
            .filter(|index| wanted.takes(&entries[*index]))
            .collect()
    }

    #[test]
    fn ctl_01_lines_are_chosen_by_level_server_request_and_time() {
        let text = |text: &str| Some(text.to_owned());
        let server = |name| Wanted {
            server: text(name),
            ..Wanted::default()
        };
        let request = |id| Wanted {
            request: text(id),
            ..Wanted::default()
        };
        let level = Wanted {
            level: Some(Level::Info),
            ..Wanted::default()
        };
        let since = Wanted {
            since: Some(Timestamp::from_unix(1_800_000_001)),
            ..Wanted::default()
        };

        assert_eq!(taken(Wanted::default()), [0, 1, 2, 3]);
        assert_eq!(taken(level), [0, 1]);
        assert_eq!(taken(server("git")), [0, 1]);
        assert_eq!(taken(request("7")), [0]);
        assert_eq!(taken(request("0b7e")), [0]);
        assert_eq!(taken(since), [1, 2]);
        assert_eq!(
            taken(Wanted {
                said: true,
                ..server("docs")
            }),
            [2]
        );
        assert_eq!(
            taken(Wanted {
                said: true,
                ..server("git")
            }),
            [0; 0]
        );
    }
}
