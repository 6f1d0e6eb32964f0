//! The state of the editor as text for a model's prompt: open tabs, counts of errors and warnings, the errors, the
//! selection. Pure. Texts of editors and files stay data: without hidden characters, without denied files, one line each
//! except the selection, whose lines are marked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use linkspan_editor_api::DenyGlobs;

use crate::bridge::BridgeConfig;
use crate::connection::{EditorDiagnostic, EditorInfo, EditorSelection, Severity};
use crate::visible;

/// The most characters it may have, `...` included, without the selection.
const LONGEST: usize = 800;
/// The most characters of the selection, `...` included.
const LONGEST_SELECTION: usize = 2000;
const LONGEST_NAME: usize = 60;
const LONGEST_MESSAGE: usize = 200;
const MOST_TABS: usize = 10;
/// Of a path, to distinguish it from another with the same name.
const MOST_PARTS: usize = 8;
const WITHHELD: &str = "(about a file that is kept from agents)";

/// The default for the most errors that are listed.
pub const MAX_DIAGNOSTICS: usize = 50;

/// The state of the editor, and what of it may be included.
#[derive(Debug, Clone, Copy)]
pub struct ContextInput<'a> {
    /// The editor's name.
    pub ide_name: &'a str,
    /// Its tabs.
    pub open_editors: &'a [EditorInfo],
    /// Its diagnostics.
    pub diagnostics: &'a [EditorDiagnostic],
    /// Its selection; a bare cursor is left out.
    pub selection: Option<&'a EditorSelection>,
    /// The configuration.
    pub config: &'a BridgeConfig,
    /// The most errors that are listed: [`MAX_DIAGNOSTICS`].
    pub max_diagnostics: usize,
    /// Files whose names and messages are left out.
    pub deny: &'a DenyGlobs,
    /// The workspace folders that deny globs are relative to.
    pub folders: &'a [PathBuf],
}

/// The text for a model's prompt; `None` if there is nothing to report. Lines count from 1 in it.
pub fn format_ide_context(input: &ContextInput<'_>) -> Option<String> {
    if !input.config.enabled {
        return None;
    }
    let (tabs, hidden) = input.tabs();
    let (errors, warnings) = input.problems();
    let listed = errors.iter().take(input.max_diagnostics);
    let names = Names::of(tabs.iter().copied().chain(listed.clone().map(|error| error.file_path.as_path())));

    let mut lines = vec![format!("IDE connected: {}", one_line(input.ide_name, LONGEST_NAME))];
    if !tabs.is_empty() {
        let shown: Vec<String> = tabs.iter().map(|path| names.name(path)).collect();
        lines.push(format!("  Open tabs: {}", shown.join(", ")));
    }
    let counts: Vec<String> =
        [count(errors.len(), "error"), count(warnings, "warning")].into_iter().flatten().collect();
    if !counts.is_empty() {
        lines.push(format!("  Diagnostics: {}", counts.join(", ")));
        for error in listed {
            let message = match input.mentions_denied(&error.message, &hidden) {
                true => WITHHELD.to_owned(),
                false => one_line(&error.message, LONGEST_MESSAGE),
            };
            let line_number = error.line.saturating_add(1);
            lines.push(format!("    {}:{line_number}: {message}", names.name(&error.file_path)));
        }
    }
    let selection = input.selection_lines();
    let has_more = lines.len() > 1 || selection.is_some();
    let text = shorten(lines.join("\n"), LONGEST, "...");
    has_more.then(|| match selection {
        Some(selection) => format!("{text}\n{selection}"),
        None => text,
    })
}

impl<'a> ContextInput<'a> {
    /// The first tabs that may be listed, each file once; and the names of those that may not.
    fn tabs(&self) -> (Vec<&'a Path>, BTreeSet<String>) {
        let (mut shown, mut hidden) = (Vec::new(), BTreeSet::new());
        let diagnosed = self.diagnostics.iter().map(|diagnostic| diagnostic.file_path.as_path());
        let open = self.open_editors.iter().map(|editor| editor.file_path.as_path());
        for path in diagnosed.chain(open.clone()).filter(|path| self.deny.denies(self.folders, path)) {
            hidden.extend(path.file_name().map(|name| name.to_string_lossy().to_lowercase()));
        }
        for path in
            open.filter(|path| self.config.inject_open_editors && !self.deny.denies(self.folders, path))
        {
            if shown.len() < MOST_TABS && !shown.contains(&path) {
                shown.push(path);
            }
        }
        (shown, hidden)
    }

