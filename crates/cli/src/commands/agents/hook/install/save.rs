//! `linkspan hook install` and `remove`: shows what will change, asks, writes, and reports.

use std::io::{self, IsTerminal, Write};

use serde_json::{Value, json};

use super::WritingArgs;
use super::plan::{Goal, Plan, PlanError};
use super::settings_file::SaveError;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{ADDED, DIM, HEAD, REMOVED, Report, styled, warn};
use crate::visible;

/// What became of one settings file.
struct SavedFile {
    plan: Plan,
    /// A backup that was written.
    backup: Option<String>,
}

pub(super) fn carry_out(
    plans: Vec<Result<Plan, PlanError>>,
    goal: &Goal,
    args: WritingArgs,
    json: bool,
) -> Result<Report, Failure> {
    let mut failures: Vec<(PlanError, Exit)> = Vec::new();
    let mut good = Vec::new();
    for plan in plans {
        match plan {
            Ok(plan) => good.push(plan),
            Err(error) => failures.push((error, Exit::Refused)),
        }
    }
    let is_needed = good.iter().any(|plan| !plan.is_empty());
    if !json {
        show(&good)?;
    }
    if is_needed && !args.dry_run && !args.yes {
        confirm(goal, json)?;
    }
    let mut saved = Vec::new();
    for plan in good {
        if args.dry_run || plan.is_empty() {
            saved.push(SavedFile { plan, backup: None });
            continue;
        }
        match save(plan, goal) {
            Ok(file) => saved.push(file),
            Err(failure) => failures.push(failure),
        }
    }
    report(&saved, &failures, goal, args.dry_run)
}

/// Prints the differences before anything is written.
fn show(plans: &[Plan]) -> Result<(), Failure> {
    let mut text = String::new();
    for plan in plans.iter().filter(|plan| !plan.is_empty()) {
        text += &format!("{}\n", styled(HEAD, plan.row.agent.display_name()));
        if plan.file.is_elsewhere {
            let (path, target) = (plan.file.path.display(), plan.file.target.display());
            text += &format!("{path} leads to {target}, which is the file that changes\n");
        }
        for line in plan.diff().lines() {
            let style = match line.as_bytes().first() {
                Some(b'+') => ADDED,
                Some(b'-') => REMOVED,
                Some(b'@') => DIM,
                _ => anstyle::Style::new(),
            };
            text += &format!("{}\n", styled(style, &visible::code(line)));
        }
        text.push('\n');
    }
    let mut out = anstream::stdout().lock();
    let printed = write!(out, "{text}").and_then(|()| out.flush());
    printed.map_err(|error| Failure::internal(format!("cannot show what will change: {error}")))
}

fn confirm(goal: &Goal, json: bool) -> Result<(), Failure> {
    if json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::usage(
            "nothing was changed: pass --yes to write this, or --dry-run to only look at it",
        ));
    }
    let question = match goal {
        Goal::Install(_) => "install the hook? [y/N] ",
        Goal::Remove { .. } => "remove the hook? [y/N] ",
    };
    let mut out = anstream::stdout().lock();
    let mut answer = String::new();
    write!(out, "{question}")
        .and_then(|()| out.flush())
        .and_then(|()| io::stdin().read_line(&mut answer))
        .map_err(|error| Failure::internal(format!("cannot ask for confirmation: {error}")))?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::new(Exit::Negative, "nothing was changed")),
    }
}

