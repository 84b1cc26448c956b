//! What clients send: requests, notifications and answers.

use ::http::{HeaderMap, HeaderValue, StatusCode};
use mcpr_auth::Principal;
use mcpr_protocol::{Broken, Era, Fault as MessageFault, Id, Message, Notification, Request, Response};
use mcpr_transport::http::server::{Call, Reply};

use super::HttpFront;
use super::context::{PATH, SESSION, names_stateless_version};
use super::events::listen_events;
use crate::dispatch::Handled;
use crate::fault::Fault;
use crate::front::LEVELS;
use crate::front::batch::counts;
use crate::scope::Asked;

fn id_of(message: &Result<Message, Broken>) -> Option<&Id> {
    match message {
        Ok(Message::Request(request)) => Some(&request.id),
        Ok(_) => None,
        Err(broken) => broken.id.as_ref(),
    }
}

fn is_batch(message: &Result<Message, Broken>) -> bool {
    matches!(message, Err(broken) if broken.fault == MessageFault::Batch)
}

impl HttpFront {
    pub(super) async fn post(&self, caller: Principal, call: Call) -> Reply {
        let message = Message::parse_within(&call.body, LEVELS);
        if is_batch(&message) {
            return self.batch(&caller, call).await; // Its members count one by one.
        }
        if let Err(fault) = self.pace(&caller, usize::from(counts(&message))) {
            return self.refuse(&caller, id_of(&message), &fault, Era::Session);
        }
        match message {
            Ok(Message::Request(request)) => self.request(caller, call, request).await,
            Ok(Message::Notification(note)) => self.notification(&caller, &call.head.headers, &note),
            Ok(Message::Response(response)) => self.response(&caller, &call.head.headers, response),
            Err(Broken { fault, id }) => {
                self.refuse(&caller, id.as_ref(), &Fault::Message(fault), Era::Session)
            }
        }
    }

    async fn request(&self, caller: Principal, call: Call, request: Request) -> Reply {
        let id = request.id.clone();
        let context = match self.context(&caller, &call.head, &request) {
            Ok(Some(context)) => context,
            Ok(None) => return self.initialize(&caller, &Asked::by(&call.head), request),
            Err((fault, era)) => return self.refuse(&caller, Some(&id), &fault, era),
        };
        let context = if call.accepts.events {
            context
        } else {
            context.without_stream()
        };
        let session = context.session.clone();
        match self.gateway.dispatch(context, request).await {
            Handled::Done(done) => self.reply(done, &call, session.as_deref()),
            Handled::Flight(flight) => self.fly(flight, (&call, &id), session.as_deref()).await,
            Handled::Listen(listen) if call.accepts.events => Reply::events(listen_events(*listen)),
            Handled::Listen(_) => self.refuse(&caller, Some(&id), &Fault::NeedsStream, Era::Stateless),
        }
    }

    fn initialize(&self, caller: &Principal, asked: &Asked, request: Request) -> Reply {
        match self
            .gateway
            .open_session(caller.clone(), Some(PATH), asked, request)
        {
            Ok((session, done)) => {
                let id =
                    HeaderValue::try_from(&*session.id).expect("hexadecimal digits can stand in a header");
                Reply::json(done.status, done.text).with(SESSION, id)
            }
            Err((id, fault)) => self.refuse(caller, Some(&id), &fault, Era::Session),
        }
    }

    fn notification(&self, caller: &Principal, headers: &HeaderMap, note: &Notification) -> Reply {
        if names_stateless_version(headers) {
            return Reply::empty(StatusCode::ACCEPTED); // None is defined over HTTP; a stream is cancelled by closing it.
        }
        match self.session(caller, headers, None) {
            Ok(session) => {
                session.hear(note);
                Reply::empty(StatusCode::ACCEPTED)
            }
            Err(fault) => self.refuse(caller, None, &fault, Era::Session),
        }
    }

    /// An answer to what a server asked.
    fn response(&self, caller: &Principal, headers: &HeaderMap, response: Response) -> Reply {
        if names_stateless_version(headers) {
            let fault = Fault::InvalidRequest("a stateless client sends no responses".into());
            return self.refuse(caller, None, &fault, Era::Stateless);
        }
        match self.session(caller, headers, None) {
            Ok(session) => {
                session.answered(response);
                Reply::empty(StatusCode::ACCEPTED)
            }
            Err(fault) => self.refuse(caller, None, &fault, Era::Session),
        }
    }
}
