//! What was found, for people and for scripts.

use mcpr_admin::ExitCode;
use mcpr_telemetry::Secrets;
use serde::Serialize;

use crate::out::look::{Look, Paint};
use crate::out::table::{Cell, Table};
use crate::out::text::one_line;

/// All that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// How many checks found a problem.
    problems: usize,
    /// How many found something to think about.
    warnings: usize,
    /// How many could not be made.
    unchecked: usize,
    checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    /// What kind of thing.
    check: &'static str,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// What came of looking at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Problem,
    Unchecked,
}

impl Check {
    /// All is well.
    pub(super) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, State::Ok, message)
    }

    /// It works, but probably not as it is meant.
    pub(super) fn warning(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, State::Warning, message)
    }

    /// It does not work.
    pub(super) fn problem(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, State::Problem, message)
    }

    /// It could not be looked at.
    pub(super) fn unchecked(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(check, State::Unchecked, message)
    }

    /// Says what to do about it.
    pub(super) fn fix(self, fix: impl Into<String>) -> Self {
        Self {
            fix: Some(fix.into()),
            ..self
        }
    }

    /// The same without values that must not be shown, such as what a reference in a path stands for.
    pub(super) fn scrubbed(self, secrets: &Secrets) -> Self {
        let scrub = |text: String| secrets.scrub(&text).into_owned();
        Self {
            message: scrub(self.message),
            fix: self.fix.map(scrub),
            ..self
        }
    }

    /// Says which server it is about.
    pub(super) fn of(self, server: impl Into<String>) -> Self {
        Self {
            server: Some(server.into()),
            ..self
        }
    }

    fn new(check: &'static str, state: State, message: impl Into<String>) -> Self {
        Self {
            check,
            state,
            server: None,
            message: message.into(),
            fix: None,
        }
    }

    fn message(&self) -> String {
        match &self.server {
            Some(server) => one_line(&format!("{server}: {}", self.message)),
            None => one_line(&self.message),
        }
    }
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::Unchecked => "unchecked",
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Ok => "✓",
            Self::Warning => "!",
            Self::Problem => "✗",
            Self::Unchecked => "-",
        }
    }

    fn paint(self) -> Paint {
        match self {
            Self::Ok => Paint::Good,
            Self::Warning => Paint::Uncertain,
            Self::Problem => Paint::Bad,
            Self::Unchecked => Paint::Dim,
        }
    }
}

impl Report {
    pub(super) fn of(checks: Vec<Check>) -> Self {
        let count = |state| checks.iter().filter(|check| check.state == state).count();
        Self {
            problems: count(State::Problem),
            warnings: count(State::Warning),
            unchecked: count(State::Unchecked),
            checks,
        }
    }

    /// How the command ends.
    pub(super) fn exit(&self, unreadable: bool) -> ExitCode {
        match (unreadable, self.problems) {
            (true, _) => ExitCode::ConfigInvalid,
            (false, 0) => ExitCode::Ok,
            (false, _) => ExitCode::Partly,
        }
    }

    /// All of it in one line.
    pub(super) fn verdict(&self) -> String {
        let counts = [
            (self.problems, "problem", "problems"),
            (self.warnings, "warning", "warnings"),
            (self.unchecked, "thing not checked", "things not checked"),
        ];
        let counted = counts.into_iter().filter_map(|(count, one, many)| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {many}")),
        });
        let counted: Vec<_> = counted.collect();
        match &counted[..] {
            [] => "all is well".to_owned(),
            _ => counted.join(", "),
        }
    }
}

/// Lines with marks on a terminal; elsewhere a table with words.
pub(super) fn page(report: &Report, look: &Look) -> String {
    match look.width {
        Some(_) => report.checks.iter().map(|check| lines(check, look)).collect(),
        None => table(report).draw(look),
    }
}

fn lines(check: &Check, look: &Look) -> String {
    let mark = look.paint(check.state.paint(), check.state.mark());
    let fix = check
        .fix
        .as_deref()
        .map(|fix| format!("  fix: {}\n", one_line(fix)));
    format!("{mark} {}\n{}", check.message(), fix.unwrap_or_default())
}

fn table(report: &Report) -> Table {
    let mut table = Table::new(&["STATE", "CHECK", "SERVER", "MESSAGE", "FIX"]);
    for check in &report.checks {
        table.row([
            Cell::from(check.state.as_str()).paint(check.state.paint()),
            check.check.into(),
            check.server.as_deref().into(),
            check.message.as_str().into(),
            check.fix.as_deref().into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report::of(vec![
            Check::ok("configuration", "4 servers in mcpr.json"),
            Check::problem("server", "no program `uvx` in\nPATH")
                .of("git")
                .fix("install it"),
            Check::warning("port", "taken"),
            Check::unchecked("servers", "no gateway is running"),
        ])
    }

    #[test]
    fn ctl_04_a_terminal_shows_marks_and_below_each_what_to_do() {
        let look = Look {
            width: Some(80),
            color: false,
        };
        insta::assert_snapshot!(page(&report(), &look) + &report().verdict());
    }

    #[test]
    fn ctl_01_warnings_alone_are_no_failure() {
        let exit = |checks: &[Check]| Report::of(checks.to_vec()).exit(false);

        assert_eq!(exit(&[Check::warning("port", "")]), ExitCode::Ok);
        assert_eq!(
            exit(&[Check::warning("port", ""), Check::problem("port", "")]),
            ExitCode::Partly
        );
        assert_eq!(Report::of(Vec::new()).exit(true), ExitCode::ConfigInvalid);
        assert_eq!(Report::of(vec![Check::ok("port", "")]).verdict(), "all is well");
    }
}
