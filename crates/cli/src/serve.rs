//! `linkspan serve`: a window without an editor that only says what it hears; reviews are decided elsewhere.

mod says;

use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use crate::exit::Failure;
use crate::headless::{Ended, Happening, Headless, Leave};
use crate::output::Report;
use crate::page::Link;
use crate::reach::Reach;
use crate::signals::leave_asked;
use says::Says;

/// Open a window without an editor, for the agents working in these folders.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The workspace folders; the current one if none is given.
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Print a link to the page where changes are reviewed in a browser, and ask the browser to open it.
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(args: &Args, reach: &Reach, json: bool) -> Result<Report, Failure> {
    let folders = folders(&args.folders)?;
    let on_signal = listen_for_signals()
        .map_err(|error| Failure::internal(format!("signals cannot be handled: {error}")))?;
    let mut window = Headless::open(reach, &folders)?;
    on_signal(window.leave_handle());
    let mut says = Says::new(folders, json);
    let ended = window.run(&mut |happening| match happening {
        Happening::Open(window, files) => {
            says.listening(window, files)?;
            if args.open { says.page(Link::get(reach, true)) } else { Ok(()) }
        }
        Happening::Shown(shown) => says.shown(shown),
        Happening::Waiting(waiting) => says.waiting(waiting),
        Happening::Hidden(hidden) => says.hidden(hidden),
        Happening::Asked(asked) => says.asked(asked),
        Happening::AskOver(over) => says.ask_over(over),
        Happening::Message(message) => says.message(message),
        Happening::Notice(notice) => says.notice(notice),
    });
    match ended.and_then(|()| Ok(says.left_behind()?)) {
        Ok(()) => Ok(Report::default()),
        Err(Ended::Untold(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            window.leave();
            let _ = window.run(&mut |_| Ok(()));
            Ok(Report::default())
        }
        Err(Ended::Untold(error)) => {
            Err(Failure::internal(format!("the output could not be written: {error}")))
        }
        Err(Ended::Failed(failure)) => Err(failure),
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

/// Listens before it returns, so that no signal is lost; what it returns acts on them.
fn listen_for_signals() -> io::Result<impl FnOnce(Leave)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let listening = runtime.enter();
    let asked = leave_asked()?;
    drop(listening);
    Ok(move |leave: Leave| {
        thread::spawn(move || {
            runtime.block_on(asked);
            leave.now();
        });
    })
}
