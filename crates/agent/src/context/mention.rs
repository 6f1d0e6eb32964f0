//! `@file`, `@file:10-20` in a prompt: the mention stays in the text, and the file is attached. So are files that the user
//! points at in the editor.

use std::path::Path;

use linkspan_editor_api::DenyGlobs;

use crate::tools::{OwnFiles, read_text_of};

const MOST_LINES: usize = 2000;
const MOST_BYTES: usize = 200 * 1024;
const MOST_MENTIONS: usize = 20;
const MOST_ENTRIES: usize = 200;

/// The text as the user wrote it, and what its mentions attach. `@"a b.txt"` mentions a path with spaces, and `\@` is no
/// mention. A mention that is neither a file nor looks like a path stays text; a path that does not exist is said so.
pub fn expand_mentions(
    text: &str,
    cwd: &Path,
    deny: &DenyGlobs,
    own: &[std::path::PathBuf],
) -> (String, Vec<String>) {
    let own = OwnFiles::new(own.iter().cloned());
    let (plain, mentions) = find(text);
    let mut attachments: Vec<String> = Vec::new();
    let mut left = MOST_BYTES;
    for mention in mentions.into_iter().take(MOST_MENTIONS) {
        let Some(attachment) = attach(&mention, cwd, deny, &own, left) else { continue };
        if !attachments.contains(&attachment) {
            left = left.saturating_sub(attachment.len());
            attachments.push(attachment);
        }
    }
    (plain, attachments)
}

/// The mention of a file that the user pointed at in the editor: lines count from 0, `None` is the whole file.
pub fn mention_of(path: &Path, lines: Option<(u32, u32)>) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+".contains(letter);
    let path = if path.chars().all(is_plain) && !path.ends_with('.') { path } else { format!("\"{path}\"") };
    match lines {
        Some((first, last)) => format!("@{path}:{}-{}", first.saturating_add(1), last.saturating_add(1)),
        None => format!("@{path}"),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct FileMention {
    path: String,
    /// From 1, inclusive.
    lines: Option<(usize, usize)>,
    is_quoted: bool,
}

/// The text without its backslashes before `@`, and the mentions in it.
fn find(text: &str) -> (String, Vec<FileMention>) {
    let (mut plain, mut mentions) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let (before, from) = rest.split_at(at);
        let after = from.get(1..).unwrap_or_default();
        if let Some(before) = before.strip_suffix('\\') {
            plain += before;
            plain.push('@');
            rest = after;
            continue;
        }
        plain += before;
        plain.push('@');
        // In the middle of a word it is an address.
        let starts = plain
            .chars()
            .rev()
            .nth(1)
            .is_none_or(|before| before.is_whitespace() || "([{\"'`,".contains(before));
        if starts && let Some((mention, length)) = mention_at(after) {
            plain += after.get(..length).unwrap_or_default();
            rest = after.get(length..).unwrap_or_default();
            mentions.push(mention);
        } else {
            rest = after;
        }
    }
    plain += rest;
    (plain, mentions)
}

