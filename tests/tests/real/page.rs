//! A page on loopback for a server that fetches: the tests have no other network.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

/// What the page says.
pub(crate) const WORDS: &str = "Nine servers behind one door";

/// A web server with one page, which it gives for every path. It ends when dropped.
pub(crate) struct Page {
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

impl Page {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a port").port();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                answer(stream).await;
            }
        });
        Self {
            port,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/page.txt", self.port)
    }
}

/// Reads one request and answers it; the connection ends with that.
async fn answer(stream: TcpStream) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        if stream.read_line(&mut line).await.is_ok_and(|count| count == 0) {
            return;
        }
    }
    // Plain text: for HTML the server's library would first run `npm install` in its own folder.
    let page = format!("{WORDS}.\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close";
    let text = format!("{head}\r\nContent-Length: {}\r\n\r\n{page}", page.len());
    // Whoever went away does not want it.
    let _ = stream.write_all(text.as_bytes()).await;
}
