//! Who may use the page: links, which work once and for a limited time, and the sessions that they were exchanged
//! for.
//!
//! Pure: time and secrets are passed in, and only digests of the secrets are stored.

use std::collections::VecDeque;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// How long a link is valid.
pub const LINK_SECONDS: u64 = 600;

/// Links that were not used yet; when there are more, the oldest is dropped.
const LINKS: usize = 16;

/// Sessions that are active; when there are more, the oldest is dropped.
pub const SESSIONS: usize = 32;

/// A secret of 256 random bits. Never printed by `Debug`.
pub struct Secret(String);

impl Secret {
    pub fn mint() -> Result<Secret, getrandom::Error> {
        let mut bytes = [0u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Secret(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// For a link's fragment, a cookie or a nonce; nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What is stored of a secret. Compared in constant time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(blake3::Hash);

impl Digest {
    pub fn of(secret: &str) -> Digest {
        Digest(blake3::hash(secret.as_bytes()))
    }

    pub fn to_hex(self) -> String {
        self.0.to_hex().to_string()
    }

    pub fn from_hex(hex: &str) -> Option<Digest> {
        blake3::Hash::from_hex(hex).ok().map(Digest)
    }
}

/// Identifies a session, but does not grant access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionId(u64);

#[derive(Debug)]
struct UnusedLink {
    digest: Digest,
    until_ms: u64,
}

/// Oldest first.
#[derive(Debug, Default)]
pub struct Access {
    links: VecDeque<UnusedLink>,
    sessions: VecDeque<(SessionId, Digest)>,
    next_session: u64,
}

impl Access {
    /// Resumes the sessions of a hub that was killed.
    pub fn restored(sessions: impl IntoIterator<Item = Digest>) -> Access {
        let mut access = Access::default();
        for digest in sessions {
            access.begin(digest);
        }
        access
    }

    pub fn sessions(&self) -> impl Iterator<Item = Digest> {
        self.sessions.iter().map(|(_, digest)| *digest)
    }

    pub fn add_link(&mut self, secret: &Secret, now_ms: u64) {
        self.links.push_back(UnusedLink {
            digest: Digest::of(secret.reveal()),
            until_ms: now_ms + LINK_SECONDS * 1000,
        });
        while self.links.len() > LINKS {
            self.links.pop_front();
        }
    }

    /// Exchanges a link for a session with that secret. False: the link was used, has expired or never existed.
    pub fn exchange(&mut self, offered: &str, session: &Secret, now_ms: u64) -> bool {
        self.links.retain(|link| now_ms < link.until_ms);
        let digest = Digest::of(offered);
        let Some(at) = self.links.iter().position(|link| link.digest == digest) else { return false };
        self.links.remove(at);
        self.begin(Digest::of(session.reveal()));
        true
    }

    fn begin(&mut self, digest: Digest) {
        self.next_session += 1;
        self.sessions.push_back((SessionId(self.next_session), digest));
        while self.sessions.len() > SESSIONS {
            self.sessions.pop_front();
        }
    }

    /// The session with this secret.
    pub fn session(&self, offered: &str) -> Option<SessionId> {
        let digest = Digest::of(offered);
        self.sessions.iter().find(|(_, known)| *known == digest).map(|(id, _)| *id)
    }

    pub fn is_active(&self, session: SessionId) -> bool {
        self.sessions.iter().any(|(id, _)| *id == session)
    }

    /// Ends everything; returns how many sessions and usable links there were.
    pub fn revoke(&mut self, now_ms: u64) -> (usize, usize) {
        let usable = self.links.iter().filter(|link| now_ms < link.until_ms).count();
        let ended = (self.sessions.len(), usable);
        self.links.clear();
        self.sessions.clear();
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Secret {
        Secret::mint().unwrap()
    }

    fn linked(now_ms: u64) -> (Access, Secret) {
        let (mut access, link) = (Access::default(), secret());
        access.add_link(&link, now_ms);
        (access, link)
    }

    #[test]
    fn a_link_works_once() {
        let (mut access, link) = linked(0);
        let (first, second) = (secret(), secret());
        assert!(access.exchange(link.reveal(), &first, 1));
        assert!(!access.exchange(link.reveal(), &second, 2));
        assert!(access.session(first.reveal()).is_some());
        assert_eq!(access.session(second.reveal()), None);
    }

    #[test]
    fn a_link_works_for_ten_minutes_and_not_a_moment_longer() {
        for (at_ms, good) in [(599_999, true), (600_000, false), (u64::MAX, false)] {
            let (mut access, link) = linked(0);
            assert_eq!(access.exchange(link.reveal(), &secret(), at_ms), good, "{at_ms}");
        }
    }

    #[test]
    fn neither_a_link_nor_a_part_of_a_secret_opens_a_session() {
        let (mut access, link) = linked(0);
        assert_eq!(access.session(link.reveal()), None);
        assert!(!access.exchange("", &secret(), 0));
        assert!(!access.exchange(link.reveal().get(1..).unwrap(), &secret(), 0));
        let session = secret();
        assert!(access.exchange(link.reveal(), &session, 0));
        assert_eq!(access.session(""), None);
        assert_eq!(access.session(session.reveal().get(1..).unwrap()), None);
        assert!(!access.exchange(session.reveal(), &secret(), 0), "a session is not a link");
        assert_eq!(access.session(&Digest::of(session.reveal()).to_hex()), None, "nor is its stored digest");
    }

    #[test]
    fn the_oldest_is_dropped_when_there_are_too_many() {
        let mut access = Access::default();
        let links: Vec<Secret> = (0..=LINKS).map(|_| secret()).collect();
        for link in &links {
            access.add_link(link, 0);
        }
        assert!(!access.exchange(links[0].reveal(), &secret(), 0));
        assert!(access.exchange(links[1].reveal(), &secret(), 0));

        let mut access = Access::default();
        let sessions: Vec<Secret> = (0..=SESSIONS).map(|_| secret()).collect();
        let mut first = None;
        for session in &sessions {
            let link = secret();
            access.add_link(&link, 0);
            assert!(access.exchange(link.reveal(), session, 0));
            first = first.or(access.session(session.reveal()));
        }
        assert_eq!(access.session(sessions[0].reveal()), None);
        assert!(!access.is_active(first.unwrap()));
        let second = access.session(sessions[1].reveal()).unwrap();
        assert!(access.is_active(second));
    }

    #[test]
    fn revoking_ends_everything_and_counts_only_usable_links() {
        let (mut access, expired) = linked(0);
        let (used, waiting, session) = (secret(), secret(), secret());
        access.add_link(&used, 599_000);
        access.add_link(&waiting, 599_000);
        assert!(access.exchange(used.reveal(), &session, 599_000));
        let id = access.session(session.reveal()).unwrap();
        assert_eq!(access.revoke(600_000), (1, 1));
        assert_eq!(access.session(session.reveal()), None);
        assert!(!access.is_active(id));
        for link in [expired, used, waiting] {
            assert!(!access.exchange(link.reveal(), &secret(), 600_000));
        }
        assert_eq!(access.revoke(600_000), (0, 0));
    }

    #[test]
    fn a_persisted_session_is_resumed_and_its_id_is_not_reused() {
        let (mut access, link) = linked(0);
        let session = secret();
        assert!(access.exchange(link.reveal(), &session, 0));
        let kept: Vec<String> = access.sessions().map(Digest::to_hex).collect();
        let mut again = Access::restored(kept.iter().filter_map(|hex| Digest::from_hex(hex)));
        let id = again.session(session.reveal()).unwrap();
        let (link, newer) = (secret(), secret());
        again.add_link(&link, 0);
        assert!(again.exchange(link.reveal(), &newer, 0));
        assert_ne!(again.session(newer.reveal()), Some(id));
    }

    #[test]
    fn a_secret_is_fresh_and_does_not_show_in_debug() {
        let (a, b) = (secret(), secret());
        assert_ne!(a.reveal(), b.reveal());
        assert_eq!(a.reveal().len(), 43);
        assert!(!format!("{a:?}").contains(a.reveal()));
    }
}
