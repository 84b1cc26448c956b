//! The stream on which a stateless server announces changes of its lists.

use mcpr_transport::Failed;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::stream::{Said, Stream};
use super::{Hearer, News, Pauses};
use crate::status::Heard;

/// How a stream ended.
enum Over {
    NotOffered,
    Ended,
}

/// Keeps the stream open and passes on what it says; ends when the server has none to offer.
///
/// The first acknowledgement goes to `ready`, if somebody still waits for it. Before any other,
/// changes went unheard, so it counts as if everything had changed.
pub(super) async fn hear(hearer: Hearer, ready: oneshot::Sender<()>) {
    let mut ready = Some(ready);
    let mut pauses = Pauses::new();
    loop {
        let began = Instant::now();
        match one_stream(&hearer, &mut ready).await {
            Ok(Over::NotOffered) => return,
            Ok(Over::Ended) => {}
            Err(failed) => {
                tracing::debug!(server = %hearer.replica.server, reason = %failed, "the stream of notices broke");
                hearer.tell(News::Lost).await;
            }
        }
        if hearer.replica.is_gone() || hearer.news.is_closed() {
            return;
        }
        sleep(pauses.after(began.elapsed())).await;
    }
}

async fn one_stream(hearer: &Hearer, ready: &mut Option<oneshot::Sender<()>>) -> Result<Over, Failed> {
    let all = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
    let mut stream = Stream::new(&hearer.replica, all);
    loop {
        let heard = match stream.next().await? {
            Said::Refused(_) => return Ok(Over::NotOffered),
            Said::Ended => return Ok(Over::Ended),
            Said::Accepted(_) if is_in_time(ready.take()) => continue,
            Said::Accepted(_) => hearer.tell(News::Missed).await,
            Said::Note(note) => {
                let mut heard = Heard::default();
                heard.note(&note.method);
                !heard.any() || hearer.tell(News::Changed(heard)).await
            }
        };
        if !heard {
            return Ok(Over::Ended);
        }
    }
}

/// Whether somebody waited for the acknowledgement before looking at the lists.
fn is_in_time(ready: Option<oneshot::Sender<()>>) -> bool {
    ready.is_some_and(|ready| ready.send(()).is_ok())
}
