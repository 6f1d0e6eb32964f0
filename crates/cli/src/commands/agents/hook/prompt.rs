//! A new prompt or session: the model is told what the user has open, as `linkspan context` prints it.

use std::path::Path;

use linkspan_dialect::hooks::HookAnswer;

use super::{HookRun, report, windows};
use crate::cli::context::CliContext;
use crate::cli::window;
use crate::commands::editor::context::{ContextParts, config_for, context_text};

pub(super) fn answer(run: &HookRun, is_prompt: bool) -> HookAnswer {
    let (cli, cwd, report) = (run.cli.clone(), run.call.cwd.clone(), report::report(run));
    let text = report::in_time(move || {
        if is_prompt {
            report::send(&cli, report);
        }
        text(&cli, &cwd)
    });
    match text.flatten() {
        Some(text) if !run.memory.is_repeated(run.session_key(), &text) => HookAnswer::Context { text },
        _ => HookAnswer::Pass,
    }
}

/// Nothing without a window, and nothing if the configuration cannot be read: it says what is kept from agents.
fn text(cli: &CliContext, cwd: &Path) -> Option<String> {
    let window = windows::for_folder(cli, cwd)?;
    let config = config_for(cli, cwd).ok()?;
    let connection = window::open(&window, cli).ok()?;
    let text = context_text(&connection, &config, ContextParts::default());
    connection.close();
    text.ok().flatten()
}
