//! The secret of a window: random bytes from the system, compared in constant time.

use std::fmt;

/// Never printed by `Debug`: it must not get into a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A random UUID (version 4), as in the dialects' own lock files.
    pub fn mint() -> Result<Token, getrandom::Error> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes)?;
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut text = String::with_capacity(36);
        for (index, byte) in bytes.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text.push_str(&format!("{byte:02x}"));
        }
        Ok(Token(text))
    }

    /// One that was minted earlier and stored.
    pub fn remembered(text: String) -> Token {
        Token(text)
    }

    /// For the discovery file, the environment of a terminal and the journal; nowhere else.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Proves that a file belongs to this token, and does not reveal the token.
    pub fn mark(&self) -> String {
        blake3::hash(self.0.as_bytes()).to_hex().chars().take(16).collect()
    }

    pub fn matches(&self, offered: &[u8]) -> bool {
        constant_time_eq::constant_time_eq(self.0.as_bytes(), offered)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_a_fresh_uuid_and_does_not_show_in_debug() {
        let (a, b) = (Token::mint().unwrap(), Token::mint().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.secret().len(), 36);
        assert_eq!(a.secret().as_bytes()[14], b'4');
        assert!(!format!("{a:?}").contains(a.secret()));
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::mint().unwrap();
        assert!(token.matches(token.secret().as_bytes()));
        assert!(!token.matches(b""));
        assert!(!token.matches(&token.secret().as_bytes()[..35]));
    }
}
