//! The server as rmcp sees it: what it says of itself, which tools it lists, and how a call becomes an answer.

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::task::spawn_blocking;

use super::agent_name::agent_name;
use super::desk::{Caller, Desk};
use super::executing;
use super::folders::{Folders, Next};
use super::perform::{Answer, perform};
use super::proposing;
use super::stdio::Over;
use super::tools::{self, Tool};

const INSTRUCTIONS: &str = include_str!("instructions.md");

#[derive(Debug)]
pub(super) struct Server {
    pub(super) desk: Arc<Desk>,
    folders: Folders,
    pub(super) over: Over,
}

impl Server {
    pub(super) fn new(desk: Arc<Desk>, folders: Folders, over: Over) -> Server {
        Server { desk, folders, over }
    }

    fn caller(context: &RequestContext<RoleServer>, folders: Vec<PathBuf>) -> Caller {
        let client = context.client_info();
        let name = client
            .as_ref()
            .map_or("an MCP agent", |client| agent_name(&client.name, client.title.as_deref()));
        let version = client.as_ref().map_or("", |client| &client.version);
        Caller { name: name.to_owned(), version: version.to_owned(), folders }
    }

    async fn call(
        &self,
        tool: Tool,
        request: CallToolRequestParams,
        caller: Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answer, String> {
        let given = request.arguments.unwrap_or_default();
        match tool {
            Tool::ProposeChange => proposing::one(self, given, caller, context).await,
            Tool::ProposeChanges => proposing::several(self, given, caller, context).await,
            Tool::CompareTexts => proposing::compare(self, given, caller, context).await,
            Tool::ExecuteCode => executing::execute(self, given, caller, context).await,
            _ => {
                let desk = Arc::clone(&self.desk);
                let performed = spawn_blocking(move || perform(tool, given, &desk, &caller)).await;
                performed.unwrap_or_else(|error| Err(format!("a fault in Linkspan: {error}")))
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let about = Implementation::new("linkspan", env!("CARGO_PKG_VERSION"))
            .with_title("Linkspan: the person's editor");
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // Clients that never list again would not see what an editor offers that is there by now.
        let caller = Server::caller(&context, self.folders.so_far());
        let desk = Arc::clone(&self.desk);
        let _ = spawn_blocking(move || desk.sit_if_there(&caller)).await;
        Ok(ListToolsResult::with_all_items(tools::listed(&self.desk.offered().borrow())))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(row) = tools::named(&request.name) else {
            let known = tools::ALL.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
            let message = format!("there is no tool `{}`; there are {known}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let folders = match self.folders.of_call(&request, &context).await {
            Next::Go(folders) => folders,
            Next::AskBack(question) => return Ok(question.into()),
        };
        let caller = Server::caller(&context, folders);
        let result = match self.call(row.tool, request, caller, &context).await {
            Ok(Answer { text, data }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(data);
                result
            }
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        Ok(result.into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (mut offered, mut over) = (self.desk.offered(), self.over.clone());
        loop {
            tokio::select! {
                changed = offered.changed() => {
                    if changed.is_err() || context.peer.notify_tool_list_changed().await.is_err() {
                        return;
                    }
                }
                () = over.ended() => return,
            }
        }
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.folders.forget_roots();
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (mut offered, mut over) = (self.desk.offered(), self.over.clone());
        loop {
            tokio::select! {
                changed = offered.changed() => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
                () = context.cancelled() => return Ok(()),
                () = over.ended() => return Ok(()),
            }
        }
    }
}
