//! What the user has allowed agents to do: for a session, or always. Plain state; who asks for a grant, and what follows
//! from it, is decided elsewhere in this folder.

use std::collections::BTreeMap;

use linkspan_editor_api as api;
use linkspan_editor_api::PermissionKind;
use linkspan_review::WindowId;

use crate::config::{Client, Clients};
use crate::core::principal::AgentPrincipal;

#[derive(Debug)]
pub(super) struct Grants {
    /// Grants for a session, with the time since which their agent has been away.
    session: BTreeMap<(AgentPrincipal, PermissionKind), Option<u64>>,
    /// Remembered grants. A file that cannot be read grants nothing.
    pub(super) remembered: Result<Clients, String>,
}

impl Default for Grants {
    fn default() -> Grants {
        Grants { session: BTreeMap::new(), remembered: Ok(Clients::default()) }
    }
}

impl Grants {
    /// The grant that covers this, if there is one; a remembered grant has a date.
    pub(super) fn grant_for(
        &self,
        who: &AgentPrincipal,
        client: &Client,
        deed: PermissionKind,
        (now_ms, grace_ms): (u64, u64),
    ) -> Option<api::Grant> {
        let remembered = self.remembered.as_ref().ok().and_then(|clients| clients.allow(client, deed));
        let away = self.session.get(&(who.clone(), deed));
        let for_session = away.is_some_and(|away| !too_long(*away, now_ms, grace_ms));
        let since = remembered.map(ToString::to_string);
        (since.is_some() || for_session).then_some(api::Grant { deed, since })
    }

    pub(super) fn allow_for_session(&mut self, who: AgentPrincipal, deed: PermissionKind) {
        self.session.insert((who, deed), None);
    }

    /// Revokes grants for sessions, and returns how many.
    pub(super) fn revoke(&mut self, name: Option<&str>, deeds: &[PermissionKind]) -> usize {
        let before = self.session.len();
        self.session.retain(|(who, deed), _| {
            let meant = name.is_none_or(|name| name == who.name);
            !meant || (!deeds.is_empty() && !deeds.contains(deed))
        });
        before - self.session.len()
    }

    /// The last connection of this agent ended. After a goodbye its grants end as well.
    pub(super) fn agent_left(&mut self, who: &AgentPrincipal, said_goodbye: bool, now_ms: u64) {
        self.session.retain(|(of, _), away| {
            if of == who {
                *away = Some(now_ms);
            }
            of != who || !said_goodbye
        });
    }

    /// The agent is there. After too long an absence its grants have ended: it may be another agent of the same name.
    pub(super) fn agent_joined(&mut self, who: &AgentPrincipal, now_ms: u64, grace_ms: u64) {
        self.session.retain(|(of, _), away| {
            let too_long = too_long(*away, now_ms, grace_ms);
            if of == who && !too_long {
                *away = None;
            }
            of != who || !too_long
        });
    }

    /// The session with this key has ended, in every window.
    pub(super) fn session_ended(&mut self, key: &str) {
        self.session.retain(|(who, _), _| who.key != key);
    }

    /// Grants in a window end with it.
    pub(super) fn window_closed(&mut self, window: WindowId) {
        self.session.retain(|(who, _), _| who.window != window);
    }
}

fn too_long(away: Option<u64>, now_ms: u64, grace_ms: u64) -> bool {
    away.is_some_and(|since| since + grace_ms < now_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE_MS: u64 = 1000;

    fn principal(key: &str) -> AgentPrincipal {
        AgentPrincipal { window: WindowId(1), key: key.to_owned(), name: key.to_owned() }
    }

    fn allowed() -> Grants {
        let mut grants = Grants::default();
        grants.allow_for_session(principal("one"), PermissionKind::Command);
        grants.allow_for_session(principal("two"), PermissionKind::Command);
        grants
    }

    fn granted(grants: &Grants) -> [bool; 2] {
        granted_at(grants, 500)
    }

    fn granted_at(grants: &Grants, now_ms: u64) -> [bool; 2] {
        let client = Client { name: String::new(), dialect: String::new(), folders: Vec::new() };
        let times = (now_ms, GRACE_MS);
        ["one", "two"]
            .map(|key| grants.grant_for(&principal(key), &client, PermissionKind::Command, times).is_some())
    }

    #[test]
    fn what_was_allowed_to_one_that_is_away_ends_by_itself() {
        let mut grants = allowed();
        grants.agent_left(&principal("one"), false, 500);
        assert_eq!(granted_at(&grants, 500 + GRACE_MS), [true, true]);
        assert_eq!(granted_at(&grants, 501 + GRACE_MS), [false, true]);
    }

    #[test]
    fn what_was_allowed_to_an_agent_that_stayed_away_too_long_is_not_allowed_to_the_next() {
        for (back_ms, expected) in [(500 + GRACE_MS, true), (501 + GRACE_MS, false)] {
            let mut grants = allowed();
            grants.agent_left(&principal("one"), false, 500);
            grants.agent_joined(&principal("one"), back_ms, GRACE_MS);
            assert_eq!(granted(&grants), [expected, true]);
        }
    }

    #[test]
    fn who_came_back_in_time_is_there_again() {
        let mut grants = allowed();
        grants.agent_left(&principal("one"), false, 500);
        grants.agent_joined(&principal("one"), 600, GRACE_MS);
        grants.agent_joined(&principal("one"), 9000, GRACE_MS);
        assert_eq!(granted(&grants), [true, true]);
    }

    #[test]
    fn a_goodbye_and_a_closed_window_end_what_was_allowed() {
        let mut grants = allowed();
        grants.agent_left(&principal("one"), true, 500);
        assert_eq!(granted(&grants), [false, true]);
        grants.window_closed(WindowId(2));
        assert_eq!(granted(&grants), [false, true]);
        grants.window_closed(WindowId(1));
        assert_eq!(granted(&grants), [false, false]);
    }

    #[test]
    fn what_is_revoked_is_what_was_named() {
        for (name, deeds, expected) in [
            (Some("one"), &[][..], [false, true]),
            (Some("one"), &[PermissionKind::Command], [false, true]),
            (Some("one"), &[PermissionKind::Git], [true, true]),
            (None, &[PermissionKind::Command], [false, false]),
            (None, &[], [false, false]),
        ] {
            let mut grants = allowed();
            let revoked = grants.revoke(name, deeds);
            assert_eq!(granted(&grants), expected, "{name:?} {deeds:?}");
            assert_eq!(revoked, expected.iter().filter(|granted| !**granted).count());
        }
    }
}
