//! `regex_replace`. The engine is linear in the text; the number of matches and the total time are bounded.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};

use super::LARGEST_FILE;
use super::error::ProposalError;
use super::lf_view::LfView;
use super::template::Template;

const LONGEST_PATTERN: usize = 8 * 1024;
const LARGEST_PROGRAM: usize = 2 * 1024 * 1024;
/// The limit for bytes of program times bytes of text of one search, which is some seconds at worst: time is only
/// checked between matches.
const MOST_WORK: usize = 8 * 1024 * 1024 * 1024;
/// A program up to this size is allowed for any text.
const SMALL_PROGRAM: usize = 2 * 1024;
/// The factor by which a program with Unicode classes is larger than its busy part.
const UNICODE_SHARE: usize = 64;
const LARGEST_TEXT: usize = 8 * 1024 * 1024;
const MOST_MATCHES: usize = 10_000;
const TIME: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
    pub(super) dotall: bool,
}

/// Patterns use LF, unless they contain CR themselves.
pub(super) fn replace(
    text: &str,
    pattern: &str,
    flags: Flags,
    replacement: &str,
    count: usize,
) -> Result<String, ProposalError> {
    for (what, bytes, most) in
        [("the pattern", pattern.len(), LONGEST_PATTERN), ("the file", text.len(), LARGEST_TEXT)]
    {
        if bytes > most {
            return Err(ProposalError::TooLarge { what, bytes, most });
        }
    }
    let regex = compile(pattern, flags)?;
    if !is_bounded(pattern, flags, text.len()) {
        let reason = "it takes too long over a file of this size: use smaller repetitions".to_owned();
        return Err(ProposalError::BadRegex { reason });
    }
    let template = Template::parse(replacement, &regex)?;
    let means_cr = pattern.contains('\r') || pattern.contains("\\r");
    let spoken = if means_cr { LfView::as_it_is(text) } else { LfView::new(text) };

    let started = Instant::now();
    let (mut changes, mut grown) = (Vec::new(), 0_usize);
    let wanted = if count == 0 { usize::MAX } else { count };
    for captures in regex.captures_iter(&spoken.text).take(wanted) {
        let Some(found) = captures.get(0) else { continue };
        let new = template.expand(&captures);
        grown = grown.saturating_add(new.len());
        changes.push((found.range(), Cow::Owned(new)));
        if changes.len() > MOST_MATCHES && count == 0 {
            return Err(ProposalError::TooManyMatches { most: MOST_MATCHES });
        }
        if grown > LARGEST_FILE {
            return Err(ProposalError::TooLarge { what: "the result", bytes: grown, most: LARGEST_FILE });
        }
        if started.elapsed() > TIME {
            return Err(ProposalError::TooSlow { seconds: TIME.as_secs() });
        }
    }
    if changes.is_empty() {
        return Err(ProposalError::PatternMatchesNothing);
    }
    Ok(if means_cr { spoken.with_as_said(&changes) } else { spoken.with(&changes) })
}

/// Whether a single search ends in time. Unicode tables make a program large but not slow, so it is measured without
/// them if possible.
fn is_bounded(pattern: &str, flags: Flags, text: usize) -> bool {
    let most = (MOST_WORK / text.max(1)).clamp(SMALL_PROGRAM, LARGEST_PROGRAM);
    let fits = |unicode: bool, most: usize| {
        let program = regex::bytes::RegexBuilder::new(pattern)
            .case_insensitive(flags.ignore_case)
            .multi_line(flags.multiline)
            .dot_matches_new_line(flags.dotall)
            .unicode(unicode)
            .size_limit(most)
            .build();
        program.map(|_| ())
    };
    match fits(false, most) {
        Ok(()) => true,
        Err(regex::Error::CompiledTooBig(_)) => false,
        Err(_) => fits(true, most.saturating_mul(UNICODE_SHARE)).is_ok(),
    }
}

