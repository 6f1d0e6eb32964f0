//! Makes text from files, agents and editors safe to print: nothing in it can move the cursor, change
//! colours, or read differently from what it is. Everything that shows such text to people goes through here.

/// One line for people: tabs and line ends are made visible too.
pub fn name(text: &str) -> String {
    escape(text, |_| false)
}

/// A line of code: tabs stay, because they only indent.
pub fn code(text: &str) -> String {
    escape(text, |character| character == '\t')
}

/// Several lines of code: tabs and line ends stay.
pub fn text(text: &str) -> String {
    escape(text, |character| matches!(character, '\t' | '\n'))
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if !is_hidden(character) || keep(character) {
            out.push(character);
        } else {
            out.extend(character.escape_default());
        }
    }
    out
}

/// Control characters, and characters that have no width or change the direction of the text.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_can_not_clear_the_screen() {
        assert_eq!(name("a\u{1b}[2Jb\r\n\u{9b}"), r"a\u{1b}[2Jb\r\n\u{9b}");
    }

    #[test]
    fn text_that_turns_around_or_hides_is_seen() {
        assert_eq!(code("x\u{202e}y\u{200b}z\u{2066}"), r"x\u{202e}y\u{200b}z\u{2066}");
        assert_eq!(code("\u{feff}a\u{e0041}"), r"\u{feff}a\u{e0041}");
    }

    #[test]
    fn ordinary_text_of_any_language_stays() {
        assert_eq!(code("\tlet é = \"日本語 🚀\";"), "\tlet é = \"日本語 🚀\";");
        assert_eq!(name("a\tb"), r"a\tb");
    }
}
