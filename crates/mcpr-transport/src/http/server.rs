//! Takes HTTP connections and hands whole requests to the gateway.
//!
//! [`Bound`] holds an address, [`serve`] answers on it until it is told to stop, a [`Front`] gives
//! the answers; a [`Mounted`] front answers on the connections of another server. A request passes the checks of the edge in this order: Host and Origin (403),
//! caller (401), verb (405), `Accept` and `Content-Type` (406, 415), size and arrival of the body
//! (413, 408).

mod accepts;
mod body;
mod bound;
mod connection;
mod cors;
mod front;
mod guard;
mod holder;
mod http1;
mod intake;
mod local;
mod mounted;
mod options;
mod places;
mod pulse;
mod refusal;
mod reply;
mod route;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
mod wire;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::warn;

pub use accepts::Accepts;
pub use bound::{BindError, Bound};
pub use front::{Call, Front, Health, Operation, Verb};
pub use holder::Holder;
pub use mounted::{Mounted, Pieces};
pub use options::{Limits, Options};
pub use refusal::Refusal;
pub use reply::{Content, EventStream, Reply};
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};

use bound::Listener;
use connection::{Connection, Rules};
use guard::Guard;
use places::{Places, Room};
use wire::Socket;

/// When a server ends, in two steps.
#[derive(Clone, Debug)]
pub struct End {
    /// No more is accepted: the address is given back, and connections without a request close.
    pub close: CancellationToken,
    /// Answers that are on their way have [`Limits::grace`] from here on. Not before `close`.
    pub finish: CancellationToken,
}

impl End {
    /// Both steps at once.
    pub fn at(end: CancellationToken) -> Self {
        Self {
            close: end.clone(),
            finish: end,
        }
    }
}

/// Serves `front` on `bound` until its `end`.
///
/// A failure of one connection, a panic included, ends that connection at most. Answers that have
/// not finished when their time is over are dropped. Streams that do not end by themselves should
/// be ended by the front at the same signals, or they use up that time. Dropping the future ends
/// everything at once.
///
/// # Errors
///
/// When the runtime cannot watch the socket; nothing has been served then.
pub async fn serve<F: Front>(bound: Bound, front: Arc<F>, options: Options, end: End) -> io::Result<()> {
    let rules = Arc::new(Rules::new(&bound, options));
    let mut listener = bound.listen()?;
    let _following = follow(&rules);
    let mut places = Places::new(rules.limits.clone());
    while let Some(socket) = next(&mut listener, &mut places, &end.close).await {
        let room = places.room();
        if room != Room::None {
            let surplus = room == Room::Word;
            let connection = Connection::new(Arc::clone(&front), Arc::clone(&rules), surplus);
            let pulse = connection.pulse();
            places.serve(connection.serve(socket, end.close.clone()), pulse, surplus);
        }
    }
    drop(listener);
    places.drain(&end.finish).await;
    Ok(())
}

/// The task that follows the files of the certificate; it ends with its owner.
#[cfg_attr(
    not(feature = "tls"),
    expect(unused_variables, reason = "there is none without TLS")
)]
fn follow(rules: &Rules) -> JoinSet<()> {
    #[cfg(feature = "tls")]
    if let Some(tls) = rules.tls.clone() {
        let mut tasks = JoinSet::new();
        tasks.spawn(tls.follow());
        return tasks;
    }
    JoinSet::new()
}

/// The next connection; none when it is time to stop.
async fn next(listener: &mut Listener, places: &mut Places, shutdown: &CancellationToken) -> Option<Socket> {
    loop {
        tokio::select! { biased;
            () = shutdown.cancelled() => return None,
            Some(()) = places.ended() => {}
            accepted = listener.accept() => match accepted {
                Ok(socket) => return Some(socket),
                Err(error) => pause(&error, &mut *places, shutdown).await,
            }
        }
    }
}

/// Waits after a failed accept, if waiting helps: where the process has no more descriptors, until a stranger has given
/// back its own.
async fn pause(error: &io::Error, places: &mut Places, shutdown: &CancellationToken) {
    let Some(wait) = back_off(error) else { return };
    if places.give_way() {
        _ = timeout(wait, places.ended()).await;
        return;
    }
    warn!(
        error = error as &dyn std::error::Error,
        ?wait,
        "no new connections for a moment"
    );
    _ = timeout(wait, shutdown.cancelled()).await;
}

/// How long to wait after a failed accept: not at all when only that one connection was lost.
fn back_off(error: &io::Error) -> Option<Duration> {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    match error.kind() {
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted => None,
        // Out of file descriptors or memory: some come back when other connections end.
        _ => Some(Duration::from_millis(500)),
    }
}

impl Rules {
    fn new(bound: &Bound, options: Options) -> Self {
        Self {
            guard: bound.is_network().then(|| Guard::new(&options)),
            endpoint: format!("/{}", options.endpoint.trim_matches('/')),
            admin: options.admin,
            mounted: false,
            limits: options.limits,
            #[cfg(feature = "tls")]
            tls: options.tls,
        }
    }
}
