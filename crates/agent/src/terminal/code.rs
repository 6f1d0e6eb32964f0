//! Colours for code in answers: strings, numbers, comments and common keywords, line by line and without a grammar. A
//! wrong guess costs a colour, never a character.

use super::text::{Line, Style, TextSpan, span};

/// What many languages share.
const KEYWORDS: [&str; 62] = [
    "abstract",
    "and",
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "defer",
    "do",
    "elif",
    "else",
    "enum",
    "except",
    "export",
    "extends",
    "finally",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "if",
    "impl",
    "import",
    "in",
    "interface",
    "lambda",
    "let",
    "local",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "new",
    "not",
    "or",
    "package",
    "pass",
    "pub",
    "raise",
    "return",
    "self",
    "static",
    "struct",
    "switch",
    "then",
    "throw",
    "trait",
    "try",
    "type",
    "use",
    "var",
    "where",
    "while",
];
const LITERALS: [&str; 8] = ["true", "false", "null", "nil", "None", "True", "False", "undefined"];
/// Languages whose comments begin with `#`.
const HASH: [&str; 14] = [
    "bash",
    "sh",
    "shell",
    "zsh",
    "python",
    "py",
    "ruby",
    "rb",
    "toml",
    "yaml",
    "yml",
    "make",
    "dockerfile",
    "perl",
];
/// Texts for people, and output of programs.
const NO_CODE: [&str; 7] = ["", "text", "txt", "console", "plain", "output", "markdown"];

/// One line of code in this language.
pub(super) fn colour(text: &str, language: &str) -> Line {
    let language = language.to_ascii_lowercase();
    if language == "diff" {
        return vec![span(diff_style(text), text)];
    }
    if NO_CODE.contains(&language.as_str()) {
        return vec![span(Style::Code, text)];
    }
    let comment = match language.as_str() {
        hash if HASH.contains(&hash) => "#",
        "lua" | "sql" | "haskell" => "--",
        "lisp" | "elisp" | "clojure" => ";",
        "json" => "\u{0}",
        _ => "//",
    };
    let mut out = Painted(Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (style, length) = if rest.starts_with(comment) {
            (Style::Comment, rest.len())
        } else if matches!(first, '"' | '\'' | '`') {
            match string(rest, first) {
                Some(length) => (Style::Literal, length),
                None => (Style::Code, first.len_utf8()),
            }
        } else if first.is_ascii_digit() {
            (Style::Literal, word(rest))
        } else if first.is_alphabetic() || first == '_' {
            let length = word(rest);
            let word = rest.get(..length).unwrap_or_default();
            let style = match word {
                word if KEYWORDS.contains(&word) => Style::Keyword,
                word if LITERALS.contains(&word) => Style::Literal,
                _ => Style::Code,
            };
            (style, length)
        } else {
            (Style::Code, first.len_utf8())
        };
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        out.push(style, piece);
        rest = after;
    }
    out.0
}

/// The style of a line of a unified diff.
pub(super) fn diff_style(text: &str) -> Style {
    match text.chars().next() {
        Some('+') => Style::Added,
        Some('-') => Style::Removed,
        Some('@') => Style::Hunk,
        _ => Style::Plain,
    }
}

struct Painted(Vec<TextSpan>);

impl Painted {
    fn push(&mut self, style: Style, text: &str) {
        match self.0.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            _ => self.0.push(span(style, text)),
        }
    }
}

/// The length of a string with both its quotes. A quote without an end, such as that of a lifetime, is not a string.
fn string(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_parts_of_code_have_colours() {
        let painted = colour("let x = \"a // b\"; // note", "rust");
        let keyword: Vec<_> = painted.iter().filter(|span| span.style == Style::Keyword).collect();
        assert_eq!(keyword, [&span(Style::Keyword, "let")]);
        assert!(painted.contains(&span(Style::Literal, "\"a // b\"")));
        assert_eq!(painted.last(), Some(&span(Style::Comment, "// note")));
        assert_eq!(colour("&'a str", "rust"), [span(Style::Code, "&'a str")]);
        assert_eq!(colour("x = 1 # y", "python").last(), Some(&span(Style::Comment, "# y")));
        assert_eq!(colour("let it be", "text"), [span(Style::Code, "let it be")]);
        assert_eq!(colour("-gone", "diff"), [span(Style::Removed, "-gone")]);
    }

    proptest! {
        #[test]
        fn no_character_is_lost(text in "\\PC{0,40}", language in "rust|python|json|lua|x") {
            let painted: String = colour(&text, &language).into_iter().map(|span| span.text).collect();
            prop_assert_eq!(painted, text);
        }
    }
}
