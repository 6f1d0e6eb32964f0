//! The parts of a file that are English: all of a Markdown page but its code, and the comments and string literals of
//! Rust and TypeScript.
//!
//! Knows as much of each language as it takes to tell a comment from a string from code.

/// A line of English.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) line_number: usize,
    pub(super) text: String,
    pub(super) is_comment: bool,
}

pub(super) fn pieces(path: &str, text: &str) -> Vec<Piece> {
    if path.ends_with(".md") { markdown(text) } else { source(text, path.ends_with(".rs")) }
}

/// Prose outside code fences, with code spans cut out.
fn markdown(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            let prose: Vec<&str> = line.split('`').step_by(2).collect();
            let text = prose.join("…");
            pieces.push(Piece { line_number: index + 1, text, is_comment: false });
        }
    }
    pieces
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Code,
    LineComment,
    BlockComment,
    /// Ends at this quote, which a backslash may escape.
    Quoted(char),
    /// A raw string of Rust ends at a quote with so many `#` behind it.
    Raw(usize),
}

fn source(text: &str, is_rust: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut mode = Mode::Code;
    for (index, line) in text.lines().enumerate() {
        let chars: Vec<char> = line.chars().collect();
        let (mut comment, mut string) = (String::new(), String::new());
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            let next = chars.get(at + 1).copied();
            match mode {
                Mode::Code => match (c, next) {
                    ('/', Some('/')) => (mode, at) = (Mode::LineComment, at + 1),
                    ('/', Some('*')) => (mode, at) = (Mode::BlockComment, at + 1),
                    ('"', _) => mode = Mode::Quoted('"'),
                    ('\'' | '`', _) if !is_rust => mode = Mode::Quoted(c),
                    ('\'', _) => at += char_literal(&chars, at),
                    ('r', Some('#' | '"')) if is_rust && !is_name(&chars, at) => {
                        let hashes = chars.iter().skip(at + 1).take_while(|c| **c == '#').count();
                        if chars.get(at + 1 + hashes) == Some(&'"') {
                            (mode, at) = (Mode::Raw(hashes), at + 1 + hashes);
                        }
                    }
                    _ => {}
                },
                Mode::LineComment => comment.push(c),
                Mode::BlockComment if c == '*' && next == Some('/') => (mode, at) = (Mode::Code, at + 1),
                Mode::BlockComment => comment.push(c),
                Mode::Quoted(_) if c == '\\' => {
                    string.push(' ');
                    at += 1;
                }
                Mode::Quoted(end) if c == end => (mode, _) = (Mode::Code, string.push('\u{1}')),
                Mode::Raw(hashes)
                    if c == '"' && chars.iter().skip(at + 1).take(hashes).all(|c| *c == '#') =>
                {
                    (mode, at) = (Mode::Code, at + hashes);
                    string.push('\u{1}');
                }
                Mode::Quoted(_) | Mode::Raw(_) => string.push(c),
            }
            at += 1;
        }
        // A quote of JavaScript ends with its line, unless it is a template.
        if matches!(mode, Mode::LineComment) || (!is_rust && matches!(mode, Mode::Quoted('\'' | '"'))) {
            mode = Mode::Code;
        }
        let strings = string.split('\u{1}').map(|text| (text.to_owned(), false));
        let all = std::iter::once((comment, true)).chain(strings);
        pieces.extend(all.filter(|(text, _)| !text.trim().is_empty()).map(|(text, is_comment)| Piece {
            line_number: index + 1,
            text,
            is_comment,
        }));
    }
    pieces
}

/// How many characters follow the quote of a character literal; none after that of a lifetime.
fn char_literal(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            let rest = chars.iter().skip(at + 3).position(|c| *c == '\'');
            rest.map_or(0, |more| more + 3)
        }
        (Some(_), Some('\'')) => 2,
        _ => 0,
    }
}

/// Whether the character at that place goes on with a name.
fn is_name(chars: &[char], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| chars.get(before)).is_some_and(|c| c.is_alphanumeric() || *c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english(path: &str, text: &str) -> Vec<(usize, String, bool)> {
        pieces(path, text)
            .into_iter()
            .map(|piece| (piece.line_number, piece.text, piece.is_comment))
            .collect()
    }

    #[test]
    fn comments_and_strings_of_rust_are_told_from_code() {
        let text =
            "/// A doc.\nlet a = \"x // y\"; // z\nlet c = '\"'; let l: &'a str = r#\"raw \"q\" text\"#;\n";
        assert_eq!(
            english("a.rs", text),
            [
                (1, "/ A doc.".to_owned(), true),
                (2, " z".to_owned(), true),
                (2, "x // y".to_owned(), false),
                (3, "raw \"q\" text".to_owned(), false)
            ]
        );
    }

    #[test]
    fn a_string_over_lines_is_one_string() {
        assert_eq!(english("a.rs", "f(\"one \\\n   two\", 3);\n").len(), 2);
    }

    #[test]
    fn templates_of_typescript_are_strings() {
        assert_eq!(english("a.ts", "const a = `it's ${x}`; // don't\n").len(), 2);
    }

    #[test]
    fn code_of_a_page_is_left_out() {
        assert_eq!(
            english("docs/a.md", "Run `linkspan x` now.\n```sh\ncode\n```\n"),
            [(1, "Run … now.".to_owned(), false)]
        );
    }
}