    /// The errors that may be listed, and the number of warnings.
    fn problems(&self) -> (Vec<&'a EditorDiagnostic>, usize) {
        if !self.config.inject_diagnostics {
            return (Vec::new(), 0);
        }
        let told = self.diagnostics.iter().filter(|told| !self.deny.denies(self.folders, &told.file_path));
        let (errors, others): (Vec<_>, Vec<_>) = told.partition(|told| told.severity == Severity::Error);
        (errors, others.iter().filter(|other| other.severity == Severity::Warning).count())
    }

    /// Where the selection is, and its text with a mark before each line: a text cannot pass for anything else here.
    fn selection_lines(&self) -> Option<String> {
        let EditorSelection { file_path, text, start_line, end_line, end_character, .. } = self.selection?;
        if text.is_empty() || self.deny.denies(self.folders, file_path) {
            return None;
        }
        let name = one_line(&last_parts(file_path, 1), LONGEST_NAME);
        let first = start_line.saturating_add(1);
        // A selection of whole lines ends before the first character of the next line.
        let last = if *end_character == 0 { *end_line } else { end_line.saturating_add(1) }.max(first);
        let place = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let text = shorten(text.chars().take(LONGEST_SELECTION + 1).collect(), LONGEST_SELECTION, "...");
        let lines = text.lines().map(|line| format!("\n    | {}", visible::code(line)));
        Some(format!("  Selected in {name}:{place}:{}", lines.collect::<String>()))
    }

    /// Whether the message contains the path of a denied file, or the name of an open one.
    fn mentions_denied(&self, message: &str, hidden: &BTreeSet<String>) -> bool {
        let plain = message.replace('\\', "/");
        let around =
            |character: char| character.is_whitespace() || "\"'`()[]{}<>,;:=|*!?".contains(character);
        let mut words =
            plain.split(around).map(|word| word.trim_end_matches(['.', '/'])).filter(|word| !word.is_empty());
        let lower = plain.to_lowercase();
        words.any(|word| self.deny.denies(self.folders, Path::new(word)))
            || hidden.iter().any(|name| lower.contains(name.as_str()))
    }
}

/// The shortest unique name of each file: its file name with as many parent folders as needed.
struct Names<'a>(BTreeMap<&'a Path, String>);

impl<'a> Names<'a> {
    fn of(paths: impl Iterator<Item = &'a Path>) -> Names<'a> {
        let paths: BTreeSet<&Path> = paths.collect();
        let mut names: BTreeMap<&Path, String> = BTreeMap::new();
        let mut open: Vec<&Path> = paths.iter().copied().collect();
        let mut parts = 1;
        while !open.is_empty() {
            let mut users: BTreeMap<String, Vec<&Path>> = BTreeMap::new();
            for path in open {
                users.entry(last_parts(path, parts)).or_default().push(path);
            }
            open = Vec::new();
            for (name, users) in users {
                let whole = users.iter().all(|path| path.components().count() <= parts);
                if users.len() == 1 || whole || parts == MOST_PARTS {
                    names.extend(users.into_iter().map(|path| (path, name.clone())));
                } else {
                    open.extend(users);
                }
            }
            parts += 1;
        }
        Names(names)
    }

    fn name(&self, path: &Path) -> String {
        one_line(self.0.get(path).map_or("", String::as_str), LONGEST_NAME)
    }
}

fn last_parts(path: &Path, parts: usize) -> String {
    let all: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    all.get(all.len().saturating_sub(parts)..).unwrap_or_default().join("/")
}

fn count(number: usize, what: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{number} {what}s")),
    }
}

/// On one line, without invisible characters.
fn one_line(text: &str, longest: usize) -> String {
    // A text that is far too long is not read in full.
    let words: Vec<&str> = text.split_whitespace().take(longest).collect();
    shorten(visible::name(&words.join(" ")), longest, "…")
}

/// Cuts to this many characters, including the ellipsis, and not between a letter and its accent.
fn shorten(text: String, longest: usize, mark: &str) -> String {
    if text.chars().nth(longest).is_none() {
        return text;
    }
    let kept = longest.saturating_sub(mark.chars().count());
    let characters: Vec<char> = text.chars().take(kept + 1).collect();
    let mut end = kept;
    while end > 0 && characters.get(end).copied().is_some_and(continues) {
        end -= 1;
    }
    let mut short: String = characters.into_iter().take(end).collect();
    short.push_str(mark);
    short
}

/// Accents and skin tones, which have no meaning without the previous character.
fn continues(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

#[cfg(test)]
mod tests;
