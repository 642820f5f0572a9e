//! One demo server as `rmcp` wants it.

use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError, serve_server};

use super::transport::{RawArguments, Stdio};
use super::{Arguments, DemoError, Refusal, Service};

/// A demo server.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) service: Box<dyn Service>,
    pub(super) tools: Vec<Tool>,
}

/// Serves until the input ends.
pub(super) async fn run(server: Server) -> Result<(), DemoError> {
    match serve_server(server, Stdio::new()).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|e| DemoError::Protocol(e.to_string())),
        // Nobody said anything: as good an end as any.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(e) => Err(DemoError::Protocol(e.to_string())),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let version = env!("CARGO_PKG_VERSION");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(format!("plangate-demo-{}", self.name), version))
            .with_instructions("A demo. Nothing that it does leaves this machine.")
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let raw = context.extensions.get::<RawArguments>().map_or("{}", |raw| raw.0.as_str());
        // Sleeping, not busy: calls overlap.
        tokio::time::sleep(self.service.takes(&request.name)).await;
        let done = Arguments::new(raw).and_then(|arguments| self.service.call(&request.name, &arguments));
        match done {
            Ok(value) => Ok(CallToolResult::structured(value.to_serde_json()).into()),
            Err(Refusal::Failed(words)) => Ok(CallToolResult::error(vec![ContentBlock::text(words)]).into()),
            Err(Refusal::Arguments(words)) => Err(ErrorData::invalid_params(words, None)),
            Err(Refusal::NoTool) => {
                Err(ErrorData::invalid_params(format!("no tool {:?}", request.name), None))
            }
        }
    }
}