/// The mention after an `@`, and how long it is.
fn mention_at(after: &str) -> Option<(FileMention, usize)> {
    if let Some(quoted) = after.strip_prefix('"') {
        let (path, rest) = quoted.split_once('"')?;
        let lines_end = rest.strip_prefix(':').map_or(0, |lines| {
            1 + lines.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(lines.len())
        });
        let (lines, length) = match rest.get(1..lines_end).and_then(lines) {
            Some(lines) => (Some(lines), path.len() + 2 + lines_end),
            None => (None, path.len() + 2),
        };
        return Some((FileMention { path: path.to_owned(), lines, is_quoted: true }, length))
            .filter(|_| !path.is_empty());
    }
    let end = after.find(char::is_whitespace).unwrap_or(after.len());
    // What ends a sentence is not part of a path.
    let word =
        after.get(..end)?.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`']);
    if word.is_empty() {
        return None;
    }
    let (path, lines) = match word.rsplit_once(':') {
        Some((path, place)) if !path.is_empty() && lines(place).is_some() => (path, lines(place)),
        _ => (word, None),
    };
    Some((FileMention { path: path.to_owned(), lines, is_quoted: false }, word.len()))
}

/// `10` or `10-20`.
fn lines(place: &str) -> Option<(usize, usize)> {
    let number = |digits: &str| digits.parse::<usize>().ok().filter(|number| *number > 0);
    match place.split_once('-') {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => number(place).map(|line| (line, line)),
    }
}

/// `None`: it does not mean a file.
fn attach(
    mention: &FileMention,
    cwd: &Path,
    deny: &DenyGlobs,
    own: &OwnFiles,
    room: usize,
) -> Option<String> {
    let FileMention { path: name, lines, is_quoted } = mention;
    let path = cwd.join(name);
    let failed = |why: &str| Some(format!("<file path=\"{name}\">\n[{why}]\n</file>"));
    let Ok(real) = path.canonicalize() else {
        let looks_like_a_path = *is_quoted || name.contains('/') || name.contains('.');
        return if looks_like_a_path { failed("There is no such file.") } else { None };
    };
    if own.has(&real) {
        return failed("This file belongs to Linkspan itself, and is not shown to agents.");
    }
    if deny.denies(&[cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned())], &real) {
        return failed("This file is kept from agents by the configuration (`deny`).");
    }
    if real.is_dir() {
        return Some(format!("<folder path=\"{name}\">\n{}</folder>", entries(&real)));
    }
    let text = match read_text_of(&real) {
        Ok(text) => text,
        Err(why) => return failed(&format!("It {why}.")),
    };
    let count = text.lines().count();
    let (first, last) = lines.unwrap_or((1, usize::MAX));
    if last < first || (first > count && lines.is_some()) {
        return failed(&format!("It has {count} lines, so there are no lines {first}-{last}."));
    }
    let mut shown = String::new();
    let mut end = first.saturating_sub(1);
    for line in text.lines().skip(first - 1).take((last - first).saturating_add(1).min(MOST_LINES)) {
        if shown.len() + line.len() > room {
            break;
        }
        shown += line;
        shown.push('\n');
        end += 1;
    }
    if end < first && count > 0 {
        return failed("Its lines are too long to be attached; use read_file.");
    }
    let place = lines.map_or_else(String::new, |_| format!(" lines=\"{first}-{end}\""));
    if end < last.min(count) {
        shown +=
            &format!("[Only lines {first} to {end} of {count} are shown; use read_file for the rest.]\n");
    }
    Some(format!("<file path=\"{name}\"{place}>\n{shown}</file>"))
}

fn entries(folder: &Path) -> String {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| {
            let slash = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
            format!("{}{slash}\n", entry.file_name().to_string_lossy())
        })
        .take(MOST_ENTRIES * 5)
        .collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(MOST_ENTRIES);
    names.truncate(MOST_ENTRIES);
    let more = if more > 0 { format!("[and {more} more]\n") } else { String::new() };
    names.concat() + &more
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn mentions(text: &str) -> Vec<(String, Option<(usize, usize)>)> {
        find(text).1.into_iter().map(|mention| (mention.path, mention.lines)).collect()
    }

    #[test]
    fn mentions_are_found_where_a_person_means_them() {
        let one = |path: &str, lines| vec![(path.to_owned(), lines)];
        for (text, expected) in [
            ("see @src/a.rs.", one("src/a.rs", None)),
            ("see (@a.rs:10-20), please", one("a.rs", Some((10, 20)))),
            ("@a.rs:7", one("a.rs", Some((7, 7)))),
            ("@\"a b.txt\":3 x", one("a b.txt", Some((3, 3)))),
            ("@\"a b.txt\": x", one("a b.txt", None)),
            ("@a:b", one("a:b", None)),
            ("@a.rs:0", one("a.rs:0", None)),
            ("mail me@example.org", vec![]),
            (r"no \@mention", vec![]),
            ("@ @, @\"\"", vec![]),
            ("@\"open", vec![]),
        ] {
            assert_eq!(mentions(text), expected, "{text}");
        }
        assert_eq!(find(r"a \@b @c").0, "a @b @c");
    }

    #[test]
    fn files_are_attached_and_what_is_missing_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path();
        fs::write(cwd.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(cwd.join("binary"), b"\0\x01\xff").unwrap();
        fs::create_dir(cwd.join("dir")).unwrap();
        fs::write(cwd.join("dir/x"), "").unwrap();
        fs::write(cwd.join(".env"), "KEY=1").unwrap();
        let deny = DenyGlobs::new(&[".env".to_owned()]).unwrap();
        let own = [cwd.join("own")];
        fs::create_dir(cwd.join("own")).unwrap();
        let attached = |text: &str| expand_mentions(text, cwd, &deny, &own).1;
        assert_eq!(attached("@a.txt"), ["<file path=\"a.txt\">\none\ntwo\nthree\n</file>"]);
        assert_eq!(attached("@a.txt:2 and @a.txt:2"), ["<file path=\"a.txt\" lines=\"2-2\">\ntwo\n</file>"]);
        assert_eq!(attached("@a.txt:2-9"), ["<file path=\"a.txt\" lines=\"2-3\">\ntwo\nthree\n</file>"]);
        assert_eq!(attached("@dir"), ["<folder path=\"dir\">\nx\n</folder>"]);
        assert_eq!(attached("@nobody says hello"), Vec::<String>::new());
        for (mention, wanted) in [
            ("@none.txt", "There is no such file"),
            ("@a.txt:9", "It has 3 lines"),
            ("@a.txt:3-2", "no lines 3-2"),
            ("@binary", "not a text"),
            ("@.env", "`deny`"),
            ("@own", "belongs to Linkspan"),
        ] {
            let said = attached(mention);
            assert!(said.len() == 1 && said[0].contains(wanted), "{mention}: {said:?}");
        }
    }

    #[test]
    fn a_mention_from_the_editor_is_understood() {
        for path in ["/w/a.rs", "/w/a b.rs", "/w/a:3", "/w/a.", "/w/(x)", "/w/ü@x"] {
            for (lines, expected) in [(None, None), (Some((0, 2)), Some((1, 3)))] {
                let text = format!("{} please", mention_of(Path::new(path), lines));
                assert_eq!(mentions(&text), [(path.to_owned(), expected)], "{text}");
            }
        }
    }

    #[test]
    fn a_large_file_is_cut_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("long"), "x\n".repeat(5000)).unwrap();
        fs::write(folder.path().join("wide"), "y".repeat(300_000)).unwrap();
        let deny = DenyGlobs::default();
        let attached = expand_mentions("@long @wide", folder.path(), &deny, &[]).1;
        assert!(attached[0].contains("[Only lines 1 to 2000 of 5000 are shown"));
        assert!(
            attached[1].len() < 1000 && attached[1].contains("too long to be attached"),
            "{}",
            attached[1].len()
        );
    }

    proptest! {
        #[test]
        fn only_backslashes_are_taken_out_of_a_text(text in "[@a.:\"0-9 \\\\é(-]{0,60}") {
            let (plain, _) = find(&text);
            prop_assert_eq!(plain.replace('\\', ""), text.replace('\\', ""));
        }
    }
}