fn save(plan: Plan, goal: &Goal) -> Result<SavedFile, (PlanError, Exit)> {
    let (row, path) = (plan.row, plan.file.path.display().to_string());
    let failed = |error: SaveError| match error {
        SaveError::Changed => {
            let message = format!(
                "{path} was changed by another program meanwhile, so it was left as it is now; run the command again"
            );
            (PlanError { row, message }, Exit::Negative)
        }
        SaveError::Failed(message) => (PlanError { row, message }, Exit::Refused),
    };
    // The backup is the file without our hooks: an update does not replace it.
    let is_new = !plan.had_hooks || plan.file.backup().is_none();
    let mut backup = None;
    if matches!(goal, Goal::Install(_)) && is_new && plan.file.save_backup().map_err(failed)? {
        backup = Some(plan.file.backup_path().display().to_string());
    }
    plan.file.save(plan.after.as_deref(), row.form).map_err(failed)?;
    if matches!(goal, Goal::Remove { .. }) && plan.file.backup() == plan.after && plan.after.is_some() {
        plan.file.remove_backup();
    }
    Ok(SavedFile { plan, backup })
}

fn report(
    saved: &[SavedFile],
    failures: &[(PlanError, Exit)],
    goal: &Goal,
    dry_run: bool,
) -> Result<Report, Failure> {
    let exit = failures.first().map_or(Exit::Ok, |(_, exit)| *exit);
    if let ([], [_, ..]) = (saved, failures) {
        let messages: Vec<&str> = failures.iter().map(|(error, _)| error.message.as_str()).collect();
        return Err(Failure::new(exit, messages.join("\n")));
    }
    for (error, _) in failures {
        warn(&format!("{}: {}", error.row.agent, error.message));
    }
    let failed = failures.iter().map(|(error, exit)| {
        json!({ "agent": error.row.agent.id(), "error": { "code": exit.name(), "message": error.message } })
    });
    let agents: Vec<Value> = saved.iter().map(document).chain(failed).collect();
    // Agents that never had the hook are of no interest where others lose it.
    let is_listed = |file: &&SavedFile| {
        let is_removal = matches!(goal, Goal::Remove { .. });
        !file.plan.is_empty() || !is_removal || saved.iter().all(|file| file.plan.is_empty())
    };
    let text: String = saved.iter().filter(is_listed).map(|file| lines(file, goal, dry_run)).collect();
    Ok(Report::new(text, json!({ "dryRun": dry_run, "agents": agents })).ending(exit))
}

fn document(file: &SavedFile) -> Value {
    let SavedFile { plan, backup } = file;
    let changes: Vec<Value> =
        plan.changes.iter().map(|one| json!({ "event": one.event, "change": one.change })).collect();
    json!({
        "agent": plan.row.agent.id(),
        "path": plan.file.path,
        "target": plan.file.target,
        "changed": !plan.is_empty(),
        "changes": changes,
        "diff": plan.diff(),
        "backup": backup,
        "kept": plan.kept,
        "note": plan.row.note,
    })
}

fn lines(file: &SavedFile, goal: &Goal, dry_run: bool) -> String {
    let SavedFile { plan, backup } = file;
    let agent = plan.row.agent;
    let path = visible::name(&plan.file.path.display().to_string());
    let mut text = match (goal, plan.is_empty(), dry_run) {
        (Goal::Install(_), true, _) => format!("{agent}: the hook is installed already in {path}\n"),
        (Goal::Remove { .. }, true, _) => format!("{agent}: there is no hook to remove in {path}\n"),
        (Goal::Install(_), false, true) => format!("{agent}: would install the hook in {path}\n"),
        (Goal::Remove { .. }, false, true) => format!("{agent}: would remove the hook from {path}\n"),
        (Goal::Install(_), false, false) => format!("{agent}: installed the hook in {path}\n"),
        (Goal::Remove { .. }, false, false) => match plan.after {
            Some(_) => format!("{agent}: removed the hook from {path}\n"),
            None => format!("{agent}: removed {path}\n"),
        },
    };
    if let Some(backup) = backup {
        text += &format!("  the file as it was before: {}\n", visible::name(backup));
    }
    if !plan.kept.is_empty() {
        let (kept, id) = (plan.kept.join(" "), agent.id());
        text += &format!("  kept {kept}; to drop options, run `linkspan hook remove {id}` first\n");
    }
    if let (Goal::Install(_), Some(note), false) = (goal, plan.row.note, plan.is_empty()) {
        text += &format!("  {note}\n");
    }
    text
}
