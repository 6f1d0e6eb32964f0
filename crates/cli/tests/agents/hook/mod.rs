//! `linkspan hook` as agents run it: the real binary, their JSON on its stdin, a real hub, and an editor that decides.

mod bad_input;
mod base_moved;
mod claude;
mod codex;
mod commands;
mod copilot;
mod endings;
mod events;
mod gemini;
mod hook_process;
mod line_endings;
mod nothing_to_decide;
mod opencode;
mod prompts;
mod qwen;

use linkspan_editor_api as api;

use crate::support::editor::all_capabilities;
use crate::support::{Editor, EditorBuilder, World};

/// Seven lines; `NEW` has two hunks.
const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
const NEW: &str = "one\nTWO\nthree\nfour\nfive\nSIX\nseven\n";
/// The first hunk of `NEW` alone.
const FIRST: &str = "one\nTWO\nthree\nfour\nfive\nsix\nseven\n";
/// A reason of three lines.
const REASON: &str = "use the existing helper\nit is in b.txt\nthanks";

/// An editor that shows questions and messages, too.
#[track_caller]
fn attach_with_questions(world: &World) -> Editor {
    let capabilities = api::Capabilities { questions: true, messages: true, ..all_capabilities() };
    EditorBuilder::new(world).capabilities(capabilities).attach()
}

/// The user decides about what is shown, with comments on lines of the proposed text, from 1.
#[track_caller]
fn decide(editor: &mut Editor, shown: &api::ReviewShow, verdict: api::Verdict, comments: &[(u32, &str)]) {
    let comments =
        comments.iter().map(|(line, text)| api::ReviewComment { line: *line, text: (*text).into() });
    let decision = api::Decision { verdict, comments: comments.collect(), write_here: false };
    let decided = api::ReviewDecided {
        review: shown.review.clone(),
        revision: shown.revision,
        digest: Some(shown.digest.clone()),
        decision,
    };
    assert_eq!(editor.request(&decided).unwrap(), api::ReviewDecidedResult::Taken);
}

/// The user takes the first hunk only.
#[track_caller]
fn take_first(editor: &mut Editor, shown: &api::ReviewShow, comments: &[(u32, &str)]) {
    let hunks = shown.hunks.iter().take(1).map(|hunk| hunk.id.clone()).collect();
    decide(editor, shown, api::Verdict::AcceptHunks { hunks }, comments);
}

#[track_caller]
fn reject(editor: &mut Editor, shown: &api::ReviewShow, reason: &str, comments: &[(u32, &str)]) {
    decide(editor, shown, api::Verdict::Reject { reason: Some(reason.into()) }, comments);
}

/// The user rejects with `REASON` and two comments.
#[track_caller]
fn reject_with_comments(editor: &mut Editor, shown: &api::ReviewShow) {
    reject(editor, shown, REASON, &[(2, "no capitals"), (6, "here neither")]);
}

/// The words for the model about that.
fn rejected_words(path: &str) -> String {
    format!(
        "The user rejected the change of {path}. Nothing of it was written. The file is as it was before.\n\
         Reason: {REASON}\nComment on line 2: no capitals\nComment on line 6: here neither\n\
         (Lines are counted in your proposed text.)"
    )
}

/// The words for the model about the first hunk of `NEW`, with the comment "good" on line 2.
fn first_words(path: &str) -> String {
    format!(
        "The user accepted 1 of 2 hunks of {path}.\nAccepted, these changes are in the file:\n@@ -2,1 +2,1 @@\n-two\n\
         +TWO\nNot accepted, these changes are NOT in the file:\n@@ -6,1 +6,1 @@\n-six\n+SIX\n\
         The file now holds the user's version; read it before you edit it again.\nComment on line 2: good\n\
         (Lines are counted in your proposed text.)"
    )
}

/// Nothing of a hook stays behind: no pending review.
#[track_caller]
fn assert_nothing_pending(world: &World) {
    world.pending(0);
}
