//! The files of the model: what they hold, and who changes them besides reviews.

use std::{collections::BTreeMap, path::PathBuf};

use linkspan_review::{Digest, Format, Text};

pub(crate) type Files = BTreeMap<PathBuf, Text>;

pub(crate) const PATHS: u32 = 4;

pub(crate) fn path(n: u32) -> PathBuf {
    PathBuf::from(format!("/w/{}/mod.rs", n % PATHS))
}

/// One absent file, and one of each kind that is easily damaged.
pub(crate) fn at_first() -> Files {
    let text = |format, text: &str| Text { format: Format::from_name(format).unwrap(), text: text.into() };
    Files::from([
        (path(1), text("UTF-8", "a\nb\nc\nd\ne\nf\n")),
        (path(2), text("UTF-8 with BOM", "a\r\nb\r\nc\nd\r\ne\r\nf")),
        (path(3), text("windows-1252", "\u{e9}\nb\nc\nd\ne\nf\n")),
    ])
}

pub(crate) fn digest(file: Option<&Text>) -> Option<Digest> {
    file.map(Text::digest)
}

/// A text with one or two small changes, as an agent or a user would make them.
pub(crate) fn changed(text: &str, choice: u32) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let ending = if text.contains("\r\n") && choice & 1 == 0 { "\r\n" } else { "\n" };
    for choice in [choice >> 1, choice >> 7].into_iter().take(1 + (choice as usize >> 13 & 1)) {
        let at = (choice >> 2 & 7) as usize % (lines.len() + 1);
        let new = format!("{}{ending}", ["x", "y", "\u{2192}", "z"][choice as usize >> 5 & 3]);
        match choice & 3 {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 => lines.insert(at, new),
            _ if at < lines.len() => lines[at] = new,
            _ => lines.push(new),
        }
    }
    let text = lines.concat();
    match choice >> 14 & 15 {
        0 => format!("\u{feff}{text}"),
        1 | 2 => text.replace("\r\n", "\n"),
        _ => text,
    }
}

/// Another program saves, creates or deletes the file.
pub(crate) fn touch(files: &mut Files, choice: u32) {
    let path = path(choice);
    let choice = choice >> 2;
    match (files.get_mut(&path), choice & 15) {
        (Some(_), 0) => drop(files.remove(&path)),
        (Some(file), 1) => file.format = Format::UTF8,
        (Some(file), 2) => file.text = file.text.replace("\r\n", "\n").replace('\n', "\r\n").into(),
        (Some(file), _) => {
            let text = changed(&file.text, choice >> 4).replace(['\u{2192}', '\u{feff}'], "w");
            file.text = text.into();
        }
        (None, 0..8) => drop(files.insert(path, Text::utf8(if choice & 1 == 0 { "" } else { "n\nm\n" }))),
        (None, _) => {}
    }
}
