//! `linkspan mcp`: the editor as an MCP server on standard input and output, for any agent that speaks MCP.

mod agent_name;
mod args;
mod code_execution;
mod editor_session;
mod folders;
mod guard;
mod proposals;
mod results;
mod server;
mod stdio;
mod text;
mod tool_calls;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::ServiceExt;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::output::Report;
use crate::cli::signals::termination;
use crate::cli::window::WindowOptions;
use editor_session::EditorSession;
use folders::Folders;
use server::Server;
use stdio::Stdio;

pub(crate) const NAME: &str = "mcp";

/// Give any MCP agent the editor, on standard input and output.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project folders; if omitted, the roots of the client, or the current folder.
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let given = args.folders.iter().map(|folder| {
        let wrong =
            |why: &str| Failure::usage(format!("{} cannot be a project folder: {why}", folder.display()));
        let folder = std::path::absolute(folder).map_err(|error| wrong(&error.to_string()))?;
        if folder.is_dir() { Ok(folder) } else { Err(wrong("it is not a directory")) }
    });
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let cwd = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("cannot read the current directory: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::internal(format!("cannot start the server: {error}")))?;
    let session = Arc::new(EditorSession::new(cli.clone(), args.window.clone()));
    let served = runtime.block_on(serve(Arc::clone(&session), Folders::new(given, cwd)));
    // Withdraws pending changes.
    session.close();
    // Does not wait for a thread that hangs in a call.
    runtime.shutdown_background();
    served.map(|()| Report::default())
}

async fn serve(session: Arc<EditorSession>, folders: Folders) -> Result<(), Failure> {
    let terminated =
        termination().map_err(|error| Failure::internal(format!("cannot handle signals: {error}")))?;
    let (stdio, input_end) = Stdio::open();
    let server = Server::new(session, folders, input_end);
    tokio::select! {
        () = converse(server, stdio) => {}
        () = terminated => {}
    }
    Ok(())
}

async fn converse(server: Server, stdio: Stdio) {
    // Fails if the client disconnects before it is initialized, which is not an error of ours.
    if let Ok(running) = server.serve(stdio).await {
        let _ = running.waiting().await;
    }
}
