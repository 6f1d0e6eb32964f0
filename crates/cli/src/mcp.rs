//! `linkspan mcp`: the editor as an MCP server on standard input and output, for any agent that speaks MCP.

mod agent_name;
mod arguments;
mod desk;
mod executing;
mod folders;
mod guard;
mod perform;
mod proposing;
mod results;
mod server;
mod stdio;
mod tools;
mod wording;

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::ServiceExt;

use crate::exit::Failure;
use crate::output::Report;
use crate::reach::Reach;
use crate::signals::leave_asked;
use crate::window::WindowOptions;
use desk::Desk;
use folders::Folders;
use server::Server;
use stdio::Stdio;

/// Give any MCP agent the editor, on standard input and output.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project folders; those the client tells, or the current one, if none is given.
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    let given = args.folders.iter().map(|folder| {
        let wrong = |why: &str| Failure::usage(format!("{} cannot be a project: {why}", folder.display()));
        let folder = std::path::absolute(folder).map_err(|error| wrong(&error.to_string()))?;
        if folder.is_dir() { Ok(folder) } else { Err(wrong("it is not a directory")) }
    });
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let cwd = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current directory cannot be found: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::internal(format!("the server cannot be started: {error}")))?;
    let desk = Arc::new(Desk::new(reach.clone(), args.window.clone()));
    let served = runtime.block_on(serve(Arc::clone(&desk), Folders::new(given, cwd)));
    // Whatever still waits is taken back by this.
    desk.leave();
    // A thread that hangs in a call must not keep us.
    runtime.shutdown_background();
    served.map(|()| Report::default())
}

async fn serve(desk: Arc<Desk>, folders: Folders) -> Result<(), Failure> {
    let asked =
        leave_asked().map_err(|error| Failure::internal(format!("signals cannot be handled: {error}")))?;
    let (stdio, over) = Stdio::open();
    let server = Server::new(desk, folders, over);
    tokio::select! {
        () = converse(server, stdio) => {}
        () = asked => {}
    }
    Ok(())
}

async fn converse(server: Server, stdio: Stdio) {
    // No conversation begins with a client that leaves at once, and that is no failure of ours.
    if let Ok(running) = server.serve(stdio).await {
        let _ = running.waiting().await;
    }
}
