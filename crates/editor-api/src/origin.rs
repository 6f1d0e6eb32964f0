//! Where a change of a hosted agent comes from: the conversation, the turn and the tool call, and what was said before it.

use serde::{Deserialize, Serialize};

/// The conversation that a change comes from, and why it was proposed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ReviewOrigin {
    /// Id of the conversation, such as `t3`.
    pub chat: String,
    /// Number of the turn, from 1: a turn begins with a message of the user.
    pub turn: u32,
    /// Place of the tool call among the items of the conversation, from 0.
    pub item: u32,
    /// The user's message, shortened. Missing if the conversation was forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What the agent said before the call, the end of it. Missing if it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

impl ReviewOrigin {
    /// The turn for people and for commands, such as `t3/2`.
    pub fn turn_name(&self) -> String {
        format!("{}/{}", self.chat, self.turn)
    }

    /// The turn and what was said in it, in one line. The texts are as they came: show them escaped.
    pub fn why(&self) -> String {
        let quoted = |text: &Option<String>| text.as_deref().map(one_line).filter(|text| !text.is_empty());
        let mut why = format!("from turn {} of a chat", self.turn_name());
        if let Some(prompt) = quoted(&self.prompt) {
            why += &format!(": “{prompt}”");
        }
        if let Some(words) = quoted(&self.words) {
            why += &format!("; the agent said: “{words}”");
        }
        why
    }
}

/// The beginning of a text, without line breaks.
fn one_line(text: &str) -> String {
    const MOST: usize = 160;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}

/// `t3`, or `t3/2` for one turn: the numbers of the conversation and of the turn.
pub fn parse_turn(name: &str) -> Option<(u64, Option<u32>)> {
    let (chat, turn) = match name.split_once('/') {
        Some((chat, turn)) => (chat, Some(turn)),
        None => (name, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let chat = chat.strip_prefix('t').filter(|chat| digits(chat))?.parse().ok()?;
    let turn = match turn {
        Some(turn) => Some(digits(turn).then(|| turn.parse().ok()).flatten()?),
        None => None,
    };
    Some((chat, turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_and_a_turn_have_names() {
        assert_eq!(parse_turn("t3"), Some((3, None)));
        assert_eq!(parse_turn("t3/2"), Some((3, Some(2))));
        for bad in ["", "t", "3", "t3/", "t3/x", "t+3", "t3/+1", "t3/2/1", "r3"] {
            assert_eq!(parse_turn(bad), None, "{bad:?}");
        }
        let origin = ReviewOrigin { chat: "t3".into(), turn: 2, ..ReviewOrigin::default() };
        assert_eq!(origin.turn_name(), "t3/2");
    }

    #[test]
    fn why_is_one_line_and_says_only_what_is_known() {
        let mut origin = ReviewOrigin { chat: "t3".into(), turn: 2, ..ReviewOrigin::default() };
        assert_eq!(origin.why(), "from turn t3/2 of a chat");
        origin.prompt = Some("make it\n\nloud".into());
        assert_eq!(origin.why(), "from turn t3/2 of a chat: “make it loud”");
        origin.words = Some("é".repeat(400));
        assert!(origin.why().ends_with(&format!("the agent said: “{}…”", "é".repeat(160))));
    }
}
