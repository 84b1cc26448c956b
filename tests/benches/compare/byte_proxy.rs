//! A reverse proxy that copies bytes and knows nothing of MCP: the least that a gateway on hyper can cost.

use std::net::SocketAddr;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, HOST};
use hyper::http::uri::{Authority, Scheme};
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

type Onward = Client<HttpConnector, Incoming>;

/// Serves until it is killed.
pub(crate) fn run(port: u16, server: u16) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(serve(port, server));
}

async fn serve(port: u16, server: u16) {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a free port");
    let server = Authority::try_from(format!("127.0.0.1:{server}")).expect("an authority");
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let onward: Onward = Client::builder(TokioExecutor::new()).build(connector);
    let mut connections = JoinSet::new();
    loop {
        let (stream, _): (_, SocketAddr) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let (onward, server) = (onward.clone(), server.clone());
        connections.spawn(async move {
            let service = service_fn(|request| forward(&onward, &server, request));
            let connection = hyper::server::conn::http1::Builder::new();
            // A client that leaves is no reason to complain.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn forward(
    onward: &Onward,
    server: &Authority,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, hyper_util::client::legacy::Error> {
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.scheme = Some(Scheme::HTTP);
    parts.authority = Some(server.clone());
    *request.uri_mut() = Uri::from_parts(parts).expect("a whole address");
    request.headers_mut().remove(HOST);
    request.headers_mut().remove(CONNECTION);
    onward.request(request).await
}
