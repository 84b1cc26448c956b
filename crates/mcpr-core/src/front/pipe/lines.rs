//! From messages to lines.

use std::io;

use mcpr_protocol::{Era, Fault as MessageFault, Rope};
use mcpr_transport::child::Line;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::refusal;
use crate::fault::Fault;

/// What is said to a line that is no text.
pub(super) fn broken(line: &Line) -> Rope {
    let text = match line {
        Line::TooLong(line) => format!("a line of {} bytes is longer than a message may be", line.bytes),
        _ => "a line that is not UTF-8".to_owned(),
    };
    let fault = Fault::Message(MessageFault::NotJson(text));
    refusal(None, &fault, Era::Session)
}

/// Writes messages as lines, flushed when no other waits.
pub(super) async fn write(mut output: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Rope>) {
    while let Some(message) = queue.recv().await {
        let mut next = Some(message);
        while let Some(message) = next {
            if write_line(&mut output, message).await.is_err() {
                return;
            }
            next = queue.try_recv().ok();
        }
        if output.flush().await.is_err() {
            return;
        }
    }
}

async fn write_line(output: &mut (impl AsyncWrite + Unpin), message: Rope) -> io::Result<()> {
    let mut line = message.on_one_line();
    line.push_static("\n");
    output.write_all_buf(&mut line).await
}
