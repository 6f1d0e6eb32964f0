//! The MCP server: its description, the tools that it lists, and how a call becomes an answer.

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
use super::code_execution;
use super::editor_session::{Caller, EditorSession};
use super::folders::{CallFolders, Folders};
use super::proposals;
use super::stdio::InputEnd;
use super::tool_calls::{ToolAnswer, perform};
use super::tools::{self, Tool};

const INSTRUCTIONS: &str = include_str!("instructions.md");

#[derive(Debug)]
pub(super) struct Server {
    pub(super) session: Arc<EditorSession>,
    folders: Folders,
    pub(super) input_end: InputEnd,
}

impl Server {
    pub(super) fn new(session: Arc<EditorSession>, folders: Folders, input_end: InputEnd) -> Server {
        Server { session, folders, input_end }
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
    ) -> Result<ToolAnswer, String> {
        let given = request.arguments.unwrap_or_default();
        match tool {
            Tool::ProposeChange => proposals::one(self, given, caller, context).await,
            Tool::ProposeChanges => proposals::several(self, given, caller, context).await,
            Tool::CompareTexts => proposals::compare(self, given, caller, context).await,
            Tool::ExecuteCode => code_execution::execute(self, given, caller, context).await,
            _ => {
                let session = Arc::clone(&self.session);
                let performed = spawn_blocking(move || perform(tool, given, &session, &caller)).await;
                performed.unwrap_or_else(|error| Err(format!("an error in Linkspan: {error}")))
            }
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let about = Implementation::new("linkspan", env!("CARGO_PKG_VERSION"))
            .with_title("Linkspan: the user's editor");
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // Connect first: a client that lists only once would miss the tools of an editor that is available by now.
        let caller = Server::caller(&context, self.folders.known_now());
        let session = Arc::clone(&self.session);
        let _ = spawn_blocking(move || session.connect_if_available(&caller)).await;
        Ok(ListToolsResult::with_all_items(tools::listed(&self.session.offered().borrow())))
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
            CallFolders::Known(folders) => folders,
            CallFolders::InputRequired(question) => return Ok(question.into()),
        };
        let caller = Server::caller(&context, folders);
        let result = match self.call(row.tool, request, caller, &context).await {
            Ok(ToolAnswer { text, data }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(data);
                result
            }
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        Ok(result.into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (mut offered, mut input_end) = (self.session.offered(), self.input_end.clone());
        loop {
            tokio::select! {
                changed = offered.changed() => {
                    if changed.is_err() || context.peer.notify_tool_list_changed().await.is_err() {
                        return;
                    }
                }
                () = input_end.reached() => return,
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
        let (mut offered, mut input_end) = (self.session.offered(), self.input_end.clone());
        loop {
            tokio::select! {
                changed = offered.changed() => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
                () = context.cancelled() => return Ok(()),
                () = input_end.reached() => return Ok(()),
            }
        }
    }
}
