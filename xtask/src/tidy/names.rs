//! Names: of files, which are nouns, and of types, which mean one thing.

use std::collections::BTreeMap;

use super::Finding;

/// File names that say neither what nor why.
const NOT_A_NOUN: &[&str] = &[
    "asked",
    "came",
    "decided",
    "diagnosed",
    "edited",
    "ended",
    "given",
    "heard",
    "held",
    "kept",
    "landed",
    "left",
    "looked",
    "made",
    "opened",
    "ran",
    "removed",
    "said",
    "says",
    "seen",
    "sent",
    "shown",
    "spoken",
    "taken",
    "told",
    "untold",
    "wanted",
    "watched",
    "written",
];

/// Type names that were used for many ideas, or are none. They may not come back.
const FORBIDDEN_TYPES: &[&str] = &[
    "Asked",
    "Chance",
    "Decided",
    "Deed",
    "Desk",
    "Door",
    "Ears",
    "Ended",
    "Happening",
    "Heard",
    "Kept",
    "Landed",
    "Manner",
    "Place",
    "Said",
    "Says",
    "Seen",
    "Shown",
    "Stage",
    "Taken",
    "Told",
    "Untold",
];

/// How many places may define a type of the same name.
const MAX_PLACES: usize = 2;

/// Words with one meaning wherever they are: a module's `Args` are its arguments, and a `Hunk` is a hunk in every
/// protocol that has one.
const ONE_MEANING: &[&str] = &[
    "AcceptedPart",
    "Agent",
    "Args",
    "Browser",
    "Call",
    "Change",
    "Client",
    "Command",
    "Context",
    "Decision",
    "Diagnostic",
    "Diff",
    "Document",
    "Edit",
    "Editor",
    "Err",
    "Error",
    "Event",
    "File",
    "Finding",
    "Folders",
    "Frame",
    "Gateway",
    "Head",
    "Hub",
    "Hunk",
    "Line",
    "Lines",
    "Outcome",
    "Page",
    "Range",
    "Replacement",
    "Reply",
    "Report",
    "Request",
    "Row",
    "Selection",
    "Server",
    "Session",
    "Side",
    "Size",
    "State",
    "Step",
    "Stream",
    "Tab",
    "Terminal",
    "Text",
    "Tool",
    "ToolResult",
    "Window",
    "Workspace",
];

pub(super) fn check_file(path: &str) -> Option<Finding> {
    let name = path.rsplit('/').next()?;
    let (stem, ending) = name.split_once('.')?;
    let is_source = ["rs", "ts", "lua", "el"].contains(&ending);
    (is_source && NOT_A_NOUN.contains(&stem)).then(|| {
        Finding::new(path, 1, format!("`{stem}` is a participle"), "name the file by the thing it holds")
    })
}

pub(super) fn check_types(sources: &[(&str, String)]) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (path, text) in sources {
        for (index, line) in text.lines().enumerate() {
            if let Some(name) = defined(line) {
                places.entry(name).or_default().push((path, index + 1));
            }
        }
    }
    let mut findings = Vec::new();
    for (name, places) in &places {
        let Some((path, line_number)) = places.last() else { continue };
        if FORBIDDEN_TYPES.contains(name) {
            findings.push(Finding::new(path, *line_number, format!("type `{name}`"), "name what it is"));
        } else if places.len() > MAX_PLACES && !ONE_MEANING.contains(name) {
            let others: Vec<&str> = places.iter().map(|(path, _)| *path).collect();
            let what = format!("{} types are called `{name}`: {}", places.len(), others.join(", "));
            findings.push(Finding::new(
                path,
                *line_number,
                what,
                "one name for one idea: say which one it is",
            ));
        }
    }
    findings
}

/// The type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.trim_start().split(|c: char| !(c.is_alphanumeric() || "_()".contains(c)));
    let mut word = words.next()?;
    if word == "pub" || word.starts_with("pub(") {
        word = words.next()?;
    }
    if !["enum", "struct", "trait", "union"].contains(&word) {
        return None;
    }
    let name = words.next()?.split('(').next()?;
    name.starts_with(|c: char| c.is_ascii_uppercase()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_participle_does_not_name_a_file() {
        assert!(check_file("crates/hub/src/held.rs").is_some());
        assert!(check_file("editors/web/src/opened.ts").is_some());
        assert!(check_file("crates/hub/src/parent_dir.rs").is_none());
        assert!(check_file("testdata/left").is_none());
    }

    #[test]
    fn one_name_in_three_places_is_found() {
        let one = |path| (path, "pub(crate) struct Room<'a> {\n".to_owned());
        assert!(check_types(&[one("a.rs"), one("b.rs")]).is_empty());
        assert_eq!(check_types(&[one("a.rs"), one("b.rs"), one("c.rs")]).len(), 1);
    }

    #[test]
    fn words_with_one_meaning_may_be_everywhere_and_riddles_nowhere() {
        let args = |path| (path, "pub struct Args(u8);\n".to_owned());
        assert!(check_types(&[args("a.rs"), args("b.rs"), args("c.rs")]).is_empty());
        assert_eq!(check_types(&[("a.rs", format!("struct {};\n", FORBIDDEN_TYPES[0]))]).len(), 1);
    }
}