fn compile(pattern: &str, flags: Flags) -> Result<Regex, ProposalError> {
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.multiline)
        .dot_matches_new_line(flags.dotall)
        .size_limit(LARGEST_PROGRAM)
        .build();
    regex.map_err(|error| {
        // The last line is the reason; the lines before it show the pattern.
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default();
        ProposalError::BadRegex { reason: reason.trim_start_matches("error: ").to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Flags = Flags { ignore_case: false, multiline: false, dotall: false };

    fn check(text: &str, pattern: &str, flags: Flags, replacement: &str, count: usize, expect: &str) {
        assert_eq!(replace(text, pattern, flags, replacement, count).unwrap(), expect);
    }

    #[test]
    fn a_count_stops_and_zero_means_all() {
        check("a1 a2 a3", r"a(\d)", PLAIN, r"b\1", 0, "b1 b2 b3");
        check("a1 a2 a3", r"a(\d)", PLAIN, r"b\1", 2, "b1 b2 a3");
    }

    #[test]
    fn flags_mean_what_they_mean_in_python() {
        check("A\nB\n", "^b$", Flags { ignore_case: true, multiline: true, ..PLAIN }, "x", 0, "A\nx\n");
        check("a\nb", "a.b", Flags { dotall: true, ..PLAIN }, "x", 0, "x");
        assert_eq!(replace("a\nb", "a.b", PLAIN, "x", 0), Err(ProposalError::PatternMatchesNothing));
    }

    #[test]
    fn line_ends_of_a_crlf_file_are_matched_as_lf_and_kept() {
        let multiline = Flags { multiline: true, ..PLAIN };
        check("a\r\nb\r\n", "a$", multiline, "x\ny", 0, "x\r\ny\r\nb\r\n");
        check("a\r\nb\r\nc\n", r"a\nb", PLAIN, r"x\ny", 0, "x\r\ny\r\nc\n");
    }

    #[test]
    fn a_pattern_that_speaks_of_cr_changes_endings() {
        check("a\r\nb\r\n", r"\r\n", PLAIN, r"\n", 0, "a\nb\n");
        check("a\nb\r\n", r"\r?\n", PLAIN, r"\r\n", 0, "a\r\nb\r\n");
    }

    #[test]
    fn a_pattern_that_is_not_understood_says_why() {
        let error = replace("a", "(a", PLAIN, "", 0).unwrap_err();
        assert!(error.to_string().contains("unclosed group"), "{error}");
        let error = replace("a", "(?=a)", PLAIN, "", 0).unwrap_err();
        assert!(error.to_string().contains("look-around"), "{error}");
    }

    #[test]
    fn too_much_is_refused() {
        for pattern in [r"\w{1000}{1000}", "(?:a?){100000}a{100000}"] {
            assert!(matches!(replace("a", pattern, PLAIN, "", 0), Err(ProposalError::BadRegex { .. })));
        }
        let text = "a".repeat(MOST_MATCHES + 1);
        assert!(matches!(replace(&text, "a", PLAIN, "b", 0), Err(ProposalError::TooManyMatches { .. })));
        check(&text, "a", PLAIN, "b", 1, &format!("b{}", "a".repeat(MOST_MATCHES)));
        let big = "x".repeat(1 << 20);
        assert!(matches!(replace(&text, "a", PLAIN, &big, 100), Err(ProposalError::TooLarge { .. })));
    }

    #[test]
    fn one_search_that_would_take_minutes_is_refused_and_common_ones_are_not() {
        let text = "ab".repeat(1 << 20);
        let error = replace(&text, "[ab]*a[ab]{3000}c", PLAIN, "x", 1).unwrap_err();
        assert!(matches!(error, ProposalError::BadRegex { .. }), "{error:?}");
        for common in [r"\bfn\s+(\w+)\s*\(", r"\p{Lu}\w+", r"^\s*(\d+)\.(\d+)$"] {
            assert_eq!(replace(&text, common, PLAIN, "x", 1), Err(ProposalError::PatternMatchesNothing));
        }
    }

    #[test]
    fn a_pattern_that_scans_to_the_end_for_each_match_ends_in_time() {
        let text = "A".repeat(1 << 20);
        let started = Instant::now();
        let error = replace(&text, ".*[^A-Z]|[A-Z]", PLAIN, "x", 0).unwrap_err();
        assert!(matches!(error, ProposalError::TooSlow { .. } | ProposalError::TooManyMatches { .. }));
        assert!(started.elapsed() < TIME * 4);
    }
}
