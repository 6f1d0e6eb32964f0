//! How many diagnostics an agent receives. The content of a file decides what language servers report about it, so a
//! crafted file could fill an agent's context, or the hub's memory.

use linkspan_editor_api::{Diagnostic, FileDiagnostics, Severity};

use crate::core::agents::shortened;

/// Characters of one message: more than anyone reads.
const LONGEST_MESSAGE: usize = 4_000;

/// Characters of its source, or of its code.
const LONGEST_WORD: usize = 200;

/// Bytes of all diagnostics.
const ROOM: usize = 512 * 1024;

/// Bytes of a diagnostic besides its texts.
const EACH: usize = 64;

/// Shortens long diagnostics and drops those that do not fit; the last one then says how many. A file whose diagnostics
/// were all dropped is dropped as well: otherwise it would seem to have no problems.
pub(in crate::core) fn bounded(files: &mut Vec<FileDiagnostics>) {
    let (mut room, mut left_out) = (ROOM, 0_usize);
    files.retain_mut(|file| {
        let clean = file.diagnostics.is_empty();
        room = room.saturating_sub(file.path.len());
        file.diagnostics.retain_mut(|found| {
            shorten(found);
            let words = found.source.iter().chain(&found.code).map(String::len).sum::<usize>();
            let taken = found.message.len() + words + EACH;
            let fits = left_out == 0 && taken <= room;
            if fits {
                room -= taken;
            } else {
                left_out += 1;
            }
            fits
        });
        clean || !file.diagnostics.is_empty()
    });
    let last = files.iter_mut().rev().find(|file| !file.diagnostics.is_empty());
    if let Some(last) = last.filter(|_| left_out > 0) {
        let range = last.diagnostics.last().map(|found| found.range).unwrap_or_default();
        let message = format!("Linkspan left out {left_out} more here and in other files: ask for one file");
        let source = Some("linkspan".to_owned());
        last.diagnostics.push(Diagnostic { message, severity: Severity::Info, range, source, code: None });
    }
}

fn shorten(found: &mut Diagnostic) {
    found.message = shortened(std::mem::take(&mut found.message), LONGEST_MESSAGE);
    for word in [&mut found.source, &mut found.code] {
        *word = word.take().map(|word| shortened(word, LONGEST_WORD));
    }
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::Range;

    use super::*;

    fn file(messages: &[&str]) -> FileDiagnostics {
        let found = |message: &&str| Diagnostic {
            message: (*message).to_owned(),
            severity: Severity::Error,
            range: Range::default(),
            source: Some("s".repeat(1_000)),
            code: None,
        };
        FileDiagnostics { diagnostics: messages.iter().map(found).collect(), ..FileDiagnostics::default() }
    }

    #[test]
    fn what_is_long_is_cut_and_what_does_not_fit_is_counted() {
        let long = "é".repeat(100_000);
        let mut files = vec![file(&["short", &long]), file(&vec![long.as_str(); 100]), file(&["never told"])];
        bounded(&mut files);
        assert_eq!(files[0].diagnostics[0].message, "short");
        let told: Vec<&Diagnostic> = files.iter().flat_map(|file| &file.diagnostics).collect();
        assert!(told.iter().all(|found| found.message.chars().count() <= LONGEST_MESSAGE + 1));
        assert!(told.iter().all(|found| found.source.as_ref().unwrap().chars().count() <= LONGEST_WORD + 1));
        let bytes: usize = told.iter().map(|found| found.message.len()).sum();
        assert!((ROOM / 2..=ROOM + 100).contains(&bytes), "{bytes}");
        let last = told.last().unwrap();
        assert!(
            last.message.contains(&format!("left out {} more", 103 - (told.len() - 1))),
            "{}",
            last.message
        );
        assert_eq!(files.len(), 2, "of the last there is nothing to tell");
    }

    #[test]
    fn what_fits_is_told_as_it_is() {
        let mut files = vec![file(&["one", "two"]), file(&[])];
        for found in &mut files[0].diagnostics {
            found.source = None;
        }
        let before = files.clone();
        bounded(&mut files);
        assert_eq!(files, before);
    }
}
