//! A gateway of which only the admin API is there, with fixed answers.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::UnixListener;
use tokio::runtime::{Builder, Runtime};

type Answers = HashMap<&'static str, (u16, &'static str)>;

/// The gateway; it ends with this value.
pub(crate) struct Gateway {
    _runtime: Runtime,
    answers: Arc<Mutex<Answers>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Gateway {
    /// Listens at `socket`, and gives to each operation its status and text. A second word of an
    /// operation names what must stand in its body. A text of events is a stream. After `stop` and `drain` it ends.
    pub(crate) fn start(socket: &Path, answers: &[(&'static str, u16, &'static str)]) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let answers = answers
            .iter()
            .map(|(path, status, text)| (*path, (*status, *text)))
            .collect();
        let listener = {
            let _inside = runtime.enter();
            UnixListener::bind(socket).unwrap()
        };
        let answers = Arc::new(Mutex::new(answers));
        runtime.spawn(serve(listener, Arc::clone(&answers), Arc::clone(&asked)));
        Self {
            _runtime: runtime,
            answers,
            asked,
        }
    }

    /// Gives another answer from now on.
    pub(crate) fn answer(&self, path: &'static str, status: u16, text: &'static str) {
        self.answers.lock().unwrap().insert(path, (status, text));
    }

    /// What it was asked: path and body.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(listener: UnixListener, answers: Arc<Mutex<Answers>>, asked: Arc<Mutex<Vec<String>>>) {
    while !asked.lock().unwrap().iter().any(|line| is_end(line)) {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(|request| answer(request, &answers, &asked));
        let _ = http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }
}

fn is_end(line: &str) -> bool {
    ["stop ", "drain "].iter().any(|end| line.starts_with(end))
}

/// The answer for this body, else the one for all.
fn prepared(answers: &Answers, path: &str, body: &str) -> (u16, &'static str) {
    let for_body = answers.iter().find(|(asked, _)| {
        let words = asked.split_once(' ');
        words.is_some_and(|(known, word)| known == path && body.contains(word))
    });
    let answer = for_body
        .map(|(_, answer)| *answer)
        .or_else(|| answers.get(path).copied());
    answer.unwrap_or((500, "no answer was prepared"))
}

async fn answer(
    request: Request<Incoming>,
    answers: &Mutex<Answers>,
    asked: &Mutex<Vec<String>>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let path = request.uri().path().trim_start_matches("/admin/v1/").to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let body = String::from_utf8_lossy(&body);
    asked.lock().unwrap().push(format!("{path} {body}"));
    let (status, text) = prepared(&answers.lock().unwrap(), &path, &body);
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    if text.starts_with("data:") {
        let stream = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(CONTENT_TYPE, stream);
    }
    Ok(response)
}
