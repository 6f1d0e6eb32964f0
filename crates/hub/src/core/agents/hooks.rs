//! Agents that are one event of another agent's hooks: how they are recognised, now and after a restart, and in whose
//! name they ask. Such an agent is a process that ends with its question. What follows from that is decided elsewhere.

use linkspan_editor_api::{HookJoin, RpcError, errors};
use linkspan_review::AgentId;

use crate::core::agents::{Agents, display_name};
use crate::core::convert::SESSION;

/// How long a hook that lost the hub tries to come back.
pub(in crate::core) const HOOK_RETURN_MS: u64 = 60_000;

/// Agents choose the ids of their sessions.
const LONGEST_ID: usize = 200;

/// Before the session of a hook in its key. No session of another agent contains a space.
const MARK: &str = "hook ";

/// What identifies a joined hook after a restart of the hub.
pub(super) fn session_key(session: &str) -> String {
    format!("{MARK}{session}")
}

/// Whether the agent with this key is a hook.
pub(in crate::core) fn is_hook_key(owner_key: &str) -> bool {
    owner_key.rsplit_once(SESSION).is_some_and(|(_, session)| session.starts_with(MARK))
}

/// The agent behind the hook, as it is named in lists.
pub(super) fn checked(hook: HookJoin) -> Result<HookJoin, RpcError> {
    check_id("hook.agent", &hook.agent)?;
    check_id("hook.session", &hook.session)?;
    Ok(HookJoin { agent: display_name(&hook.agent), session: hook.session })
}

pub(in crate::core) fn check_id(name: &str, id: &str) -> Result<(), RpcError> {
    match id.len() {
        1..=LONGEST_ID => Ok(()),
        _ => {
            let message = format!("`{name}` must have 1 to {LONGEST_ID} bytes");
            Err(RpcError::new(errors::INVALID_PARAMS, message))
        }
    }
}

/// What is allowed for a session is allowed to every hook of that session.
pub(in crate::core) fn grants_key(hook: &HookJoin) -> String {
    format!("hooks:{}{SESSION}{}", hook.agent, hook.session)
}

impl Agents {
    /// The joined hooks of this session of an agent.
    pub(in crate::core) fn hooks_of(&self, hook: &HookJoin) -> Vec<AgentId> {
        let theirs = self.iter().filter(|(_, agent)| agent.hook.as_ref() == Some(hook));
        theirs.map(|(id, _)| *id).collect()
    }
}

/// Words in the names of agents that say nothing about which agent it is.
const COMMON_WORDS: [&str; 8] = ["agent", "assistant", "cli", "client", "code", "ide", "mcp", "or"];

/// Whether these are names of one agent: in its hooks, and in its editor protocol, where it may be `claude-code`, or
/// `Gemini CLI or Qwen Code` if the two cannot be told apart.
pub(in crate::core) fn may_be_one_agent(one: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        let words = name.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase);
        words.filter(|word| !word.is_empty() && !COMMON_WORDS.contains(&word.as_str())).collect()
    };
    let other_words = words(other);
    words(one).iter().any(|word| other_words.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_agent_share_a_word_that_is_not_common() {
        for (one, other) in [
            ("Claude Code", "claude-code"),
            ("Gemini CLI", "Gemini CLI or Qwen Code"),
            ("Qwen Code", "Gemini CLI or Qwen Code"),
            ("GitHub Copilot CLI", "copilot"),
        ] {
            assert!(may_be_one_agent(one, other) && may_be_one_agent(other, one), "{one}, {other}");
        }
        for (one, other) in
            [("Claude Code", "Qwen Code"), ("Gemini CLI", "Copilot CLI"), ("", ""), ("code", "code")]
        {
            assert!(!may_be_one_agent(one, other), "{one}, {other}");
        }
    }

    #[test]
    fn only_hooks_have_the_key_of_one() {
        assert!(is_hook_key(&format!("linkspan:Claude Code{SESSION}{}", session_key("k3y"))));
        assert!(!is_hook_key(&format!("linkspan:hook of mine{SESSION}k3y")));
        assert!(!is_hook_key("claude:hook x"));
    }
}
