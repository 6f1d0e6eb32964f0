//! Ids of sessions. An id contains who the agent is, and proves that a hub issued it for this window, so that the
//! next hub recognises it without having stored anything.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::core::Introduction;
use crate::token::Token;

/// Longer than any id that a hub issues.
const MAX_LENGTH: usize = 2 * 1024;

/// Between the name and the version of an agent. In neither of them: the core removes control characters.
const SEPARATOR: char = '\u{1f}';

#[derive(Debug)]
pub(crate) struct SessionIds([u8; 32]);

impl SessionIds {
    pub(crate) fn of(token: &Token) -> SessionIds {
        SessionIds(blake3::derive_key("linkspan session ids", token.secret().as_bytes()))
    }

    pub(crate) fn encode(&self, key: &str, who: &Introduction) -> String {
        let Introduction { name, version } = who;
        let who = URL_SAFE_NO_PAD.encode(format!("{name}{SEPARATOR}{version}"));
        let signed = format!("{key}.{who}");
        let proof = self.proof(&signed);
        format!("{signed}.{proof}")
    }

    /// The key of a session and its agent; `None` for an id that no hub issued for this window.
    pub(crate) fn verify(&self, id: &str) -> Option<(String, Introduction)> {
        let (signed, proof) = id.rsplit_once('.').filter(|_| id.len() <= MAX_LENGTH)?;
        // Compared in constant time.
        let genuine = blake3::Hash::from_hex(proof).is_ok_and(|proof| proof == self.proof(signed));
        let (key, who) = signed.split_once('.').filter(|_| genuine)?;
        let who = String::from_utf8(URL_SAFE_NO_PAD.decode(who).ok()?).ok()?;
        let (name, version) = who.split_once(SEPARATOR)?;
        Some((key.to_owned(), Introduction { name: name.to_owned(), version: version.to_owned() }))
    }

    fn proof(&self, signed: &str) -> blake3::Hash {
        blake3::keyed_hash(&self.0, signed.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(token: &str) -> SessionIds {
        SessionIds::of(&Token::remembered(token.to_owned()))
    }

    #[test]
    fn an_id_is_valid_for_the_next_hub_and_for_no_other_window() {
        let who = Introduction { name: "Gemini ✻ CLI".into(), version: "0.61.0".into() };
        let id = ids("mine").encode("k-1", &who);
        assert!(id.bytes().all(|byte| (0x21..0x7f).contains(&byte)), "{id}");
        assert_eq!(ids("mine").verify(&id), Some(("k-1".to_owned(), who)));
        assert_eq!(ids("theirs").verify(&id), None);
    }

    #[test]
    fn an_id_that_was_changed_anywhere_is_invalid() {
        let ids = ids("mine");
        let id = ids.encode("k-1", &Introduction { name: "a".into(), version: "1".into() });
        for at in 0..id.len() {
            let mut changed = id.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            assert_eq!(ids.verify(&String::from_utf8(changed).unwrap()), None, "at {at}");
        }
        for odd in ["", ".", "..", "k-1", "k-1.YQ", &"x".repeat(5_000)] {
            assert_eq!(ids.verify(odd), None);
        }
    }
}
