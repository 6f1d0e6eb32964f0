//! Applies the chunks of one file. The lines are searched exactly, then without spaces at their ends, then without
//! spaces around them, then with typographic characters as their plain ones, as Codex does.

use super::{PatchChunk, PatchLine};

/// `None` if a chunk does not fit.
pub(in crate::hooks) fn apply(text: &str, chunks: &[PatchChunk]) -> Option<String> {
    let lines = split_lines(text);
    let contents: Vec<&str> = lines.iter().map(|line| line.content).collect();
    let mut edits = Vec::new();
    let mut from = 0;
    for chunk in chunks {
        if let Some(context) = &chunk.context {
            from = find(&contents, &[context], from, false)? + 1;
        }
        edits.extend(place(&contents, chunk, &mut from)?);
    }
    edits.sort_by_key(|edit| edit.at);
    Some(join(&lines, &edits))
}

struct Line<'a> {
    content: &'a str,
    ending: &'a str,
}

fn split_lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((content, after)) = rest.find(['\n', '\r']).and_then(|end| rest.split_at_checked(end)) {
        let length = if after.starts_with("\r\n") { 2 } else { 1 };
        let Some((ending, next)) = after.split_at_checked(length) else { break };
        lines.push(Line { content, ending });
        rest = next;
    }
    if !rest.is_empty() {
        lines.push(Line { content: rest, ending: "" });
    }
    lines
}

/// Lines of the text that go, and those that come.
struct LineEdit<'a> {
    at: usize,
    removed: usize,
    added: Vec<&'a str>,
}

fn place<'a>(contents: &[&str], chunk: &'a PatchChunk, from: &mut usize) -> Option<Vec<LineEdit<'a>>> {
    let Sides { mut old, mut new, common } = Sides::of(chunk);
    if old.is_empty() {
        // Without old lines, the new ones come at the end, wherever the context was.
        return Some(vec![LineEdit { at: contents.len(), removed: 0, added: new }]);
    }
    let mut found = find(contents, &old, *from, chunk.at_end);
    if found.is_none() && old.last() == Some(&"") {
        // An empty last line may stand for the final newline of the file.
        old.pop();
        new.pop_if(|line| line.is_empty());
        found = find(contents, &old, *from, chunk.at_end);
    }
    let start = found?;
    *from = start + old.len();
    let mut edits = Vec::new();
    let mut at = (0, 0);
    // Common lines stay as they are in the file, even where they were not found exactly.
    let is_there = |(in_old, in_new): &&(usize, usize)| *in_old < old.len() && *in_new < new.len();
    for next in common.iter().take_while(is_there).chain([&(old.len(), new.len())]) {
        let added = new.get(at.1..next.1).unwrap_or_default().to_vec();
        edits.push(LineEdit { at: start + at.0, removed: next.0 - at.0, added });
        at = (next.0 + 1, next.1 + 1);
    }
    Some(edits)
}

/// A chunk as the lines before and after it, and the places of the common lines in both.
struct Sides<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    common: Vec<(usize, usize)>,
}

impl<'a> Sides<'a> {
    fn of(chunk: &'a PatchChunk) -> Sides<'a> {
        let mut sides = Sides { old: Vec::new(), new: Vec::new(), common: Vec::new() };
        for line in &chunk.lines {
            match line {
                PatchLine::Common(text) => {
                    sides.common.push((sides.old.len(), sides.new.len()));
                    sides.old.push(text);
                    sides.new.push(text);
                }
                PatchLine::Removed(text) => sides.old.push(text),
                PatchLine::Added(text) => sides.new.push(text),
            }
        }
        sides
    }
}

/// The first place from there on. `at_end`: only the last lines.
pub(super) fn find(lines: &[&str], pattern: &[&str], from: usize, at_end: bool) -> Option<usize> {
    if pattern.is_empty() {
        return Some(from);
    }
    let last = lines.len().checked_sub(pattern.len())?;
    let from = if at_end { last.max(from) } else { from };
    let levels: [fn(&str, &str) -> bool; 4] = [
        |line, wanted| line == wanted,
        |line, wanted| line.trim_end() == wanted.trim_end(),
        |line, wanted| line.trim() == wanted.trim(),
        |line, wanted| line.trim().chars().map(plain).eq(wanted.trim().chars().map(plain)),
    ];
    levels.iter().find_map(|is_same| {
        (from..=last).find(|at| {
            let here = lines.get(*at..).unwrap_or_default();
            pattern.iter().zip(here).all(|(wanted, line)| is_same(line, wanted))
        })
    })
}

/// Dashes, quotation marks and spaces as ASCII has them.
fn plain(character: char) -> char {
    match character {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// New lines get the first ending of the text, and so does a last line without one.
fn join(lines: &[Line<'_>], edits: &[LineEdit<'_>]) -> String {
    let ending = lines.first().map(|line| line.ending).filter(|ending| !ending.is_empty()).unwrap_or("\n");
    let mut text = String::new();
    let keep = |text: &mut String, from: usize, to: usize| {
        for line in lines.get(from..to).unwrap_or_default() {
            text.push_str(line.content);
            text.push_str(if line.ending.is_empty() { ending } else { line.ending });
        }
    };
    let mut at = 0;
    for edit in edits {
        keep(&mut text, at, edit.at);
        for line in &edit.added {
            text.push_str(line);
            text.push_str(ending);
        }
        at = at.max(edit.at + edit.removed);
    }
    keep(&mut text, at, lines.len());
    text
}
