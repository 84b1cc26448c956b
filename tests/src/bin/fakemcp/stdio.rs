//! The server on stdin and stdout.

use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::converse::converse;
use crate::message::Message;
use crate::outlet::{Outlet, Pipe};
use crate::server::Server;
use crate::spec::Spec;

/// Serves until stdin ends; what is in progress then is lost.
pub(crate) async fn serve(server: Arc<Server>) {
    // A client that closed stderr is no reason to stop.
    let _ = io::stderr().write_all(server.spec.stderr_text.as_bytes());
    if let Some(seconds) = server.spec.delay.get("start") {
        tokio::time::sleep(Duration::from_secs_f64(*seconds)).await;
    }
    let outlet = Outlet::Pipe(Arc::new(Pipe::new(&server.spec)));
    let stubborn = server.spec.stubborn;
    converse(server.clone(), lines(server), outlet).await;
    if stubborn {
        std::future::pending::<()>().await;
    }
}

/// The lines of stdin, without their ends, read by a thread of their own.
fn lines(server: Arc<Server>) -> UnboundedReceiver<Vec<u8>> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut line = Vec::new();
        while stdin.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let text = line.trim_ascii().to_vec();
            line.clear();
            let last = is_deafening(&server.spec, &text);
            if !text.is_empty() && sender.send(text).is_err() {
                return;
            }
            if last {
                loop {
                    std::thread::park();
                }
            }
        }
    });
    receiver
}

/// Whether nothing is read after this message.
fn is_deafening(spec: &Spec, text: &[u8]) -> bool {
    let message = Message::parse(&String::from_utf8_lossy(text));
    let named = |message: Message| {
        let keys = message.keys();
        spec.deaf_on.keys().iter().any(|key| keys.contains(key))
    };
    message.is_ok_and(named)
}
