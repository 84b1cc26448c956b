//! Real clients that lose a connection in the middle of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcpr_tests::drivers::{Client, Operation};
use mcpr_tests::{Fake, gateway};
use serde_json::json;
use tokio::io::{self, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

/// A way to a gateway that breaks once: right behind the first progress that it carries.
struct Brittle {
    port: u16,
    broke: Arc<AtomicBool>,
    _serving: AbortOnDropHandle<()>,
}

impl Brittle {
    async fn new(to: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("a port").port();
        let broke = Arc::new(AtomicBool::new(false));
        let told = broke.clone();
        let serving = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, to, told.clone()));
            }
        });
        Self {
            port,
            broke,
            _serving: AbortOnDropHandle::new(serving),
        }
    }
}

/// Carries one connection to its end, or to the place where it breaks.
async fn carry(client: TcpStream, to: u16, broke: Arc<AtomicBool>) {
    let gateway = TcpStream::connect(("127.0.0.1", to))
        .await
        .expect("the gateway listens");
    let (mut asking, mut answering) = client.into_split();
    let (mut answers, mut questions) = gateway.into_split();
    let back = async {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = answers.read(&mut piece).await {
            let said = String::from_utf8_lossy(&piece[..count]).into_owned();
            if answering.write_all(&piece[..count]).await.is_err() {
                return;
            }
            if said.contains("notifications/progress") && !broke.swap(true, Ordering::Relaxed) {
                return;
            }
        }
    };
    tokio::select! {
        _ = io::copy(&mut asking, &mut questions) => {}
        () = back => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_stream_breaks_is_read_on_by_every_sdk_that_resumes() {
    let progress = json!({ "count": 4, "interval": 0.4 });
    let fake = Fake::script().tool("x").set("progress", progress).stdio();
    let gateway = gateway().fake("a", &fake).ready().await;
    let mut clients = JoinSet::new();
    for client in [Client::TypeScript, Client::TypeScript1, Client::Python] {
        clients.spawn(loses_its_connection(client, gateway.port, gateway.token.clone()));
    }
    clients.join_all().await;
    assert_eq!(fake.received_of("tools/call").len(), 3, "no call was sent again");
}

/// Makes a call whose stream breaks, and checks that all of it comes.
async fn loses_its_connection(client: Client, port: u16, token: String) {
    let way = Brittle::new(port).await;
    let url = format!("http://127.0.0.1:{}/mcp", way.port);
    let call = [Operation::call_with_progress("a_x", json!({}))];
    let told = client.run(&url, Some(&token), &call).await;
    let told = told.unwrap_or_else(|error| panic!("{client:?}: {error:#}"));

    assert!(way.broke.load(Ordering::Relaxed), "{client:?} lost no connection");
    let ok = told.ok(0);
    assert!(ok["result"]["content"].is_array(), "{client:?}: {ok}");
    let heard = ok["progress"].as_array().into_iter().flatten();
    let heard: Vec<_> = heard.map(|notice| notice["progress"].as_f64()).collect();
    assert_eq!(
        heard,
        [1.0, 2.0, 3.0, 4.0].map(Some),
        "{client:?} hears each once"
    );
}
