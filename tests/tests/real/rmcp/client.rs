//! A client on the Rust SDK.

use ::rmcp::model::{
    CallToolRequestParams, ClientRequest, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, Request, SubscriptionFilter,
};
use ::rmcp::service::{NotificationContext, PeerRequestOptions, RequestHandle, RunningService, Subscription};
use ::rmcp::transport::StreamableHttpClientTransport;
use ::rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use ::rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use mcpr_tests::Gateway;
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;

use super::{PATIENCE, SESSION, STATELESS};

/// A connected client.
pub(crate) struct Sdk {
    service: RunningService<RoleClient, Ears>,
    progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
}

/// What the client hears besides answers.
pub(crate) struct Ears {
    progress: mpsc::UnboundedSender<ProgressNotificationParam>,
    changed: broadcast::Sender<List>,
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
        let preferred_versions = vec![version.clone()];
        let stateless = *version == STATELESS;
        let discover = ClientLifecycleMode::Discover { preferred_versions };
        Self::with(
            gateway,
            if stateless {
                discover
            } else {
                ClientLifecycleMode::Initialize
            },
        )
        .await
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
        )
        .await
    }

    async fn with(gateway: &Gateway, lifecycle: ClientLifecycleMode) -> Self {
        let config =
            StreamableHttpClientTransportConfig::with_uri(gateway.url()).auth_header(gateway.token.clone());
        let (sender, progress) = mpsc::unbounded_channel();
        let ears = Ears {
            progress: sender,
            changed: broadcast::Sender::new(16),
        };
        let service = ears
            .serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), lifecycle)
            .await;
        Self {
            service: service.expect("the SDK connects"),
            progress,
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
        let arguments = arguments.as_object().expect("arguments are an object").clone();
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = self.service.call_tool(call).await;
        json!(result.unwrap_or_else(|error| panic!("{tool}: {error}")))
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
        let progress = timeout(PATIENCE, self.progress.recv())
            .await
            .expect("progress comes")
            .expect("the client lives");
        assert_eq!(progress.progress_token, call.progress_token);
        progress
    }

    pub(crate) async fn notices(&self, list: List) -> Notices {
        if self.version() < STATELESS {
            return Notices::Session(list, self.service.service().changed.subscribe());
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

impl ClientHandler for Ears {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        // A test that is over hears nothing more.
        let _ = self.progress.send(progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        // The same.
        let _ = self.changed.send(List::Tools);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        // The same.
        let _ = self.changed.send(List::Resources);
    }
}
