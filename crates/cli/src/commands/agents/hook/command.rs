//! A command that the agent is about to run: the user is asked whether it may, and nothing is run here.

use std::process;
use std::time::Duration;

use linkspan_client::connection::PendingPermission;
use linkspan_client::{CallError, Connection, PermissionAnswer};
use linkspan_dialect::hooks::HookAnswer;

use super::caller_watch::CallerWatch;
use super::review::undecided;
use super::{HookRun, windows};

/// How often we look whether the agent still waits.
const LOOK_PAUSE: Duration = Duration::from_secs(1);
const REFUSED: &str = "The user did not allow this command.";

pub(super) fn answer(run: &HookRun, command: &str) -> HookAnswer {
    let Some(window) = windows::for_folder(&run.cli, &run.call.cwd) else {
        return run.without_window();
    };
    let asked = Connection::open(&window, &run.agent(), &run.cli.places)
        .map_err(|error| error.to_string())
        .and_then(|connection| {
            let pending = connection.asking_permission(command).map_err(|error| error.to_string())?;
            let answer = wait(&pending)?;
            connection.close();
            Ok(answer)
        });
    match asked {
        Ok(Ok(PermissionAnswer { allowed: true, .. })) => HookAnswer::Allow { context: None },
        Ok(Ok(PermissionAnswer { message, .. })) => {
            HookAnswer::Deny { reason: message.unwrap_or_else(|| REFUSED.into()) }
        }
        Ok(Err(error)) => match undecided(&error) {
            Some(why) => HookAnswer::Deny {
                reason: format!(
                    "The user has not decided on this command ({why}). It must not run. Ask again if it is still wanted."
                ),
            },
            None => run.unasked(&error.to_string()),
        },
        Err(why) => run.unasked(&why),
    }
}

/// The outer error is ours: nothing was asked.
fn wait(pending: &PendingPermission) -> Result<Result<PermissionAnswer, CallError>, String> {
    let question = pending.clone();
    let caller = CallerWatch::start(move || {
        question.cancel();
        process::exit(0);
    });
    let caller = caller.map_err(|error| format!("cannot handle signals: {error}"))?;
    loop {
        match pending.wait_timeout(LOOK_PAUSE) {
            Some(answer) => return Ok(answer),
            None if caller.is_caller_gone() => {
                pending.cancel();
                process::exit(0);
            }
            None => {}
        }
    }
}
