//! The gateway and its servers at work.

mod keys;
mod memory;
mod page;
mod sample;

use mcpr_admin::ExitCode;
use tokio::time::sleep;

use self::page::page;
use self::sample::{Sample, Sampler};
use crate::cli::Top;
use crate::connect::Gateway;
use crate::interrupt::unless_interrupted;
use crate::out::Out;
use crate::out::live::Screen;
use crate::out::watch::{Canvas, Steady, follow};
use crate::problem::Problem;

impl Steady for Sample {}

/// `top`
pub(super) async fn top(gateway: &Gateway, out: &Out, asked: &Top) -> Result<ExitCode, Problem> {
    let mut sampler = Sampler::new(gateway);
    if out.is_drawn_over() && !asked.once {
        return on_screen(sampler, out, asked).await;
    }
    let work = async {
        // A rate needs two looks.
        sampler.sample().await?;
        sleep(asked.interval).await;
        if asked.once {
            let sample = sampler.sample().await?;
            out.report(&sample, page)?;
            return Ok(ExitCode::Ok);
        }
        let ask = async || sampler.sample().await;
        follow(out, Canvas::Paper, asked.interval, ask, page).await
    };
    unless_interrupted(work)
        .await
        .unwrap_or(Ok(ExitCode::Interrupted))
}

/// Fills the screen until a key or a signal ends it; what was there before comes back.
async fn on_screen(mut sampler: Sampler<'_>, out: &Out, asked: &Top) -> Result<ExitCode, Problem> {
    // Before the screen is taken: that there is no gateway is said where one looks.
    sampler.sample().await?;
    let keys = keys::Keys::take();
    let canvas = Canvas::Screen(Screen::take()?);
    let ask = async || sampler.sample().await;
    let shown = async {
        tokio::select! {
            ended = follow(out, canvas, asked.interval, ask, page) => ended,
            () = keys.quit() => Ok(ExitCode::Ok),
            () = terminated() => Ok(ExitCode::Interrupted),
        }
    };
    unless_interrupted(shown)
        .await
        .unwrap_or(Ok(ExitCode::Interrupted))
}

/// Waits for the signal that asks a program to end.
async fn terminated() {
    #[cfg(unix)]
    if let Ok(mut signal) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        signal.recv().await;
        return;
    }
    std::future::pending().await
}
