//! Bytes outside the edit, in every encoding and with every mix of line endings.

use linkspan_client::proposal::{Edit, ProposalError, proposed};
use proptest::prelude::*;

use crate::generate::{self, cases, encoded};

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

proptest! {
    #![proptest_config(cases())]

    /// The new bytes are the old ones with one stretch replaced, and that stretch says what the edit says.
    #[test]
    fn replacing_lines_changes_only_those_lines(
        text in generate::text(), new in generate::spoken(), at in 0..20_usize, length in 1..4_usize, how: u8,
    ) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        if lines.is_empty() {
            return Ok(());
        }
        let start = at % lines.len();
        let end = (start + length).min(lines.len());
        let edit = Edit::EditLines { start_line: start + 1, end_line: end, new_content: new.clone() };
        let proposed = proposed(&edit, Some(&encoded(&text, how))).unwrap();
        let (before, after) = (lines[..start].concat(), lines[end..].concat());
        prop_assert!(proposed.text().starts_with(&before) && proposed.text().ends_with(&after));
        let middle = &proposed.text()[before.len()..proposed.text().len() - after.len()];
        let said = lf(&new);
        prop_assert!([said.clone(), said + "\n"].contains(&lf(middle)), "{middle:?}");
        prop_assert_eq!(proposed.bytes(), encoded(proposed.text(), how));
    }

    #[test]
    fn an_edit_finds_lf_text_in_any_file_and_changes_nothing_around_it(
        text in generate::text(), new in generate::spoken(), from in 0..20_usize, length in 1..4_usize, how: u8,
    ) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let start = from % lines.len().max(1);
        let end = (start + length).min(lines.len());
        let old = lf(&lines[start..end].concat());
        if old.is_empty() || old.contains('\r') {
            return Ok(());
        }
        let edit = Edit::EditFile { old_string: old.clone(), new_string: new.clone(), replace_all: false };
        match proposed(&edit, Some(&encoded(&text, how))) {
            Ok(proposed) => {
                let (before, after) = (lines[..start].concat(), lines[end..].concat());
                prop_assert!(proposed.text().starts_with(&before) && proposed.text().ends_with(&after));
                prop_assert_eq!(lf(proposed.text()), lf(&text).replacen(&old, &new, 1));
                prop_assert_eq!(proposed.bytes(), encoded(proposed.text(), how));
            }
            Err(ProposalError::SeveralMatches { count, .. }) => {
                let text = lf(&text);
                let places = text.char_indices().filter(|(at, _)| text[*at..].starts_with(&old)).count();
                prop_assert!(count > 1 && count <= places);
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn replacing_all_in_an_lf_file_is_what_str_replace_does(
        text in generate::text(), old in "[ab }\n]{1,2}", new in generate::spoken(),
    ) {
        let text = lf(&text);
        let edit = Edit::EditFile { old_string: old.clone(), new_string: new.clone(), replace_all: true };
        match proposed(&edit, Some(text.as_bytes())) {
            Ok(proposed) => prop_assert_eq!(proposed.text(), text.replace(&old, &new)),
            Err(error) => {
                prop_assert!(!text.contains(&old), "{}", error);
                prop_assert!(matches!(error, ProposalError::NoMatch { .. }), "{}", error);
            }
        }
    }

    #[test]
    fn appending_keeps_every_byte_there_was(text in generate::text(), new in generate::spoken(), newline: bool, how: u8) {
        let bytes = encoded(&text, how);
        let proposed = proposed(&Edit::AppendFile { content: new.clone(), newline }, Some(&bytes)).unwrap();
        prop_assert!(proposed.bytes().starts_with(&bytes));
        let added = lf(&proposed.text()[text.len()..]);
        let between = newline && !text.is_empty() && !text.ends_with(['\n', '\r']);
        prop_assert_eq!(added, if between { format!("\n{}", lf(&new)) } else { lf(&new) });
    }

    #[test]
    fn a_pattern_changes_only_what_it_matches(text in generate::text(), how: u8) {
        let edit = Edit::RegexReplace {
            pattern: "a".into(), replacement: "<x>".into(), count: 0,
            ignore_case: false, multiline: false, dotall: false,
        };
        match proposed(&edit, Some(&encoded(&text, how))) {
            Ok(proposed) => prop_assert_eq!(proposed.bytes(), encoded(&text.replace('a', "<x>"), how)),
            Err(error) => {
                prop_assert_eq!(error, ProposalError::PatternMatchesNothing);
                prop_assert!(!text.contains('a'));
            }
        }
    }

    #[test]
    fn an_unchanged_file_written_in_lf_is_unchanged(text in generate::text(), how: u8) {
        let bytes = encoded(&text, how);
        let proposed = proposed(&Edit::WriteFile { content: lf(&text) }, Some(&bytes)).unwrap();
        prop_assert!(proposed.is_unchanged());
        prop_assert_eq!(proposed.bytes(), bytes);
    }

    /// What a reviewer makes of the text is the text, or the reviewer is not asked.
    #[test]
    fn a_reviewer_understands_the_text_as_it_is_meant((old, new) in generate::pair()) {
        let proposed = proposed(&Edit::WriteFile { content: new }, Some(old.as_bytes())).unwrap();
        if let Some(text) = proposed.for_review() {
            let (understood, _) = linkspan_review::adopt_endings(&old, text);
            prop_assert_eq!(understood.as_bytes(), proposed.bytes());
        }
    }
}

#[test]
fn a_change_of_nothing_but_line_endings_is_not_for_review() {
    let edit = Edit::RegexReplace {
        pattern: r"\r\n".into(),
        replacement: r"\n".into(),
        count: 0,
        ignore_case: false,
        multiline: false,
        dotall: false,
    };
    let proposed = proposed(&edit, Some(b"a\r\nb\r\n")).unwrap();
    assert_eq!(proposed.bytes(), b"a\nb\n");
    assert_eq!(proposed.for_review(), None);
}

#[test]
fn a_legacy_encoding_is_kept_and_what_it_lacks_is_refused() {
    let bytes = b"Stra\xDFe nach K\xF6ln, sch\xF6n\r\n";
    let edit =
        |new: &str| Edit::EditFile {
            old_string: "schön".into(), new_string: new.into(), replace_all: false
        };
    assert_eq!(proposed(&edit("grün"), Some(bytes)).unwrap().bytes(), b"Stra\xDFe nach K\xF6ln, gr\xFCn\r\n");
    assert!(matches!(proposed(&edit("я"), Some(bytes)), Err(ProposalError::NotEncodable(_))));
    assert!(matches!(proposed(&edit("x"), Some(b"a\0b")), Err(ProposalError::NotAText(_))));
    assert_eq!(proposed(&edit("x"), None), Err(ProposalError::NoFile));
}
