//! A client on the Rust SDK.

#![expect(deprecated, reason = "logging is deprecated, and still has to work")]

use ::rmcp::model::{
    CallToolRequestParams, ClientRequest, LoggingLevel, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, Request, RequestMetaObject, SetLevelRequestParams, SubscriptionFilter,
};
use ::rmcp::service::{PeerRequestOptions, RequestHandle, RunningService, Subscription};
use ::rmcp::transport::StreamableHttpClientTransport;
use ::rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use ::rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceError};
use mcpr_tests::Gateway;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::ears::{Ears, Heard};
use super::{PATIENCE, SESSION, STATELESS};

/// A connected client.
pub(crate) struct Sdk {
    service: RunningService<RoleClient, Ears>,
    heard: Heard,
}

/// A list of which changes are announced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Tools,
    Resources,
}

/// Notices of a changed list, from where the era has them.
pub(crate) enum Notices {
    Session(List, broadcast::Receiver<List>),
    Stateless(Box<Subscription>),
}

impl Sdk {
    /// A client that insists on a version.
    pub(crate) async fn connect(gateway: &Gateway, version: &ProtocolVersion) -> Self {
        Self::settled(gateway, version, &gateway.token, None).await
    }

    /// The same with a token and a user of this name, who can be asked everything.
    pub(crate) async fn connect_as(
        gateway: &Gateway,
        version: &ProtocolVersion,
        token: &str,
        user: &str,
    ) -> Self {
        Self::settled(gateway, version, token, Some(user)).await
    }

    async fn settled(gateway: &Gateway, version: &ProtocolVersion, token: &str, user: Option<&str>) -> Self {
        let preferred_versions = vec![version.clone()];
        let lifecycle = match *version == STATELESS {
            true => ClientLifecycleMode::Discover { preferred_versions },
            false => ClientLifecycleMode::Initialize,
        };
        Self::with(gateway, lifecycle, token, user).await
    }

    /// A client that finds out what the other side speaks.
    pub(crate) async fn automatic(gateway: &Gateway) -> Self {
        let preferred_versions = vec![STATELESS];
        Self::with(
            gateway,
            ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: Some(SESSION),
            },
            &gateway.token,
            None,
        )
        .await
    }

    async fn with(
        gateway: &Gateway,
        lifecycle: ClientLifecycleMode,
        token: &str,
        user: Option<&str>,
    ) -> Self {
        let config =
            StreamableHttpClientTransportConfig::with_uri(gateway.url()).auth_header(token.to_owned());
        let (ears, heard) = Ears::new(user);
        let service = ears
            .serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), lifecycle)
            .await;
        Self {
            service: service.expect("the SDK connects"),
            heard,
        }
    }

    pub(crate) fn version(&self) -> ProtocolVersion {
        self.service
            .peer_info()
            .expect("the gateway introduces itself")
            .protocol_version
            .clone()
    }

    pub(crate) async fn tools(&self) -> Vec<String> {
        let tools = self.service.list_all_tools().await.expect("tools are listed");
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    pub(crate) async fn resources(&self) -> Vec<String> {
        let resources = self
            .service
            .list_all_resources()
            .await
            .expect("resources are listed");
        resources.into_iter().map(|resource| resource.uri).collect()
    }

    pub(crate) async fn read(&self, uri: &str) -> Value {
        let result = self
            .service
            .read_resource(ReadResourceRequestParams::new(uri))
            .await;
        json!(result.unwrap_or_else(|error| panic!("{uri}: {error}")))
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Value {
        let result = self.try_call(tool, arguments).await;
        result.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// Calls a tool, which may be answered with an error.
    pub(crate) async fn try_call(&self, tool: &str, arguments: &Value) -> Result<Value, ServiceError> {
        let result = self.service.call_tool(request(tool, arguments)).await;
        result.map(|result| json!(result))
    }

    /// Calls a tool that logs, at a level that is told in the way of the era.
    pub(crate) async fn call_with_log(&self, tool: &str, level: LoggingLevel) {
        let mut call = request(tool, &json!({}));
        if self.version() == STATELESS {
            let mut meta = RequestMetaObject::default();
            meta.set_log_level(level);
            call.meta = Some(meta);
        } else {
            self.set_level(level).await;
        }
        self.service.call_tool(call).await.expect("the call is answered");
    }

    /// The next message of the log; the SDK may pass it on after the result that it came before.
    pub(crate) async fn next_log(&mut self) -> Value {
        let message = timeout(PATIENCE, self.heard.log.recv()).await;
        message.expect("something is logged").expect("the client lives")
    }

    pub(crate) async fn set_level(&self, level: LoggingLevel) {
        let set = self.service.set_level(SetLevelRequestParams::new(level)).await;
        set.expect("a level can be set");
    }

    pub(crate) async fn ping(&self) {
        let ping = ClientRequest::PingRequest(Default::default());
        self.service.send_request(ping).await.expect("a ping is answered");
    }

    /// The methods of what it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        self.service.service().asked()
    }

    /// Begins a call without waiting for its end.
    pub(crate) async fn begin(&self, tool: &'static str) -> RequestHandle<RoleClient> {
        let request = ClientRequest::CallToolRequest(Request::new(CallToolRequestParams::new(tool)));
        let sent = self
            .service
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await;
        sent.expect("a call can be sent")
    }

    /// The next progress, which must be that of this call.
    pub(crate) async fn next_progress(
        &mut self,
        call: &RequestHandle<RoleClient>,
    ) -> ProgressNotificationParam {
        let progress = timeout(PATIENCE, self.heard.progress.recv())
            .await
            .expect("progress comes")
            .expect("the client lives");
        assert_eq!(progress.progress_token, call.progress_token);
        progress
    }

    pub(crate) async fn notices(&self, list: List) -> Notices {
        if self.version() < STATELESS {
            return Notices::Session(list, self.service.service().listen());
        }
        let filter = SubscriptionFilter::builder();
        let filter = match list {
            List::Tools => filter.tools_list_changed(),
            List::Resources => filter.resources_list_changed(),
        };
        let listening = self.service.listen(filter.build()).await;
        Notices::Stateless(Box::new(listening.expect("the gateway lets clients listen")))
    }
}

fn request(tool: &str, arguments: &Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().expect("arguments are an object").clone();
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

impl Notices {
    /// Waits for one.
    pub(crate) async fn next(&mut self) {
        timeout(PATIENCE, self.heard())
            .await
            .expect("the client hears of the change");
    }

    async fn heard(&mut self) {
        match self {
            Self::Session(list, notices) => while notices.recv().await.expect("the client lives") != *list {},
            Self::Stateless(listening) => {
                listening
                    .next()
                    .await
                    .expect("the stream is right")
                    .expect("the stream goes on");
            }
        }
    }
}
