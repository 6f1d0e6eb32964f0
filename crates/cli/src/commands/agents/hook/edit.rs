//! An edit that the agent is about to make: shown to the user, decided, and answered.

use std::process;

use linkspan_client::ChangeOutcome;
use linkspan_client::connection::ChangeWriter;
use linkspan_dialect::hooks::{EditCall, EditError, HookAnswer};

use super::accepted_text::FileDecision;
use super::edit_plan::{PlanError, PlannedFile, plan, read};
use super::review::{ReviewResult, review};
use super::{HookRun, decision, move_target, windows};
use crate::cli::output::warn;

pub(super) fn answer(run: &HookRun, edit: &EditCall) -> HookAnswer {
    let Some(first) = edit.files.first() else { return HookAnswer::Pass };
    let Some(window) = windows::for_file(&run.cli, &run.call.cwd, &first.path) else {
        return run.without_window();
    };
    let files = match plan(edit) {
        Ok(files) => files,
        // The agent's tool reports that better than we can.
        Err(PlanError::NoEdit) => return HookAnswer::Pass,
        Err(PlanError::Fails(error)) => return failing(run, &error),
        Err(PlanError::NotShown(why)) => return run.unasked(&why),
        Err(PlanError::OnlyEndings(path)) => {
            let reason = format!(
                "Nothing was written: the edit changes only the line endings of {}, and they stay as they are.",
                path.display()
            );
            return HookAnswer::Deny { reason };
        }
    };
    let targets = files.iter().filter_map(|file| file.result.moved_to.as_deref());
    for target in targets {
        if let Err(why) = move_target::check(run, &window, target) {
            return HookAnswer::Deny { reason: format!("Nothing was moved or written: {why}.") };
        }
    }
    let agent = run.agent();
    let set = (files.len() > 1).then(|| agent.session.clone());
    let writer = writer(edit, &files);
    let changes: Vec<_> = files.iter().map(|file| file.change(writer, set.as_deref())).collect();
    match review(&window, agent, &changes) {
        ReviewResult::Decided(outcomes) => decided(run, edit, &files, &outcomes),
        ReviewResult::NotShown(why) => run.unasked(&why),
        ReviewResult::Undecided { why, outcomes } => {
            HookAnswer::Deny { reason: decision::undecided(why, &files, &outcomes) }
        }
        // Nobody reads an answer.
        ReviewResult::CallerGone => process::exit(0),
    }
}

/// The answer to an edit whose old text is not in the file. A tool that accepts a similar text would write what nobody
/// has seen; an exact one reports the problem better than we can.
fn failing(run: &HookRun, error: &EditError) -> HookAnswer {
    let (found, path) = match error {
        EditError::NotFound { path } => ("was not found exactly", path),
        EditError::NotUnique { path, .. } => ("was found more than once", path),
        EditError::TooLarge { .. } => return run.unasked(&error.to_string()),
        EditError::NoFile { .. } | EditError::Exists { .. } | EditError::NoChange { .. } => {
            return HookAnswer::Pass;
        }
    };
    if !run.options.require && !run.call.matches_loosely() {
        return HookAnswer::Pass;
    }
    let reason = format!(
        "`old_string` {found} in {}. Read the file again, then repeat the edit with its exact text.",
        path.display()
    );
    HookAnswer::Deny { reason }
}

/// The agent writes what it was allowed to write. An event that cannot rewrite the edit would lose a text that the user
/// changed, so there the hub writes from the start: the writer cannot change after the decision.
fn writer(edit: &EditCall, files: &[PlannedFile]) -> ChangeWriter {
    if edit.rewrites || !files.iter().all(PlannedFile::is_plain) {
        ChangeWriter::Caller
    } else {
        ChangeWriter::Editor
    }
}

fn decided(run: &HookRun, edit: &EditCall, files: &[PlannedFile], outcomes: &[ChangeOutcome]) -> HookAnswer {
    // The user may have taken long, and so the files are read again: the agent's tool finds them as they are now.
    let texts: Result<Vec<Option<String>>, String> = files.iter().map(|file| read(&file.path)).collect();
    let texts = match texts {
        Ok(texts) => texts,
        Err(why) => {
            return HookAnswer::Deny {
                reason: format!("Nothing was written: {why}. Propose the edit again."),
            };
        }
    };
    let decisions = files.iter().zip(outcomes).zip(&texts);
    let decisions: Vec<FileDecision<'_>> =
        decisions.map(|((file, outcome), now)| FileDecision { file, outcome, now: now.as_deref() }).collect();
    let targets = files.iter().filter_map(|file| file.result.moved_to.as_deref());
    if let Some(why) = targets.into_iter().find_map(move_target::existing) {
        return HookAnswer::Deny { reason: format!("Nothing was moved or written: {why}.") };
    }
    let answer = decision::answer(edit, &decisions);
    let context = match &answer {
        HookAnswer::Allow { context } => context.as_deref(),
        // The answer becomes a denial, so nothing follows it.
        HookAnswer::Rewrite { files, .. } if !run.call.can_rewrite(files) => return answer,
        HookAnswer::Rewrite { context, .. } => Some(context.as_str()),
        _ => return answer,
    };
    let mut words = context.filter(|_| !run.call.tells_context_now());
    for (file, result) in decision::accepted(&decisions) {
        // The words are about all files, and are told once.
        if let Err(error) = run.memory.remember(run.session_key(), &file.path, &result, words.take()) {
            warn(&format!("the decision is not remembered, so the agent may ask again: {error}"));
        }
    }
    answer
}
