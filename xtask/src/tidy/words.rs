//! Plain English: words and patterns that may not come back, in prose, in comments and in texts that people read.
//!
//! A pattern is here only if a machine can tell it from good English. [`EVERYWHERE`] is looked for in whole files,
//! names included; [`IN_PROSE`] in Markdown, in comments and in string literals; [`IN_SENTENCES`] only in Markdown and
//! in string literals, because a comment may be a noun phrase ("What the file holds.").

use super::Finding;
use super::lexer::{Piece, pieces};

/// Words of the user as a person, spelled in halves so that this file does not find itself.
const EVERYWHERE: &[(&str, &str)] = &[
    (concat!("sh", "e"), "write \"you\" in texts and \"the user\" in code"),
    (concat!("h", "er"), "write \"your\" in texts and \"the user's\" in code"),
    (concat!("h", "ers"), "write \"yours\" in texts and \"the user's\" in code"),
    (concat!("h", "erself"), "write \"yourself\" in texts and \"the user\" in code"),
];

const IN_PROSE: &[(&str, &str)] = &[
    (concat!("any ", "more"), "write \"no longer\""),
    (concat!("for ", "ever"), "write \"forever\", \"always\" or \"without end\""),
    (concat!("an", "ew"), "write \"again\""),
    (concat!("sha", "ll"), "write \"must\", \"should\" or \"will\""),
    (concat!("who", "ever"), "name who it is: the agent, the editor, the caller"),
    (concat!("who", "m"), "name who it is: the agent, the editor, the caller"),
    (concat!("of another ", "version"), "write \"has a different version\""),
    (concat!("by ", "heart"), "write \"fixed\" or \"well-known\""),
    (concat!("turned ", "away"), "write \"rejected\""),
    (concat!("let ", "in"), "write \"admitted\""),
    (concat!("standing ", "word"), "write \"permission\""),
    (concat!("a word ", "about"), "write \"a message about\""),
    (concat!("leave it ", "away"), "write \"omit it\""),
];

/// A clause as the subject of a sentence.
const IN_SENTENCES: &[&str] = &["What is ", "What was ", "What it ", "What they ", "What comes "];

const NOUN: &str = concat!("is ", "no ");

/// What may follow "is no" in good English.
const AFTER_IS_NO: [&str; 9] =
    ["longer", "more", "one", "different", "better", "worse", "newer", "older", "other"];

/// What may stand before "is no" in good English: "there is no hunk 4".
const BEFORE_IS_NO: [&str; 6] = ["there", "that there", "here", "which", "where", "if there"];

/// What people write: pages, Rust, and the TypeScript of editors. Generated files follow their sources.
pub(super) fn is_checked(path: &str) -> bool {
    let is_page = path.ends_with(".md") && !path.starts_with("testdata/");
    let is_shim = path.starts_with("editors/")
        && (path.ends_with(".ts") || path.ends_with(".css") || path.ends_with("package.json"))
        && !path.contains("/dist/");
    is_page || is_shim || super::source::is_ours(path)
}

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (word, remedy) in EVERYWHERE {
            if holds(line, word) {
                findings.push(Finding::new(path, index + 1, format!("\"{word}\""), remedy));
            }
        }
    }
    for Piece { line_number, text, is_comment } in pieces(path, text) {
        for (words, remedy) in IN_PROSE {
            if holds(&text, words) {
                findings.push(Finding::new(path, line_number, format!("\"{words}\""), remedy));
            }
        }
        if is_no_noun(&text) {
            findings.push(Finding::new(path, line_number, format!("\"{NOUN}…\""), "write \"is not a …\""));
        }
        if !is_comment && let Some(opening) = IN_SENTENCES.iter().find(|opening| is_subject(&text, opening)) {
            let remedy = "name the thing: \"New reviews do not …\"";
            findings.push(Finding::new(path, line_number, format!("\"{opening}…\" as a subject"), remedy));
        }
    }
    findings
}

/// Whether the words stand there, whole and in any case. `_` ends a word: names are made of words too.
fn holds(text: &str, words: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + words.len()..).and_then(|text| text.chars().next());
        let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
        !in_word(before) && !in_word(after)
    })
}

fn is_no_noun(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.match_indices(NOUN).any(|(at, _)| {
        let (before, after) = (text.get(..at).unwrap_or(""), text.get(at + NOUN.len()..).unwrap_or(""));
        let is_word = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let follows = after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        let before = before.trim_end();
        is_word
            && !follows.is_empty()
            && !AFTER_IS_NO.contains(&follows)
            && !BEFORE_IS_NO.iter().any(|word| before.ends_with(word))
    })
}

/// Whether a sentence begins with it and does not ask.
fn is_subject(text: &str, opening: &str) -> bool {
    let mut sentences = text.split_inclusive(['.', '?', '!', '|']).map(str::trim_start);
    sentences.any(|sentence| sentence.starts_with(opening) && sentence.len() > 24 && !sentence.ends_with('?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(path, text).iter().map(|finding| finding.line_number).collect()
    }

    #[test]
    fn a_person_is_found_in_names_too() {
        assert_eq!(found("a.rs", concat!("fn what_sh", "e_types() {}\n")), [1]);
        assert!(found("a.rs", "fn shell() { other(sheet) }\n").is_empty());
    }

    #[test]
    fn prose_is_comments_and_strings_not_code() {
        let text = concat!("let any_more = 1;\n// not any ", "more\nlet s = \"not any ", "more\";\n");
        assert_eq!(found("a.rs", text), [2, 3]);
    }

    #[test]
    fn there_is_no_is_good_english() {
        assert!(found("docs/a.md", "There is no hub, and it is no longer needed.\n").is_empty());
        assert_eq!(found("docs/a.md", concat!("It is ", "no port.\n")), [1]);
    }

    #[test]
    fn a_clause_as_a_subject_is_found_in_texts_and_a_question_is_not() {
        assert_eq!(found("docs/a.md", concat!("What is", " newer cannot be shown here.\n")), [1]);
        assert!(found("docs/a.md", "What is a linkspan, and why is it called that?\n").is_empty());
        assert!(found("a.rs", "/// What it holds, for the next hub to see.\nfn a() {}\n").is_empty());
    }
}
