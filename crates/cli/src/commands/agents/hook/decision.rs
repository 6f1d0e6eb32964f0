//! What the agent is told: its edit as it is, a rewritten one, or a denial, from the user's decisions on its files. Pure.

use linkspan_client::ChangeOutcome;
use linkspan_dialect::DecidedHunk;
use linkspan_dialect::hooks::{
    DecidedFile, EditCall, FileResult, FileVerdict, HookAnswer, RewrittenFile, model_text, not_written,
};
use linkspan_review::adopt_endings;

use super::accepted_text::FileDecision;
use super::edit_plan::{PlannedFile, with_lf};

const REJECTED: &str = "The user rejected this edit.";
const WRITTEN: &str = "Do not repeat this edit: it is done. The user decided on it, and Linkspan already wrote the \
                       result to the file, because this agent cannot take over a changed text here. Read the file \
                       before you edit it again.";

const ONLY_WHOLE: &str =
    "the user accepted only a part of it, and a file is deleted or moved as a whole or not at all";

/// The answer to this edit, with the decision on each of its files.
pub(super) fn answer(edit: &EditCall, files: &[FileDecision<'_>]) -> HookAnswer {
    let verdicts: Vec<FileVerdict> = files.iter().map(verdict).collect();
    let decided = files.iter().zip(&verdicts).map(|(file, verdict)| decided_file(file, verdict));
    let text = model_text(&decided.collect::<Vec<_>>());
    let details = |text: &str| format!("\n\n{text}");
    if files.iter().any(|file| file.outcome.is_accepted() && file.outcome.written) {
        let details = text.as_deref().map(details).unwrap_or_default();
        return HookAnswer::Deny { reason: format!("{WRITTEN}{details}") };
    }
    let is_accepted = |verdict: &FileVerdict| matches!(verdict, FileVerdict::Accepted { .. });
    if !verdicts.iter().any(is_accepted) {
        return HookAnswer::Deny { reason: text.unwrap_or_else(|| REJECTED.into()) };
    }
    let mut accepted = files.iter().zip(&verdicts).filter(|(_, verdict)| is_accepted(verdict));
    if let Some((changed, _)) = accepted.find(|(file, _)| !file.is_about_this_file()) {
        let details = text.map(|text| details(&not_written(&text))).unwrap_or_default();
        let reason = format!(
            "Nothing was written: {} changed meanwhile, so the user's decision is not about the file as it is now. Read \
             it again and propose the edit again.{details}",
            changed.file.path.display()
        );
        return HookAnswer::Deny { reason };
    }
    let as_proposed = |(file, verdict): (&FileDecision<'_>, &FileVerdict)| {
        is_accepted(verdict) && (!file.file.is_plain() || file.own_text(edit) == file.accepted())
    };
    if files.iter().zip(&verdicts).all(as_proposed) {
        return HookAnswer::Allow { context: text };
    }
    let files = rewritten(files, &verdicts, edit.files.len());
    HookAnswer::Rewrite { files, context: text.unwrap_or_default() }
}

/// The reason of a denial because the user saw the changes and has not decided about all of them.
pub(super) fn undecided(why: &str, files: &[PlannedFile], outcomes: &[Option<ChangeOutcome>]) -> String {
    let rejected = files.iter().zip(outcomes).filter_map(|(file, outcome)| {
        let outcome = outcome.as_ref().filter(|outcome| !outcome.is_accepted())?;
        let decision = FileDecision { file, outcome, now: None };
        Some(decided_file(&decision, &verdict(&decision)))
    });
    let details = model_text(&rejected.collect::<Vec<_>>());
    let details = details.map(|text| format!("\n\n{text}")).unwrap_or_default();
    format!(
        "The user has not decided on this change ({why}). Nothing was written. Propose it again if it is still \
         wanted.{details}"
    )
}

/// The files that the agent will write with this answer, each with its result.
pub(super) fn accepted<'a>(
    files: &'a [FileDecision<'a>],
) -> impl Iterator<Item = (&'a PlannedFile, FileResult)> {
    files.iter().filter_map(|file| match verdict(file) {
        FileVerdict::Accepted { text, .. } => {
            Some((file.file, FileResult { text, moved_to: file.file.result.moved_to.clone() }))
        }
        FileVerdict::Rejected { .. } => None,
    })
}

