//! `linkspan serve`: a window without an editor that prints its events; reviews are decided elsewhere.

mod printer;

use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use crate::cli::context::CliContext;
use crate::cli::exit::Failure;
use crate::cli::headless::{CloseHandle, Headless, HeadlessError, HeadlessEvent};
use crate::cli::output::Report;
use crate::cli::signals::termination;
use crate::commands::review::page::BrowserLink;
use printer::Printer;

/// Open a window without an editor, for agents in these folders.
///
/// It prints the changes that agents propose; decide them with `linkspan review`, in the page, or with other commands.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The workspace folders; the current folder if omitted.
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Also print a link to review changes in a browser, and open it.
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(args: &Args, cli: &CliContext, json: bool) -> Result<Report, Failure> {
    let folders = folders(&args.folders)?;
    let on_signal =
        listen_for_signals().map_err(|error| Failure::internal(format!("cannot handle signals: {error}")))?;
    let mut window = Headless::open(cli, &folders)?;
    on_signal(window.close_handle());
    let mut printer = Printer::new(folders, json);
    let ended = window.run(&mut |event| match event {
        HeadlessEvent::Open(window, files) => {
            printer.listening(window, files)?;
            if args.open { printer.page(BrowserLink::get(cli, true)) } else { Ok(()) }
        }
        HeadlessEvent::Shown(shown) => printer.shown(shown),
        HeadlessEvent::Waiting(waiting) => printer.waiting(waiting),
        HeadlessEvent::Hidden(hidden) => printer.hidden(hidden),
        HeadlessEvent::PermissionAsked(ask) => printer.permission_asked(ask),
        HeadlessEvent::PermissionClosed(closed) => printer.permission_closed(closed),
        HeadlessEvent::Message(message) => printer.message(message),
        HeadlessEvent::Notice(notice) => printer.notice(notice),
    });
    match ended.and_then(|()| Ok(printer.pending_at_close()?)) {
        Ok(()) => Ok(Report::default()),
        Err(HeadlessError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            window.close();
            let _ = window.run(&mut |_| Ok(()));
            Ok(Report::default())
        }
        Err(HeadlessError::Output(error)) => {
            Err(Failure::internal(format!("cannot write the output: {error}")))
        }
        Err(HeadlessError::Failed(failure)) => Err(failure),
    }
}

fn folders(given: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let here = [PathBuf::from(".")];
    let given = if given.is_empty() { here.as_slice() } else { given };
    given.iter().map(|folder| canonical(folder)).collect()
}

fn canonical(folder: &Path) -> Result<String, Failure> {
    let wrong =
        |why: &str| Failure::usage(format!("{} cannot be a workspace folder: {why}", folder.display()));
    let path = folder.canonicalize().map_err(|error| wrong(&error.to_string()))?;
    if !path.is_dir() {
        return Err(wrong("it is not a directory"));
    }
    path.into_os_string().into_string().map_err(|_| wrong("its path is not UTF-8"))
}

/// The handlers are installed before this returns, so that no signal is lost; the returned function closes a window at the
/// first one.
fn listen_for_signals() -> io::Result<impl FnOnce(CloseHandle)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let listening = runtime.enter();
    let terminated = termination()?;
    drop(listening);
    Ok(move |window: CloseHandle| {
        thread::spawn(move || {
            runtime.block_on(terminated);
            window.close();
        });
    })
}
