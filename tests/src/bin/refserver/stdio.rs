//! Both eras on stdin and stdout.

use std::collections::HashMap;
use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{AbortHandle, JoinSet};

use crate::client::Voice;
use crate::endpoint::{Eras, opening_refused};
use crate::fault::Fault;
use crate::message::{Message, Notification, Request};
use crate::server::{COMMON, Server};
use crate::session::Session;
use crate::stateless::{self, Envelope};

/// Stdout, where every message is a line.
struct Pipe;

/// The only conversation that a process has.
struct Conversation {
    eras: Eras,
    server: Arc<Server>,
    session: Option<Arc<Session>>,
    work: JoinSet<()>,
    /// What can be cancelled, by the id of its request.
    running: HashMap<String, AbortHandle>,
}

impl Voice for Pipe {
    fn say(&self, message: &Value) {
        let mut stdout = io::stdout().lock();
        // The end of stdin tells that the client has left.
        let _ = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
    }
}

/// Serves until stdin ends.
pub(crate) async fn serve(eras: Eras, server: Arc<Server>) {
    let mut conversation = Conversation {
        eras,
        server,
        session: None,
        work: JoinSet::new(),
        running: HashMap::new(),
    };
    let mut lines = lines();
    while let Some(line) = lines.recv().await {
        match Message::parse(&line) {
            Ok(message) => conversation.take(message),
            Err(fault) => Pipe.say(&fault.message(None)),
        }
    }
}

/// The lines of stdin, read by a thread of their own.
fn lines() -> UnboundedReceiver<Vec<u8>> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        let lines = io::stdin().lock().split(b'\n');
        let texts = lines
            .map_while(Result::ok)
            .filter(|line| !line.trim_ascii().is_empty());
        for text in texts {
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Conversation {
    fn take(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.answer(request),
            Message::Notification(notification) => self.hear(&notification),
            Message::Response(response) => {
                if let Some(session) = &self.session {
                    session.take(response);
                }
            }
        }
    }

    fn answer(&mut self, request: Request) {
        let stateless = stateless::claimed(&request) && self.eras != Eras::Session;
        if request.method == "initialize" && !stateless {
            let answer = self.initialize(&request);
            return Pipe.say(&answer);
        }
        let (key, server, eras) = (request.id.to_string(), Arc::clone(&self.server), self.eras);
        let session = self.session.clone().filter(|_| !stateless);
        let handle = self.work.spawn(async move {
            let outcome = match session {
                Some(session) => session.answer(&server, &request, Arc::new(Pipe)).await,
                None if eras == Eras::Session => Err(before_initialize(&request)),
                None => answer_stateless(&server, &request).await,
            };
            Pipe.say(&request.answered(outcome));
        });
        self.running.insert(key, handle);
    }

    fn initialize(&mut self, request: &Request) -> Value {
        if self.eras == Eras::Stateless {
            return opening_refused(request).message(Some(&request.id));
        }
        let opened = Session::open(request, Arc::new(Pipe)).map(Arc::new);
        let welcome = opened.map(|session| {
            self.server.hub.join(&session);
            self.session.insert(session).welcome()
        });
        request.answered(welcome)
    }

    fn hear(&mut self, notification: &Notification) {
        let cancelled = notification.method == "notifications/cancelled";
        let id = notification.params.get("requestId").filter(|_| cancelled);
        if let Some(work) = id.and_then(|id| self.running.remove(&id.to_string())) {
            work.abort();
        }
    }
}

/// What a server of the session era says to one that has not introduced itself.
fn before_initialize(request: &Request) -> Fault {
    if COMMON.contains(&request.method.as_str()) {
        Fault::invalid_request("`initialize` comes first")
    } else {
        Fault::method_not_found(&request.method)
    }
}

async fn answer_stateless(server: &Arc<Server>, request: &Request) -> Result<Value, Fault> {
    let envelope = Envelope::read(request)?;
    envelope.check_revision()?;
    if !stateless::known(&request.method) {
        return Err(Fault::method_not_found(&request.method));
    }
    stateless::answer(server, request, &envelope, Arc::new(Pipe)).await
}
