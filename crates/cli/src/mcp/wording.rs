//! What each tool answers, in words: for models whose client shows them no structured content. Nothing is said
//! here that the data does not say.

use std::fmt::Write;

use super::results::{
    Context, Decision, Decisions, Diagnostics, Dirty, Done, Executed, Folders, Hover, Location, Locations,
    MaybeSelection, OpenEditors, Opened, Outcome, Range, Saved, SetMember, Severity, Symbols, Taken,
    VisibleLines,
};

pub(super) trait Words {
    fn words(&self) -> String;
}

impl Words for Decision {
    fn words(&self) -> String {
        let mut words = match self.outcome {
            Outcome::Rejected => format!("REJECTED: {} was not changed.", self.path),
            Outcome::Accepted if self.written => {
                format!("ACCEPTED: {} is written. Do not write it again.", self.path)
            }
            Outcome::Accepted if self.text.is_some() => format!(
                "ACCEPTED, NOT WRITTEN: write exactly the text at the end of this answer to {}.",
                self.path
            ),
            Outcome::Accepted => format!("ACCEPTED: the person said yes about {}.", self.path),
        };
        match self.taken {
            Some(Taken::Edited) => words += " The person edited the text before accepting it.",
            Some(Taken::Some) => words += " The person took only some of the hunks.",
            Some(Taken::All) | None => {}
        }
        if let Some(reason) = &self.reason {
            let _ = write!(words, "\nReason: {reason}");
        }
        for hunk in &self.hunks {
            let taken = if hunk.taken { "Taken" } else { "Not taken" };
            let (first, count) = (hunk.after_line, hunk.after_count);
            let _ = write!(words, "\n{taken}: {count} proposed lines from line {first}");
        }
        for comment in &self.comments {
            let _ = write!(words, "\nComment on line {}: {}", comment.line, comment.text);
        }
        if let Some(diff) = &self.person_diff {
            let _ = write!(words, "\nWhat the person changed in the proposal:\n{diff}");
        }
        if let Some(text) = &self.text {
            let _ = write!(words, "\nThe text:\n{text}");
        }
        words
    }
}

impl Words for Decisions {
    fn words(&self) -> String {
        joined(self.changes.iter().map(|change| match change {
            SetMember { decision: Some(decision), .. } => decision.words(),
            SetMember { path, error, .. } => {
                format!("ERROR, no decision: {path}: {}", error.as_deref().unwrap_or("unknown"))
            }
        }))
    }
}

impl Words for Opened {
    fn words(&self) -> String {
        format!("{} is open in the editor.", self.path)
    }
}

impl Words for Diagnostics {
    fn words(&self) -> String {
        let mut words = match self.diagnostics.is_empty() {
            true => "No errors or warnings.".to_owned(),
            false => joined(self.diagnostics.iter().map(|found| {
                let severity = match found.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Info => "info",
                    Severity::Hint => "hint",
                };
                let by = [&found.source, &found.code].into_iter().flatten().cloned().collect::<Vec<_>>();
                let by = if by.is_empty() { String::new() } else { format!(" [{}]", by.join(" ")) };
                format!("{}: {severity}: {}{by}", at(&found.path, &found.range), found.message)
            })),
        };
        if !self.settled {
            words += "\nThe language server may still be at work: ask again with waitMs.";
        }
        words
    }
}

impl Words for MaybeSelection {
    fn words(&self) -> String {
        match &self.selection {
            None => "Nothing is selected, and no cursor is in any file.".into(),
            Some(selection) if selection.text.is_empty() => {
                format!("The cursor is at {}; nothing is selected.", at(&selection.path, &selection.range))
            }
            Some(selection) => format!(
                "{}, up to line {}:\n{}",
                at(&selection.path, &selection.range),
                selection.range.end_line,
                selection.text
            ),
        }
    }
}

impl Words for OpenEditors {
    fn words(&self) -> String {
        if self.editors.is_empty() {
            return "No file is open.".into();
        }
        joined(self.editors.iter().map(|editor| {
            let active = if editor.active { " (active)" } else { "" };
            let dirty = if editor.dirty { " (unsaved changes)" } else { "" };
            format!("{}{active}{dirty}", editor.path)
        }))
    }
}

impl Words for Folders {
    fn words(&self) -> String {
        format!("{} with the folders:\n{}", self.editor, self.folders.join("\n"))
    }
}

impl Words for Dirty {
    fn words(&self) -> String {
        let has = if self.dirty { "has unsaved changes" } else { "has no unsaved changes" };
        format!("{} {has}.", self.path)
    }
}

impl Words for Saved {
    fn words(&self) -> String {
        format!("{} is saved.", self.path)
    }
}

impl Words for Done {
    fn words(&self) -> String {
        "Done.".into()
    }
}

impl Words for Context {
    fn words(&self) -> String {
        self.context.clone().unwrap_or_else(|| "Nothing is open in the editor.".into())
    }
}

impl Words for Executed {
    fn words(&self) -> String {
        self.output.clone()
    }
}

impl Words for Hover {
    fn words(&self) -> String {
        if self.contents.is_empty() {
            "Nothing is known about it.".into()
        } else {
            self.contents.join("\n\n")
        }
    }
}

impl Words for Locations {
    fn words(&self) -> String {
        if self.locations.is_empty() {
            return "Nothing was found.".into();
        }
        joined(self.locations.iter().map(|Location { path, range }| at(path, range)))
    }
}

impl Words for Symbols {
    fn words(&self) -> String {
        if self.symbols.is_empty() {
            return "No symbols.".into();
        }
        joined(self.symbols.iter().map(|symbol| {
            let inside = symbol.container.as_ref().map(|inside| format!(" in {inside}")).unwrap_or_default();
            let Location { path, range } = &symbol.location;
            format!("{} {}{inside}: {}", symbol.kind, symbol.name, at(path, range))
        }))
    }
}

impl Words for VisibleLines {
    fn words(&self) -> String {
        match (self.first_line, self.last_line) {
            (Some(first), Some(last)) => format!("Lines {first} to {last} are visible."),
            _ => "The file is not visible.".into(),
        }
    }
}

fn at(path: &str, range: &Range) -> String {
    format!("{path}:{}:{}", range.line, range.column)
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}
