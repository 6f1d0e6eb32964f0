//! What the hub is told about an agent without a question: a new prompt, an edit that is done, the end of a turn.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use linkspan_client::{HookReport, HookReportKind};
use linkspan_dialect::hooks::HookEvent;

use super::HookRun;
use crate::cli::context::CliContext;

/// How long an agent may be kept waiting by an event without a question.
const DEADLINE: Duration = Duration::from_secs(2);

/// Runs some work on another thread. `None` if it takes too long: the process then ends without it.
pub(super) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, result) = channel();
    let started = thread::Builder::new().spawn(move || drop(sender.send(work())));
    started.ok().and_then(|_| result.recv_timeout(DEADLINE).ok())
}

/// Tells the hub what happened, if it is one of its events and answers soon.
pub(super) fn send_in_time(run: &HookRun) {
    let (cli, report) = (run.cli.clone(), report(run));
    in_time(move || send(&cli, report));
}

/// Tells the hub, without a deadline of its own.
pub(super) fn send(cli: &CliContext, report: Option<HookReport>) {
    // An older hub does not know the event; nothing depends on it.
    if let (Some(report), Ok(mut control)) = (report, cli.connect()) {
        let _ = control.report_hook(&report);
    }
}

pub(super) fn report(run: &HookRun) -> Option<HookReport> {
    let (event, message, paths) = match &run.call.event {
        HookEvent::Prompt => (HookReportKind::Prompt, None, Vec::new()),
        HookEvent::SessionEnd => (HookReportKind::Ended, None, Vec::new()),
        HookEvent::Stopped => (HookReportKind::Stopped, None, Vec::new()),
        HookEvent::Waiting { message } => (HookReportKind::Waiting, Some(message.clone()), Vec::new()),
        HookEvent::EditDone { files } => {
            let paths = files.iter().filter_map(|file| Some(file.to_str()?.to_owned())).collect();
            (HookReportKind::Edited, None, paths)
        }
        HookEvent::Edit(_)
        | HookEvent::EditPermission(_)
        | HookEvent::Command { .. }
        | HookEvent::SessionStart
        | HookEvent::Other => return None,
    };
    Some(HookReport {
        agent: run.call.agent.display_name().to_owned(),
        session: run.session_id(),
        cwd: run.call.cwd.to_str()?.to_owned(),
        event,
        message,
        paths,
    })
}
