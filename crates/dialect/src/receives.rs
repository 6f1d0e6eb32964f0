//! What the agents of a dialect pass on to their models of a decision: facts about programs, seen on their wires. Where
//! versions or modes of a program differ, the least of them. Knows no review and no words for people.

use linkspan_editor_api::Receives;

/// What agents of one dialect receive.
#[derive(Debug, Clone, Copy)]
pub struct DialectReceives {
    /// Agents that are not listed.
    pub others: Receives,
    pub known: &'static [KnownAgent],
}

/// An agent that is recognised by the name with which it introduces itself.
#[derive(Debug, Clone, Copy)]
pub struct KnownAgent {
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    pub receives: Receives,
    /// What it restricts of the rest, as the end of a sentence that begins with its title.
    pub limit: Option<&'static str>,
    /// Its name for `linkspan hook install`: with the hook it receives everything.
    pub hook: Option<&'static str>,
}

impl DialectReceives {
    pub(crate) const EVERYTHING: DialectReceives =
        DialectReceives { others: Receives::EVERYTHING, known: &[] };

    /// The agent of that name.
    pub fn agent(&self, name: &str) -> Option<&'static KnownAgent> {
        self.known.iter().find(|agent| agent.name == name)
    }
}

#[cfg(test)]
mod tests {
    use crate::by_name;

    #[test]
    fn an_agent_that_has_a_hook_is_told_apart_by_its_name() {
        let of = |dialect: &str, agent: &str| {
            let receives = by_name(dialect).unwrap().receives;
            let known = receives.agent(agent);
            let received = known.map_or(receives.others, |known| known.receives);
            let words = [received.reason, received.comments, received.hunks, received.edited];
            (words.map(u8::from), known.and_then(|known| known.hook))
        };
        assert_eq!(of("claude", "claude-code"), ([0, 0, 0, 0], Some("claude")));
        assert_eq!(of("claude", "another"), ([0, 0, 0, 0], None));
        assert_eq!(of("gemini", "Gemini CLI"), ([0, 0, 1, 1], Some("gemini")));
        assert_eq!(of("gemini", "Qwen Code"), ([0, 0, 0, 0], Some("qwen")));
        assert_eq!(of("gemini", "Gemini CLI or Qwen Code"), ([0, 0, 0, 0], None));
        assert_eq!(of("copilot", "Copilot CLI"), ([0, 0, 0, 0], Some("copilot")));
        assert_eq!(of("nexus3", "nexus3"), ([1, 1, 0, 0], None));
        assert_eq!(of("clio", "Clio"), ([0, 0, 0, 0], None));
        for (dialect, agent) in [("nexus3", "another"), ("ppxai", "ppxai"), ("linkspan", "mine")] {
            assert_eq!(of(dialect, agent), ([1, 1, 1, 1], None), "{dialect}");
        }
    }
}
