//! The results of the tools as text, for models whose client does not show them structured content. Contains nothing
//! that is not in the data.

use std::fmt::Write;

use super::results::{
    AcceptedPart, Context, Decision, Decisions, Diagnostics, Dirty, Done, Executed, Folders, Hover, Location,
    Locations, MaybeSelection, OpenEditors, Opened, Outcome, Range, Saved, SetMember, Severity, Symbols,
    VisibleLines,
};

pub(super) trait ToText {
    fn to_text(&self) -> String;
}

impl ToText for Decision {
    fn to_text(&self) -> String {
        let mut text = match self.outcome {
            Outcome::Rejected => format!("REJECTED: {} was not changed.", self.path),
            Outcome::Accepted if self.written => {
                format!("ACCEPTED: {} is written. Do not write it again.", self.path)
            }
            Outcome::Accepted if self.text.is_some() => format!(
                "ACCEPTED, NOT WRITTEN: write exactly the text at the end of this answer to {}.",
                self.path
            ),
            Outcome::Accepted => format!("ACCEPTED: the user accepted {}.", self.path),
        };
        match self.taken {
            Some(AcceptedPart::Edited) => text += " The user edited the text before accepting it.",
            Some(AcceptedPart::Some) => text += " The user accepted only some of the hunks.",
            Some(AcceptedPart::All) | None => {}
        }
        if let Some(reason) = &self.reason {
            let _ = write!(text, "\nReason: {reason}");
        }
        for hunk in &self.hunks {
            let taken = if hunk.taken { "Accepted" } else { "Not accepted" };
            let (first, count) = (hunk.after_line, hunk.after_count);
            let _ = write!(text, "\n{taken}: {count} proposed lines from line {first}");
        }
        for comment in &self.comments {
            let _ = write!(text, "\nComment on line {}: {}", comment.line, comment.text);
        }
        if let Some(diff) = &self.person_diff {
            let _ = write!(text, "\nThe user's changes to the proposal:\n{diff}");
        }
        if let Some(accepted) = &self.text {
            let _ = write!(text, "\nThe text:\n{accepted}");
        }
        text
    }
}

impl ToText for Decisions {
    fn to_text(&self) -> String {
        joined(self.changes.iter().map(|change| match change {
            SetMember { decision: Some(decision), .. } => decision.to_text(),
            SetMember { path, error, .. } => {
                format!("ERROR, no decision: {path}: {}", error.as_deref().unwrap_or("unknown"))
            }
        }))
    }
}

impl ToText for Opened {
    fn to_text(&self) -> String {
        format!("{} is open in the editor.", self.path)
    }
}

impl ToText for Diagnostics {
    fn to_text(&self) -> String {
        let mut text = match self.diagnostics.is_empty() {
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
            text += "\nThe language server may still be working; ask again with waitMs.";
        }
        text
    }
}

impl ToText for MaybeSelection {
    fn to_text(&self) -> String {
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

impl ToText for OpenEditors {
    fn to_text(&self) -> String {
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

impl ToText for Folders {
    fn to_text(&self) -> String {
        format!("{} with the folders:\n{}", self.editor, self.folders.join("\n"))
    }
}

impl ToText for Dirty {
    fn to_text(&self) -> String {
        let has = if self.dirty { "has unsaved changes" } else { "has no unsaved changes" };
        format!("{} {has}.", self.path)
    }
}

impl ToText for Saved {
    fn to_text(&self) -> String {
        format!("{} is saved.", self.path)
    }
}

impl ToText for Done {
    fn to_text(&self) -> String {
        "Done.".into()
    }
}

impl ToText for Context {
    fn to_text(&self) -> String {
        self.context.clone().unwrap_or_else(|| "Nothing is open in the editor.".into())
    }
}

impl ToText for Executed {
    fn to_text(&self) -> String {
        self.output.clone()
    }
}

impl ToText for Hover {
    fn to_text(&self) -> String {
        if self.contents.is_empty() {
            "Nothing is known about it.".into()
        } else {
            self.contents.join("\n\n")
        }
    }
}

impl ToText for Locations {
    fn to_text(&self) -> String {
        if self.locations.is_empty() {
            return "Nothing was found.".into();
        }
        joined(self.locations.iter().map(|Location { path, range }| at(path, range)))
    }
}

impl ToText for Symbols {
    fn to_text(&self) -> String {
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

impl ToText for VisibleLines {
    fn to_text(&self) -> String {
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