/// With texts in LF.
fn verdict(decision: &FileDecision<'_>) -> FileVerdict {
    let FileDecision { file, outcome, .. } = decision;
    let rejected = || FileVerdict::Rejected { reason: outcome.reason.clone() };
    if !outcome.is_accepted() {
        return rejected();
    }
    let proposed = file.result.text.as_deref().map(with_lf);
    // Only a text that the hub wrote and that is too large for a message is left out; it is the proposed one or in the
    // file, which the model is told to read.
    let Some(text) = &outcome.text else {
        return FileVerdict::Accepted { text: proposed, hunks: Vec::new() };
    };
    let text = with_lf(text);
    if file.is_plain() {
        // The user took nothing, or changed everything back.
        return if !decision.is_all() && file.current.as_ref() == Some(&text) {
            rejected()
        } else {
            FileVerdict::Accepted { text: Some(text), hunks: hunks(outcome) }
        };
    }
    // A file is deleted or moved as a whole, or stays as it is.
    if text == with_lf(&file.compared().new) {
        FileVerdict::Accepted { text: proposed, hunks: Vec::new() }
    } else {
        FileVerdict::Rejected { reason: Some(ONLY_WHOLE.into()) }
    }
}

fn hunks(outcome: &ChangeOutcome) -> Vec<DecidedHunk> {
    let hunks = outcome.hunks.iter().cloned().map(|hunk| DecidedHunk {
        id: hunk.id,
        before_start: hunk.before_start,
        before_count: hunk.before_count,
        after_start: hunk.after_start,
        after_count: hunk.after_count,
        taken: hunk.taken,
    });
    hunks.collect()
}

/// What the model is told about: the texts that the user saw, so that changes of others are not said to be the user's.
fn decided_file(decision: &FileDecision<'_>, verdict: &FileVerdict) -> DecidedFile {
    let FileDecision { file, outcome, .. } = decision;
    let mut decided = DecidedFile {
        path: file.path.clone(),
        current: file.current.clone(),
        proposed: file.result.text.as_deref().map(with_lf),
        verdict: verdict.clone(),
        comments: outcome.comments.clone(),
        moved: false,
        person_diff: None,
    };
    let FileVerdict::Accepted { text, hunks } = verdict else { return decided };
    // The hub wrote it: the file is no longer what the user saw.
    if !file.is_plain() || outcome.written {
        return decided;
    }
    decided.moved = decision.is_moved();
    if decision.is_all() {
        decided.proposed = text.clone();
        return decided;
    }
    if decided.moved {
        decided.person_diff = outcome.person_diff.clone();
    }
    let fits = |decided: &DecidedFile| {
        let (before, after) = (decided.current.as_deref(), decided.proposed.as_deref());
        hunks.is_empty() || decision.has_hunks_of(before.unwrap_or_default(), after.unwrap_or_default())
    };
    if decided.moved && hunks.is_empty() || !fits(&decided) {
        decided.current = decision.current();
        decided.proposed = Some(decision.merged_proposal());
    }
    if !fits(&decided) {
        // Their lines are those of a text that only the hub knows, such as one that is not saved.
        decided.moved = true;
        decided.current = decided.current.map(|_| String::new());
        decided.proposed = Some(String::new());
    }
    decided
}

