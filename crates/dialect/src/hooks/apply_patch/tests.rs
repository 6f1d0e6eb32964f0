//! What Codex 0.166.0 did with these patches, and round trips for made-up texts.

use proptest::prelude::*;

use super::*;

fn applied(current: &str, patch: &str) -> Option<String> {
    let patch = parse(&format!("*** Begin Patch\n*** Update File: a\n{patch}*** End Patch")).unwrap();
    match &patch.files[..] {
        [FileOperation::Update { chunks, .. }] => apply(current, chunks),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_is_replaced_between_its_neighbours() {
    assert_eq!(applied("one\ntwo\nthree\n", "@@\n one\n-two\n+TWO\n three\n").unwrap(), "one\nTWO\nthree\n");
}

#[test]
fn trailing_blank_lines_stay_and_a_final_newline_is_added() {
    assert_eq!(applied("a\nb\n\n", "@@\n-a\n+A\n").unwrap(), "A\nb\n\n");
    assert_eq!(applied("a\nb", "@@\n-a\n+A\n").unwrap(), "A\nb\n");
}

#[test]
fn the_line_after_the_sign_says_where_to_search() {
    let text = "fn a\n  x\nfn b\n  x\n";
    assert_eq!(applied(text, "@@ fn b\n-  x\n+  y\n").unwrap(), "fn a\n  x\nfn b\n  y\n");
    assert_eq!(applied(text, "@@ fn c\n-  x\n+  y\n"), None);
}

#[test]
fn end_of_file_means_the_last_lines() {
    assert_eq!(applied("x\ny\nx\n", "@@\n-x\n+z\n*** End of File\n").unwrap(), "x\ny\nz\n");
}

#[test]
fn new_lines_without_old_ones_come_last() {
    assert_eq!(applied("a\n", "@@\n+b\n").unwrap(), "a\nb\n");
    assert_eq!(applied("", "@@\n+b\n").unwrap(), "b\n");
}

#[test]
fn common_lines_that_differ_in_spaces_or_dashes_stay_as_they_are() {
    assert_eq!(applied("a  \nb\n", "@@\n a\n-b\n+c\n").unwrap(), "a  \nc\n");
    assert_eq!(applied("x \u{2014} y\nb\n", "@@\n x - y\n-b\n+c\n").unwrap(), "x \u{2014} y\nc\n");
}

#[test]
fn several_files_are_read_in_order() {
    let patch = "*** Begin Patch\n*** Add File: n\n+x\n+\n*** Delete File: d\n*** Update File: m\n\
                 *** Move to: k\n@@\n a\n*** End Patch\n";
    let files = parse(patch).unwrap().files;
    assert_eq!(files[0], FileOperation::Add { path: "n".into(), content: "x\n\n".into() });
    assert_eq!(files[1], FileOperation::Delete { path: "d".into() });
    assert!(matches!(&files[2], FileOperation::Update { moved_to: Some(to), .. } if to == "k"));
}

#[test]
fn a_broken_patch_says_which_line() {
    for (patch, problem) in [
        ("x", "its first line is not `*** Begin Patch`"),
        ("*** Begin Patch\nx", "its last line is not `*** End Patch`"),
        ("*** Begin Patch\n*** End Patch", "it names no file"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch", "the update of `a` has no lines"),
        (
            "*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch",
            "line 4: a line does not start with ` `, `+` or `-`",
        ),
        (
            "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
            "line 3: a line of an added file does not start with `+`",
        ),
    ] {
        assert_eq!(parse(patch).unwrap_err(), problem, "{patch}");
    }
}

#[test]
fn a_here_document_around_the_patch_is_taken_off() {
    let patch = "<<'EOF'\n*** Begin Patch\n*** Delete File: d\n*** End Patch\nEOF\n";
    assert_eq!(parse(patch).unwrap().files.len(), 1);
}

#[test]
fn an_empty_last_line_may_be_the_final_newline() {
    assert_eq!(applied("a\nb\n", "@@\n a\n-b\n+c\n\n").unwrap(), "a\nc\n");
    assert_eq!(applied(" a\n\n-\nb\n a\n", " a\n\n--\n-\n").unwrap(), " a\nb\n a\n");
    assert_eq!(applied("x\n", "-\n+\n+\n*** End of File\n").unwrap(), "\nx\n");
}

const ANY_FORM: PatchForms = PatchForms { update: true, add: true };

fn one<'a>(current: Option<&'a str>, text: Option<&'a str>) -> FileText<'a> {
    FileText { path: "a.txt", moved_to: None, current, text, forms: ANY_FORM }
}

#[test]
fn a_repeated_line_gets_as_much_context_as_it_needs() {
    let current = "x\n".repeat(20);
    let text = format!("{}y\n{}", "x\n".repeat(15), "x\n".repeat(4));
    let patch = generate(None, &[one(Some(&current), Some(&text))]).unwrap();
    assert_eq!(round_trip(&patch, &current), text);
}

#[test]
fn a_text_without_a_final_newline_cannot_be_said() {
    assert_eq!(generate(None, &[one(Some("a\n"), Some("b"))]), None);
    assert_eq!(generate(None, &[one(None, Some("b"))]), None);
}

#[test]
fn unchanged_files_are_left_out_and_a_patch_of_nothing_is_none() {
    let (same, changed) = (one(Some("a\n"), Some("a\n")), one(Some("a\n"), None));
    assert_eq!(generate(None, &[same]), None);
    assert_eq!(
        generate(Some("e"), &[same, changed]).unwrap(),
        "*** Begin Patch\n*** Environment ID: e\n*** Delete File: a.txt\n*** End Patch\n"
    );
}

#[test]
fn a_file_can_only_move_and_an_empty_one_too() {
    let moved = |current| FileText {
        path: "a",
        moved_to: Some("b"),
        current: Some(current),
        text: Some(current),
        forms: ANY_FORM,
    };
    assert_eq!(
        generate(None, &[moved("x\ny\n")]).unwrap(),
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n x\n*** End Patch\n"
    );
    assert_eq!(
        generate(None, &[moved("")]).unwrap(),
        "*** Begin Patch\n*** Delete File: a\n*** Add File: b\n*** End Patch\n"
    );
}

fn round_trip(patch: &str, current: &str) -> String {
    match &parse(patch).unwrap().files[..] {
        [FileOperation::Update { chunks, .. }] => apply(current, chunks).unwrap(),
        [FileOperation::Add { content, .. }] => content.clone(),
        other => panic!("{other:?}"),
    }
}

/// Few different lines, so that most are repeated; some that look like the format's own.
fn text() -> impl Strategy<Value = String> {
    let line =
        prop::sample::select(vec!["", "a", "b", " a", "a ", "@@", "*** End of File", "+", "-x", "\u{2013}"]);
    (prop::collection::vec(line, 0..24), any::<bool>()).prop_map(|(lines, newline)| {
        let mut text = lines.join("\n");
        if newline && !lines.is_empty() {
            text.push('\n');
        }
        text
    })
}

proptest! {
    #[test]
    fn a_generated_patch_gives_the_wanted_text(current in text(), wanted in text()) {
        let patch = generate(None, &[one(Some(&current), Some(&wanted))]);
        if current == wanted {
            prop_assert_eq!(patch, None);
        } else if wanted.is_empty() || wanted.ends_with('\n') {
            prop_assert_eq!(round_trip(&patch.unwrap(), &current), wanted);
        } else {
            prop_assert_eq!(patch, None);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(patch in ".{0,200}", current in text()) {
        if let Ok(patch) = parse(&format!("*** Begin Patch\n*** Update File: a\n{patch}\n*** End Patch")) {
            for file in patch.files {
                if let FileOperation::Update { chunks, .. } = file {
                    let _ = apply(&current, &chunks);
                }
            }
        }
    }
}
