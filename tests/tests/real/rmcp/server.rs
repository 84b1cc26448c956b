//! A server on the Rust SDK, over streamable HTTP in this process.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use ::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool,
};
use ::rmcp::service::{RequestContext, SubscriptionContext};
use ::rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use ::rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use ::rmcp::{ErrorData, RoleServer, ServerHandler};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Map, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio_util::task::AbortOnDropHandle;

type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// A server that tells what happens to it. It ends when dropped.
pub(crate) struct Probe {
    handler: Handler,
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

/// What all sessions share.
#[derive(Clone)]
struct Handler {
    version: ProtocolVersion,
    cancelled: Arc<Notify>,
    /// How many tools there are besides the fixed ones.
    grown: watch::Sender<usize>,
}

impl Probe {
    pub(crate) async fn serve(version: &ProtocolVersion) -> Self {
        let handler = Handler {
            version: version.clone(),
            cancelled: Arc::default(),
            grown: watch::Sender::new(0),
        };
        let each = handler.clone();
        let service: Service = StreamableHttpService::new(
            move || Ok(each.clone()),
            Arc::default(),
            StreamableHttpServerConfig::default(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a port").port();
        Self {
            handler,
            port,
            _serving: AbortOnDropHandle::new(tokio::spawn(accept(listener, service))),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Waits until a call was cancelled.
    pub(crate) async fn cancelled(&self) {
        self.handler.cancelled.notified().await;
    }
}

async fn accept(listener: TcpListener, service: Service) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let service = service.clone();
        let answer = service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        connections
            .spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

impl Handler {
    async fn wait(&self, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let token = context
            .meta
            .get_progress_token()
            .expect("the client gives a token");
        let progress = ProgressNotificationParam::new(token, 0.5).with_message("half");
        context
            .peer
            .notify_progress(progress)
            .await
            .expect("progress can be told");
        context.ct.cancelled().await;
        self.cancelled.notify_one();
        Ok(text("cancelled"))
    }

    async fn grow(&self, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        self.grown.send_modify(|count| *count += 1);
        if self.version < ProtocolVersion::V_2026_07_28 {
            context
                .peer
                .notify_tool_list_changed()
                .await
                .expect("a change can be told");
        }
        Ok(text("grown"))
    }
}

impl ServerHandler for Handler {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        vec![self.version.clone()].into()
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tool_list_changed()
                .build(),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        let grown = (1..=*self.grown.borrow()).map(|index| format!("grown-{index}"));
        let names = ["echo", "wait", "grow"]
            .into_iter()
            .map(str::to_owned)
            .chain(grown);
        Ok(ListToolsResult::with_all_items(
            names.map(|name| Tool::new(name, "", schema.clone())).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "wait" => self.wait(context).await,
            "grow" => self.grow(&context).await,
            _ => Ok(text(&json!(request.arguments).to_string())),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut grown = self.grown.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                _ = grown.changed() => {
                    context.sink().notify_tool_list_changed().await.expect("a change can be told");
                }
            }
        }
    }
}

fn text(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}
