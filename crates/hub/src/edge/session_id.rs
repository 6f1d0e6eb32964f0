//! Names of sessions. A name says who the agent is and proves that a hub gave it out for this window, so that the next
//! hub knows it again without having kept anything.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::core::Introduction;
use crate::token::Token;

/// Longer names than ours come from nobody we know.
const LONGEST: usize = 2 * 1024;

/// Between the name and the version of an agent; in neither, for the core has taken out what cannot be seen.
const SEPARATOR: char = '\u{1f}';

#[derive(Debug)]
pub(crate) struct SessionIds([u8; 32]);

impl SessionIds {
    pub(crate) fn of(token: &Token) -> SessionIds {
        SessionIds(blake3::derive_key("linkspan session ids", token.secret().as_bytes()))
    }

    pub(crate) fn name(&self, key: &str, who: &Introduction) -> String {
        let Introduction { name, version } = who;
        let who = URL_SAFE_NO_PAD.encode(format!("{name}{SEPARATOR}{version}"));
        let said = format!("{key}.{who}");
        let proof = self.proof(&said);
        format!("{said}.{proof}")
    }

    /// The key of a session and whose it is; none for a name that no hub gave out for this window.
    pub(crate) fn recognise(&self, id: &str) -> Option<(String, Introduction)> {
        let (said, proof) = id.rsplit_once('.').filter(|_| id.len() <= LONGEST)?;
        // Compared in constant time.
        let genuine = blake3::Hash::from_hex(proof).is_ok_and(|proof| proof == self.proof(said));
        let (key, who) = said.split_once('.').filter(|_| genuine)?;
        let who = String::from_utf8(URL_SAFE_NO_PAD.decode(who).ok()?).ok()?;
        let (name, version) = who.split_once(SEPARATOR)?;
        Some((key.to_owned(), Introduction { name: name.to_owned(), version: version.to_owned() }))
    }

    fn proof(&self, said: &str) -> blake3::Hash {
        blake3::keyed_hash(&self.0, said.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(token: &str) -> SessionIds {
        SessionIds::of(&Token::remembered(token.to_owned()))
    }

    #[test]
    fn a_name_is_known_to_the_next_hub_and_to_no_other_window() {
        let who = Introduction { name: "Gemini ✻ CLI".into(), version: "0.61.0".into() };
        let id = ids("mine").name("k-1", &who);
        assert!(id.bytes().all(|byte| (0x21..0x7f).contains(&byte)), "{id}");
        assert_eq!(ids("mine").recognise(&id), Some(("k-1".to_owned(), who)));
        assert_eq!(ids("theirs").recognise(&id), None);
    }

    #[test]
    fn a_name_that_was_changed_anywhere_is_unknown() {
        let ids = ids("mine");
        let id = ids.name("k-1", &Introduction { name: "a".into(), version: "1".into() });
        for at in 0..id.len() {
            let mut changed = id.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            assert_eq!(ids.recognise(&String::from_utf8(changed).unwrap()), None, "at {at}");
        }
        for odd in ["", ".", "..", "k-1", "k-1.YQ", &"x".repeat(5_000)] {
            assert_eq!(ids.recognise(odd), None);
        }
    }
}