/// One entry for each change of the agent's input. Several changes of one file become one, in the place of the first;
/// changes that the user was not asked about because they change nothing are dropped.
fn rewritten(files: &[FileDecision<'_>], verdicts: &[FileVerdict], changes: usize) -> Vec<RewrittenFile> {
    let mut entries = vec![RewrittenFile { current: None, text: None }; changes];
    for (decision, verdict) in files.iter().zip(verdicts) {
        for (nth, position) in decision.file.positions.iter().enumerate() {
            let Some(entry) = entries.get_mut(*position) else { continue };
            entry.current = decision.now.map(str::to_owned);
            if nth > 0 {
                continue;
            }
            entry.text = match verdict {
                FileVerdict::Accepted { .. } if decision.file.is_plain() => decision.accepted(),
                FileVerdict::Accepted { text, .. } => {
                    let text = text.as_deref().unwrap_or_default();
                    Some(adopt_endings(decision.now.unwrap_or_default(), text).0)
                }
                FileVerdict::Rejected { .. } => None,
            };
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use linkspan_client::DiffOutcome;
    use linkspan_dialect::hooks::{EditCall, FileChange, FileChangeKind};

    use super::super::edit_plan::plan;
    use super::*;

    /// A folder with `a` and `b`, and the plan of a patch that writes `a`, deletes `b` and adds `c`.
    struct Fixture {
        _root: tempfile::TempDir,
        edit: EditCall,
        files: Vec<PlannedFile>,
    }

    fn fixture() -> Fixture {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| -> PathBuf { root.path().join(name) };
        for name in ["a", "b"] {
            std::fs::write(path(name), "old\r\n").unwrap();
        }
        let change = |name: &str, kind| FileChange { path: path(name), kind };
        let changes = vec![
            change("a", FileChangeKind::Write { content: "new\n".into() }),
            change("b", FileChangeKind::Delete),
            change("c", FileChangeKind::Add { content: "c\n".into() }),
        ];
        let edit = EditCall { files: changes, rewrites: true };
        let files = plan(&edit).unwrap();
        Fixture { _root: root, edit, files }
    }

    /// The files are as they were planned.
    fn decisions<'a>(files: &'a [PlannedFile], outcomes: &'a [ChangeOutcome]) -> Vec<FileDecision<'a>> {
        let decision = |(file, outcome)| -> FileDecision<'a> {
            let file: &PlannedFile = file;
            FileDecision { file, outcome, now: file.raw.as_deref() }
        };
        files.iter().zip(outcomes).map(decision).collect()
    }

    fn outcome(accepted: Option<&str>) -> ChangeOutcome {
        ChangeOutcome {
            outcome: if accepted.is_some() { DiffOutcome::FileSaved } else { DiffOutcome::DiffRejected },
            text: accepted.map(str::to_owned),
            written: false,
            review: None,
            new_file: false,
            taken: None,
            hunks: Vec::new(),
            person_diff: None,
            reason: None,
            comments: Vec::new(),
        }
    }

    fn answer_to(outcomes: [Option<&str>; 3]) -> HookAnswer {
        let Fixture { files, edit, _root } = fixture();
        answer(&edit, &decisions(&files, &outcomes.map(outcome)))
    }

    fn entry(current: Option<&str>, text: Option<&str>) -> RewrittenFile {
        RewrittenFile { current: current.map(str::to_owned), text: text.map(str::to_owned) }
    }

    #[test]
    fn a_text_that_only_got_the_line_endings_of_the_file_is_rewritten_without_words() {
        for accepted in ["new\n", "new\r\n"] {
            let HookAnswer::Rewrite { files, context } = answer_to([Some(accepted), Some(""), Some("c\n")])
            else {
                panic!("not rewritten");
            };
            assert_eq!(files.first(), Some(&entry(Some("old\r\n"), Some("new\r\n"))));
            assert_eq!(context, "");
        }
    }

    #[test]
    fn nothing_accepted_is_a_denial() {
        for taken_back in [None, Some("old\n")] {
            assert!(matches!(answer_to([taken_back, None, None]), HookAnswer::Deny { .. }));
        }
    }

    #[test]
    fn some_files_are_a_rewrite_that_drops_the_others() {
        let HookAnswer::Rewrite { files, context } = answer_to([None, Some(""), Some("C\n")]) else {
            panic!("not rewritten");
        };
        assert_eq!(
            files,
            [entry(Some("old\r\n"), None), entry(Some("old\r\n"), Some("")), entry(None, Some("C\n"))]
        );
        assert!(!context.is_empty());
    }

    #[test]
    fn a_deletion_is_taken_as_a_whole_or_not_at_all() {
        let HookAnswer::Rewrite { files, .. } = answer_to([Some("new\n"), Some("kept\n"), Some("c\n")])
        else {
            panic!("not rewritten");
        };
        assert_eq!(files.get(1), Some(&entry(Some("old\r\n"), None)));
    }

    #[test]
    fn only_accepted_files_are_remembered_with_what_the_agent_will_write() {
        let Fixture { files, _root, .. } = fixture();
        let outcomes = [None, Some(""), Some("C\n")].map(outcome);
        let results: Vec<FileResult> =
            accepted(&decisions(&files, &outcomes)).map(|(_, result)| result).collect();
        let result = |text: Option<&str>| FileResult { text: text.map(str::to_owned), moved_to: None };
        assert_eq!(results, [result(None), result(Some("C\n"))]);
    }

    #[test]
    fn an_edit_that_the_hub_wrote_must_not_be_repeated() {
        let Fixture { files, edit, _root } = fixture();
        let written = ChangeOutcome { written: true, ..outcome(Some("new\n")) };
        let HookAnswer::Deny { reason } = answer(&edit, &decisions(&files, &[written])) else {
            panic!("not denied");
        };
        assert!(reason.starts_with("Do not repeat this edit: it is done."), "{reason}");
    }
}
