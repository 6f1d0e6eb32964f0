//! A sentence in rows that are broken between words. Knows nothing of what it says.

use ratatui::text::Span;

/// The text in rows of at most `width` columns; a longer word is broken. At most `most` rows: what does not fit is
/// replaced by an ellipsis.
pub(crate) fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match rows.last_mut() {
            Some(row) if columns(row) + 1 + columns(word) <= width => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.extend(pieces(word, width)),
        }
    }
    if rows.len() > most {
        rows.truncate(most);
        if let Some(last) = rows.last_mut() {
            while columns(last) >= width && last.pop().is_some() {}
            last.push('…');
        }
    }
    rows
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in word.chars() {
        let piece = pieces.last().map_or(0, |piece| columns(piece));
        if piece > 0 && piece + columns(character.encode_utf8(&mut [0; 4])) > width {
            pieces.push(String::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces
}

fn columns(text: &str) -> usize {
    Span::raw(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_between_words_and_long_words_are_broken() {
        assert_eq!(wrapped("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrapped("a verylongword b", 5, 9), ["a", "veryl", "ongwo", "rd b"]);
        assert_eq!(wrapped("", 5, 9), [""; 0]);
        assert_eq!(wrapped("世界世界", 1, 9), ["世", "界", "世", "界"]);
    }

    #[test]
    fn what_does_not_fit_is_seen_to_be_missing() {
        assert_eq!(wrapped("one two three four", 7, 2), ["one two", "three…"]);
        assert_eq!(wrapped("one two three", 3, 2), ["one", "tw…"]);
        assert_eq!(wrapped("one", 3, 0), [""; 0]);
    }
}
