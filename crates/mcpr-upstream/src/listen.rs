//! The stream on which a stateless server announces changes of its lists.

use std::sync::Arc;
use std::time::Duration;

use mcpr_protocol::{Edit, Message, Method, Object, RawJson, Rope, notification};
use mcpr_transport::{Failed, Outgoing};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::Replica;
use crate::ask::params;
use crate::status::Heard;

/// A stream that held at least this long was a good one: the next is opened at once.
const GOOD: Duration = Duration::from_secs(30);
const SLOWEST: Duration = Duration::from_secs(60);

/// What a stream of notices brings.
pub(crate) enum News {
    /// The server says that lists have changed.
    Changed(Heard),
    /// Changes may have gone unheard.
    Missed,
    /// There is no stream, and perhaps no server any more.
    Lost,
}

/// Keeps the stream open and passes on what it says; ends when the server has none to offer.
///
/// Between two streams changes go unheard, so each new one counts as if everything had changed.
pub(crate) async fn listen(replica: Arc<Replica>, news: mpsc::Sender<News>) {
    let mut delay = Duration::from_millis(500);
    for life in 0_u32.. {
        let began = Instant::now();
        if life > 0 && news.send(News::Missed).await.is_err() {
            return;
        }
        match one_stream(&replica, &news).await {
            Ok(Over::NotOffered) => return,
            Ok(Over::Ended) => {}
            Err(failed) => {
                tracing::debug!(server = %replica.server, reason = %failed, "the stream of notices broke");
                let _ = news.send(News::Lost).await;
            }
        }
        if replica.is_gone() || news.is_closed() {
            return;
        }
        delay = if began.elapsed() >= GOOD {
            Duration::from_millis(500)
        } else {
            (delay * 2).min(SLOWEST)
        };
        sleep(delay).await;
    }
}

enum Over {
    NotOffered,
    Ended,
}

async fn one_stream(replica: &Arc<Replica>, news: &mpsc::Sender<News>) -> Result<Over, Failed> {
    let request = Outgoing {
        id: replica.next_id(),
        method: Method::Listen,
        params: listen_params(replica),
        name: None,
        headers: Vec::new(),
    };
    let mut exchange = replica.open(request).await?;
    loop {
        match exchange.next().await? {
            Message::Response(response) if response.outcome.is_err() => return Ok(Over::NotOffered),
            Message::Response(_) => return Ok(Over::Ended),
            Message::Notification(notification) if &*notification.method != notification::ACKNOWLEDGED => {
                let mut now = Heard::default();
                now.note(&notification.method);
                if now.any() && news.send(News::Changed(now)).await.is_err() {
                    return Ok(Over::Ended);
                }
            }
            _ => {}
        }
    }
}

fn listen_params(replica: &Replica) -> Rope {
    let empty = RawJson::from_static("{}");
    let none = Object::read(&empty).expect("an empty object is one");
    let filter = RawJson::from_static(
        r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}"#,
    );
    let text = Edit::new(&none)
        .set("notifications", filter)
        .finish()
        .into_bytes();
    let object = Object::read(&RawJson::trusted(text)).expect("an edited object is one");
    params(replica.version, &object)
}
