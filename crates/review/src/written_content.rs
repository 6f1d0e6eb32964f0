//! Whether a file holds the accepted content: exactly, or without the one line ending that an agent omits when it
//! writes: Claude Code the final one, NEXUS3 the one before a text that it appends. No other difference is tolerated.

use crate::Writer;
use crate::text::decode;

/// How the content of a file relates to the accepted content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WrittenContent {
    /// The same bytes.
    Exact,
    /// The same bytes without the line ending of the last line. Only an agent that writes the file does this.
    WithoutFinalNewline,
    /// Appended without the empty line that was shown between the old text and the new one. NEXUS3 shows one more line
    /// ending than its tool writes where the file ends with one already.
    AppendedDirectly,
}

/// How the file holds the accepted content, or `None` if it does not.
///
/// `before` is the content when the change was accepted, and `now` the current one; `None` means that there is no file.
/// A file that still holds `before` was not written, even if the only difference is the final newline.
pub fn compare_written(
    writer: Writer,
    before: Option<&[u8]>,
    accepted: &[u8],
    now: Option<&[u8]>,
) -> Option<WrittenContent> {
    let now = now?;
    if now == accepted {
        return Some(WrittenContent::Exact);
    }
    let appended_directly = || {
        let before = before.unwrap_or_default();
        let shown = accepted.strip_prefix(before).and_then(|more| more.strip_prefix(b"\n"));
        shown.is_some_and(|shown| !shown.is_empty() && now.strip_prefix(before) == Some(shown))
            && (before.is_empty() || before.ends_with(b"\n"))
    };
    if writer == Writer::AgentAsProposed && appended_directly() {
        return Some(WrittenContent::AppendedDirectly);
    }
    (writer == Writer::Agent && Some(now) != before && is_without_final_newline(accepted, now))
        .then_some(WrittenContent::WithoutFinalNewline)
}

fn is_without_final_newline(accepted: &[u8], now: &[u8]) -> bool {
    // At most one line ending shorter; this avoids decoding large files.
    if !accepted.starts_with(now) || accepted.len() - now.len() > 4 {
        return false;
    }
    let Ok(format) = decode(accepted).map(|text| text.format) else { return false };
    let shorter = |ending: &str| {
        let ending = format.encode(ending).ok()?;
        accepted.strip_suffix(ending.strip_prefix(format.bom())?)
    };
    // A CRLF is one line ending: without its LF, a lone CR would be left.
    shorter("\r\n").or_else(|| shorter("\n")) == Some(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    const OLD: Option<&[u8]> = Some(b"old\n");

    #[test]
    fn the_accepted_bytes_count_for_every_writer() {
        for writer in [Writer::Agent, Writer::Hub, Writer::Nobody] {
            assert_eq!(compare_written(writer, OLD, b"new\n", Some(b"new\n")), Some(WrittenContent::Exact));
            assert_eq!(compare_written(writer, OLD, b"new\n", Some(b"other\n")), None);
            assert_eq!(compare_written(writer, OLD, b"new\n", None), None);
            assert_eq!(compare_written(writer, None, b"", Some(b"")), Some(WrittenContent::Exact));
        }
    }

    #[test]
    fn one_missing_final_newline_counts_where_the_agent_writes() {
        let without = Some(WrittenContent::WithoutFinalNewline);
        assert_eq!(compare_written(Writer::Agent, OLD, b"new\n", Some(b"new")), without);
        assert_eq!(compare_written(Writer::Agent, None, b"new\n", Some(b"new")), without);
        assert_eq!(compare_written(Writer::Agent, OLD, b"new\n\n", Some(b"new\n")), without);
        assert_eq!(compare_written(Writer::Agent, OLD, b"new\r\n", Some(b"new")), without);
        assert_eq!(compare_written(Writer::Agent, OLD, b"\n", Some(b"")), without);
        assert_eq!(compare_written(Writer::Hub, OLD, b"new\n", Some(b"new")), None);
        assert_eq!(compare_written(Writer::Nobody, OLD, b"new\n", Some(b"new")), None);
    }

    #[test]
    fn an_appended_text_counts_without_the_empty_line_before_it() {
        let appended = Some(WrittenContent::AppendedDirectly);
        let nexus3 =
            |before, accepted, now| compare_written(Writer::AgentAsProposed, before, accepted, Some(now));
        assert_eq!(nexus3(OLD, b"old\n\nnew\n", b"old\nnew\n"), appended);
        assert_eq!(nexus3(Some(b""), b"\nnew", b"new"), appended);
        assert_eq!(nexus3(Some(b"old"), b"old\nnew", b"oldnew"), None, "the tool writes this line ending");
        assert_eq!(nexus3(OLD, b"old\n\n", b"old\n"), None, "not written");
        assert_eq!(nexus3(OLD, b"old\n\nnew\n", b"old\nnew"), None);
        assert_eq!(nexus3(OLD, b"new\n", b"new"), None, "only Claude Code leaves this out");
        assert_eq!(compare_written(Writer::Agent, OLD, b"old\n\nnew\n", Some(b"old\nnew\n")), None);
    }

    #[test]
    fn nothing_else_counts() {
        for (accepted, now) in [
            ("new\n\n", "new"),
            ("new\r\n", "new\r"),
            ("new", "new\n"),
            ("new\n", "new\n\n"),
            ("new", "ne"),
            ("new\r", "new"),
            ("new\n", " new"),
            ("new\n", ""),
        ] {
            let (accepted, now) = (accepted.as_bytes(), now.as_bytes());
            assert_eq!(
                compare_written(Writer::Agent, OLD, accepted, Some(now)),
                None,
                "{accepted:?} {now:?}"
            );
        }
    }

    #[test]
    fn a_file_that_was_not_written_does_not_count() {
        assert_eq!(compare_written(Writer::Agent, Some(b"same"), b"same\n", Some(b"same")), None);
        assert_eq!(compare_written(Writer::Agent, Some(b"same\n"), b"same", Some(b"same\n")), None);
    }

    #[test]
    fn the_newline_is_one_of_the_files_encoding() {
        for name in ["UTF-8 with BOM", "UTF-16LE", "UTF-16BE", "windows-1252"] {
            let encoded = |text: &str| Format::from_name(name).unwrap().encode(text).unwrap();
            let check = |accepted: &str, now: &str| {
                compare_written(Writer::Agent, None, &encoded(accepted), Some(&encoded(now)))
            };
            assert_eq!(check("Straße\n", "Straße"), Some(WrittenContent::WithoutFinalNewline), "{name}");
            assert_eq!(check("Straße\r\n", "Straße"), Some(WrittenContent::WithoutFinalNewline), "{name}");
            assert_eq!(check("Straße\r\n", "Straße\r"), None, "{name}");
        }
        // Half a character is not a line ending, even if it has the same byte.
        assert_eq!(compare_written(Writer::Agent, None, b"\xFF\xFEa\0\0\n", Some(b"\xFF\xFEa\0\0")), None);
    }
}
