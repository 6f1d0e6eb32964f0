//! Each text word by word.

use super::*;

fn file(current: Option<&str>, proposed: Option<&str>, verdict: FileVerdict) -> DecidedFile {
    DecidedFile {
        path: "a.txt".into(),
        current: current.map(Into::into),
        proposed: proposed.map(Into::into),
        verdict,
        comments: Vec::new(),
        moved: false,
        person_diff: None,
    }
}

fn accepted(text: &str) -> FileVerdict {
    FileVerdict::Accepted { text: Some(text.into()), hunks: Vec::new() }
}

fn rejected(reason: &str) -> FileVerdict {
    FileVerdict::Rejected { reason: Some(reason.into()) }
}

fn comment(line: u32, text: &str) -> ReviewComment {
    ReviewComment { line, text: text.into() }
}

#[test]
fn a_plain_yes_needs_no_words() {
    assert_eq!(model_text(&[file(Some("a\n"), Some("b\n"), accepted("b\n"))]), None);
    assert_eq!(model_text(&[]), None);
}

#[test]
fn a_yes_with_a_comment_says_that_everything_is_in_the_file() {
    let mut yes = file(Some("a\n"), Some("b\n"), accepted("b\n"));
    yes.comments.push(comment(1, "next time\nwith a test\n"));
    assert_eq!(
        model_text(&[yes]).unwrap(),
        "The user accepted the change of a.txt exactly as you proposed it.\n\
         Comment on line 1: next time\nwith a test\n\
         (Lines are counted in your proposed text.)"
    );
}

#[test]
fn a_no_carries_every_line_of_reason_and_comments() {
    let mut no =
        file(Some("a\n"), Some("b\nc\n"), rejected("use the existing helper\nit is in x.rs\nthanks"));
    no.comments = vec![comment(1, "wrong name"), comment(2, "not needed\n\nsee above")];
    assert_eq!(
        model_text(&[no]).unwrap(),
        "The user rejected the change of a.txt. Nothing of it was written. The file is as it was before.\n\
         Reason: use the existing helper\nit is in x.rs\nthanks\n\
         Comment on line 1: wrong name\n\
         Comment on line 2: not needed\n\nsee above\n\
         (Lines are counted in your proposed text.)"
    );
}

#[test]
fn a_rejected_new_file_does_not_exist() {
    let no = file(None, Some("x\n"), FileVerdict::Rejected { reason: None });
    assert_eq!(
        model_text(&[no]).unwrap(),
        "The user rejected the new file a.txt. Nothing of it was written. The file does not exist."
    );
}

#[test]
fn one_hunk_of_two_names_both() {
    let hunks = |at, taken| DecidedHunk {
        id: "h".into(),
        before_start: at,
        before_count: 1,
        after_start: at,
        after_count: 1,
        taken,
    };
    let part = file(
        Some("one\ntwo\nthree\n"),
        Some("ONE\ntwo\nTHREE\n"),
        FileVerdict::Accepted {
            text: Some("ONE\ntwo\nthree\n".into()),
            hunks: vec![hunks(0, true), hunks(2, false)],
        },
    );
    assert_eq!(
        model_text(&[part]).unwrap(),
        "The user accepted 1 of 2 hunks of a.txt.\n\
         Accepted, these changes are in the file:\n\
         @@ -1,1 +1,1 @@\n-one\n+ONE\n\
         Not accepted, these changes are NOT in the file:\n\
         @@ -3,1 +3,1 @@\n-three\n+THREE\n\
         The file now holds the user's version; read it before you edit it again."
    );
}

#[test]
fn an_edited_text_is_shown_as_its_difference() {
    let mut edited = file(Some("one\ntwo\n"), Some("one\nTWO\n"), accepted("one\nZwei\n"));
    edited.comments.push(comment(2, "German here"));
    assert_eq!(
        model_text(&[edited]).unwrap(),
        "The user edited the change of a.txt and accepted the edited text instead of yours.\n\
         How it differs from yours (- your line, not in the file; + the user's line, in the file):\n\
         --- your proposed text\t\n+++ the user's text\t\n@@ -1,2 +1,2 @@\n one\n-TWO\n+Zwei\n\
         The file now holds the user's version; read it before you edit it again.\n\
         Comment on line 2: German here\n\
         (Lines are counted in the text of the user.)"
    );
}

#[test]
fn of_several_files_each_is_named() {
    let mut other = file(Some("b\n"), None, rejected("still used"));
    other.path = "b.txt".into();
    let files = [file(Some("a\n"), Some("A\n"), accepted("A\n")), other];
    assert_eq!(
        model_text(&files).unwrap(),
        "The user accepted the change of a.txt exactly as you proposed it.\n\n\
         The user rejected the deletion of b.txt. Nothing of it was written. The file is as it was before.\n\
         Reason: still used"
    );
}

#[test]
fn changes_by_others_are_not_said_to_be_the_users() {
    let yes = DecidedFile { moved: true, ..file(Some("a\n"), Some("b\n"), accepted("b\n")) };
    assert_eq!(
        model_text(&[yes]).unwrap(),
        "The user accepted the change of a.txt exactly as you proposed it.\n\
         The file was changed in other places, too, while the user decided. Read it before you edit it again."
    );
}

#[test]
fn a_huge_diff_is_cut_after_a_line_and_says_so() {
    let text = "line\n".repeat(MAX_DIFF);
    let edited = file(Some(""), Some("x\n"), accepted(&text));
    let words = model_text(&[edited]).unwrap();
    assert!(words.len() < MAX_DIFF + 1000);
    assert!(words.contains("+line\n(The rest of this diff is left out: read the file.)\nThe file now holds"));
}

#[test]
fn a_text_that_could_not_be_written_is_not_said_to_be_in_the_file() {
    let edited = file(Some("one\n"), Some("ONE\n"), accepted("Eins\n"));
    assert_eq!(
        not_written(&model_text(&[edited]).unwrap()),
        "The user edited the change of a.txt and accepted the edited text instead of yours.\n\
         How it differs from yours (- your line; + the user's line; neither is in the file):\n\
         --- your proposed text\t\n+++ the user's text\t\n@@ -1,1 +1,1 @@\n-ONE\n+Eins\n\
         The file is as it was before; propose the user's version in another way."
    );
}

#[test]
fn hunks_outside_of_the_texts_are_shown_without_lines() {
    let wild = DecidedHunk {
        id: "h".into(),
        before_start: u32::MAX,
        before_count: u32::MAX,
        after_start: 9,
        after_count: 0,
        taken: false,
    };
    let verdict = FileVerdict::Accepted { text: Some("a\n".into()), hunks: vec![wild] };
    assert!(model_text(&[file(Some("a\n"), Some("b\n"), verdict)]).unwrap().contains("0 of 1 hunks"));
}
