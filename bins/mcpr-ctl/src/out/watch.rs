//! Shows a report once, or again and again as it changes.

use std::time::Duration;

use mcpr_admin::{
    ExitCode, PinList, ProjectList, PromptList, ResourceList, ServerList, StatusReport, TokenList, ToolList,
    ToolsetList,
};
use mcpr_protocol::RawJson;
use serde::Serialize;
use tokio::time::sleep;

use super::Out;
use super::live::{Frame, Screen};
use super::look::Look;
use crate::cli::Repeat;
use crate::interrupt::unless_interrupted;
use crate::problem::Problem;

/// A report that can be looked at again.
pub(crate) trait Steady: Serialize + Clone {
    /// The report without what changes only because time passes.
    fn steady(self) -> Self {
        self
    }
}

/// What became of showing a report.
#[derive(Debug)]
pub(crate) enum Shown<T> {
    /// It was shown, this once.
    Once(T),
    /// It was shown until the user, or the reader, had seen enough.
    Ended(ExitCode),
}

/// Where the versions of a report go.
#[derive(Debug)]
pub(crate) enum Canvas {
    /// One below the other, those that differ from the one before.
    Paper,
    /// Each in the place of the one before.
    Frame(Frame),
    /// Each on the whole of the terminal.
    Screen(Screen),
}

/// What is known between two looks.
struct Watched<'a> {
    out: &'a Out,
    canvas: Canvas,
    /// What the latest version says, apart from what changes only because time passes.
    latest: Option<String>,
    /// The latest version as it was drawn.
    page: String,
    /// Whether the gateway is away, which has been said.
    away: bool,
}

/// Shows what `ask` gives, as it is to scripts and as `page` draws it to people: once, or as often as `repeat` says.
pub(crate) async fn report<T: Steady>(
    out: &Out,
    repeat: Repeat,
    ask: impl AsyncFn() -> Result<T, Problem>,
    page: impl Fn(&T, &Look) -> String,
) -> Result<Shown<T>, Problem> {
    match repeat.every() {
        None => {
            let report = ask().await?;
            out.report(&report, page)?;
            Ok(Shown::Once(report))
        }
        Some(every) => {
            let canvas = Canvas::of(out);
            let followed = unless_interrupted(follow(out, canvas, every, ask, page)).await;
            followed.unwrap_or(Ok(ExitCode::Interrupted)).map(Shown::Ended)
        }
    }
}

/// Shows what `ask` gives every so often until nobody reads it any more. A gateway that goes away is waited for; one
/// that is not there to begin with is not.
pub(crate) async fn follow<T: Steady>(
    out: &Out,
    canvas: Canvas,
    every: Duration,
    mut ask: impl AsyncFnMut() -> Result<T, Problem>,
    page: impl Fn(&T, &Look) -> String,
) -> Result<ExitCode, Problem> {
    let mut watched = Watched {
        out,
        canvas,
        latest: None,
        page: String::new(),
        away: false,
    };
    loop {
        let read = match ask().await {
            Ok(report) => watched.show(report, &page)?,
            Err(problem) => watched.miss(problem)?,
        };
        if !read {
            return Ok(ExitCode::Ok);
        }
        sleep(every).await;
    }
}

impl<T> Shown<T> {
    /// The report that was shown, this once.
    pub(crate) fn once(&self) -> Option<&T> {
        match self {
            Self::Once(report) => Some(report),
            Self::Ended(_) => None,
        }
    }

    /// How a command ends for which being shown is all.
    pub(crate) fn code(self) -> ExitCode {
        match self {
            Self::Once(_) => ExitCode::Ok,
            Self::Ended(code) => code,
        }
    }
}

impl Canvas {
    /// The one that suits where the output goes.
    pub(crate) fn of(out: &Out) -> Self {
        match out.is_drawn_over() {
            true => Self::Frame(Frame::default()),
            false => Self::Paper,
        }
    }
}

impl Watched<'_> {
    /// Shows a report if it says something new, and tells whether anybody still reads.
    fn show<T: Steady>(&mut self, report: T, page: impl Fn(&T, &Look) -> String) -> Result<bool, Problem> {
        let back = std::mem::take(&mut self.away);
        let steady = report.clone().steady();
        let says = match self.out.is_json() {
            true => RawJson::render(&steady).as_str().to_owned(),
            false => page(&steady, &self.out.look()),
        };
        let before = self.latest.replace(says);
        if !matches!(self.canvas, Canvas::Paper) {
            self.page = page(&report, &self.out.look());
            return self.draw();
        }
        if back {
            self.out.note("the gateway is back");
        }
        if before == self.latest {
            return Ok(true);
        }
        let gap = if before.is_some() { "\n" } else { "" };
        self.out
            .line(&report, |report, look| format!("{gap}{}", page(report, look)))
    }

    /// Says once that a gateway which has answered before does not answer now.
    fn miss(&mut self, problem: Problem) -> Result<bool, Problem> {
        if self.latest.is_none() || !problem.is_absence() {
            return Err(problem);
        }
        let said = std::mem::replace(&mut self.away, true);
        match self.canvas {
            _ if said => Ok(true),
            Canvas::Paper => {
                self.out.complain(&problem);
                Ok(true)
            }
            _ => {
                self.page += &format!("\n{}\n", self.out.told(&problem));
                self.draw()
            }
        }
    }

    /// A terminal that has gone away reads no more.
    fn draw(&mut self) -> Result<bool, Problem> {
        let drawn = match &mut self.canvas {
            Canvas::Paper => Ok(()),
            Canvas::Frame(frame) => frame.draw(&self.page),
            Canvas::Screen(screen) => screen.draw(&self.page),
        };
        Ok(drawn.is_ok())
    }
}

impl Steady for StatusReport {
    fn steady(mut self) -> Self {
        self.uptime_seconds = 0;
        self.servers
            .iter_mut()
            .for_each(|server| server.retry_in_ms = None);
        self
    }
}

impl Steady for ServerList {
    fn steady(mut self) -> Self {
        self.servers
            .iter_mut()
            .for_each(|server| server.retry_in_ms = None);
        self
    }
}

impl Steady for ToolList {}
impl Steady for PinList {}
impl Steady for PromptList {}
impl Steady for ResourceList {}
impl Steady for ToolsetList {}
impl Steady for ProjectList {}
impl Steady for TokenList {}
