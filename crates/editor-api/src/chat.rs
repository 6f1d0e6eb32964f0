//! Conversations with agents that the hub hosts: which agents there are, what was said, and what goes on.
//!
//! A conversation is a list of items, oldest first. An update changes one item, so a reader needs no other state.

use serde::{Deserialize, Serialize};

/// Asks which agents the hub can start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatAgents {}

/// The agents, the most used first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatAgentsResult {
    /// Each agent of the table.
    pub agents: Vec<ChatAgent>,
}

/// An agent that the hub can start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatAgent {
    /// Its name in `agents.toml`, such as `gemini`.
    pub id: String,
    /// Its name for people, such as "Gemini CLI".
    pub name: String,
    /// Its program was found.
    pub installed: bool,
    /// How to install it or log in to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Asks for the conversations, those that are closed too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatList {}

/// The conversations, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatListResult {
    /// Without their items.
    pub chats: Vec<ChatSummary>,
}

/// A conversation without its items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatSummary {
    /// Its id, such as `t3`; never used again.
    pub chat: String,
    /// The agent's name in `agents.toml`.
    pub agent: String,
    /// The agent's name for people.
    pub agent_name: String,
    /// Absolute path of the folder that it works in.
    pub folder: String,
    /// Id of the window that has the folder, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The first words of the first message.
    pub title: String,
    /// What it is doing.
    pub state: ChatState,
    /// The agent's working mode, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The working modes that the agent offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<ChatMode>,
    /// What it cost, if the agent says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ChatUsage>,
    /// Messages may have pictures. Missing until the agent said so or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pictures: Option<bool>,
    /// Messages that wait for the end of the turn.
    #[serde(default)]
    pub queued: u32,
    /// When it was started, in milliseconds since 1970.
    pub started_ms: i64,
    /// When something was said last, in milliseconds since 1970.
    pub changed_ms: i64,
}

/// What a conversation is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ChatState {
    /// The agent is starting.
    Starting,
    /// The agent waits for a message.
    Idle,
    /// A turn is running.
    Working,
    /// The agent is not running; the next message starts it again.
    Stopped {
        /// Why, and what to do next.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
}

/// A working mode of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatMode {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
}

/// What a conversation cost so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatUsage {
    /// Tokens in the context now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// Tokens that fit into the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its price for people, such as "0.12 USD".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

/// Starts a conversation. The first of an agent in a folder asks the user for permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatStart {
    /// The agent's name in `agents.toml`.
    pub agent: String,
    /// Absolute path of a workspace folder.
    pub folder: String,
}

/// The new conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatStartResult {
    /// Its id.
    pub chat: String,
}

/// Asks for the newest items of a conversation, and for its updates from now on. The connection of a reader that does
/// not read is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatOpen {
    /// Which.
    pub chat: String,
    /// At most this many items. Default 200, at most 1000; fewer if they are large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A conversation with its newest items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatOpenResult {
    /// Without its items.
    pub summary: ChatSummary,
    /// The place of the first of these items; `chat/items` gives those before it.
    #[serde(default)]
    pub first: u32,
    /// Its newest items, the oldest of them first.
    pub items: Vec<ChatItem>,
}

/// Asks for older items of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatItems {
    /// Which.
    pub chat: String,
    /// Those before this place.
    pub before: u32,
    /// At most this many items. Default 200, at most 1000; fewer if they are large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Older items of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatItemsResult {
    /// The place of the first of these items.
    pub first: u32,
    /// The items, the oldest first.
    pub items: Vec<ChatItem>,
}

/// Asks for files of a folder that a message may mean, without what ignore files and `deny` cover. A newer request of the
/// same connection ends this one without files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatFiles {
    /// Absolute path of a workspace folder.
    pub folder: String,
    /// A part of the name; `a/b` finds a name with `b` in a folder with `a`.
    pub words: String,
}

/// What a message may mean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatFilesResult {
    /// Absolute paths, at most 200.
    pub paths: Vec<String>,
    /// What is selected in the editor that has the folder, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<ChatAttachment>,
}

/// Asks for functions, types and the like that a message may mean, of an editor that has the folder. A newer request of the
/// same connection may end this one without symbols.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatSymbols {
    /// Absolute path of a workspace folder.
    pub folder: String,
    /// A part of the name.
    pub words: String,
}

/// Functions, types and the like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatSymbolsResult {
    /// At most 50, the best match first. None if no editor knows the code of the folder.
    pub symbols: Vec<ChatSymbol>,
}

/// Something that code defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatSymbol {
    /// Its name.
    pub name: String,
    /// Absolute path of its file.
    pub path: String,
    /// Its first line, from 1.
    pub first_line: u32,
    /// Its last line, from 1.
    pub last_line: u32,
}

/// Says something to the agent. While a turn runs, the message waits for its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatPrompt {
    /// In which conversation.
    pub chat: String,
    /// Markdown.
    pub text: String,
    /// Files that belong to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<ChatAttachment>,
    /// Pictures that belong to it, at most 8. An agent that takes none gets the message without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<ChatPicture>,
}

/// A picture that belongs to a message. Kept as long as the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatPicture {
    /// Its name for people.
    pub name: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime_type: String,
    /// Its bytes in Base64, at most 3 MiB of it.
    pub data: String,
}

/// A file, or a part of one, that belongs to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatAttachment {
    /// Absolute path.
    pub path: String,
    /// Its first line, from 1; without it, the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u32>,
    /// Its last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<u32>,
}

/// Ends the turn that is running; its open reviews and questions are withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatCancel {
    /// Which.
    pub chat: String,
}

/// Changes the agent's working mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatSetMode {
    /// Which.
    pub chat: String,
    /// Id of the mode.
    pub mode: String,
}

/// Ends the agent of a conversation. What was said is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatClose {
    /// Which.
    pub chat: String,
    /// Also forget what was said.
    #[serde(default)]
    pub forget: bool,
}

/// A conversation changed. Sent to those that opened it; a change of its summary also to those that asked for the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatUpdate {
    /// Which.
    pub chat: String,
    /// What changed.
    pub change: ChatChange,
}

/// A change of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ChatChange {
    /// The conversation itself.
    Summary {
        /// As it is now.
        summary: ChatSummary,
    },
    /// An item was added, or is another one now.
    Item {
        /// Its place in the list, from 0.
        index: u32,
        /// As it is now.
        item: ChatItem,
    },
    /// Text was appended to an item of the agent's text or thought.
    Text {
        /// Its place in the list, from 0.
        index: u32,
        /// What was appended.
        text: String,
    },
    /// The conversation was forgotten.
    Forgotten,
}

/// One item of a conversation. Skip unknown kinds: they come from a newer hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ChatItem {
    /// From the user.
    User {
        /// Markdown.
        text: String,
        /// What belongs to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<ChatAttachment>,
        /// Pictures that belong to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<ChatPicture>,
        /// It waits for the end of the turn.
        #[serde(default)]
        queued: bool,
        /// Linkspan wrote it, to tell the agent what you decided.
        #[serde(default)]
        by_linkspan: bool,
    },
    /// From the agent.
    Agent {
        /// Markdown.
        text: String,
    },
    /// The agent's reasoning.
    Thought {
        /// Markdown.
        text: String,
    },
    /// A tool call.
    Tool {
        /// What it does, in the agent's words.
        title: String,
        /// Its kind in ACP, such as `edit` or `execute`.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_kind: Option<String>,
        /// How far it is.
        state: ChatToolState,
        /// Its output, or what it does in detail.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
        /// Absolute paths of the files that it concerns.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        /// Ids of its reviews, which can be decided in the conversation.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reviews: Vec<String>,
        /// Id of its permission question, while it is pending.
        #[serde(skip_serializing_if = "Option::is_none")]
        ask: Option<String>,
    },
    /// The agent's plan.
    Plan {
        /// Its steps.
        steps: Vec<ChatPlanStep>,
    },
    /// The end of a turn in which the agent proposed changes. `history/undoTurn` undoes those that were accepted.
    TurnEnd {
        /// Number of the turn, from 1.
        turn: u32,
        /// How many reviews it had.
        changes: u32,
    },
    /// Something that is not from the agent: a turn was cancelled, the agent ended.
    Notice {
        /// One sentence or two.
        text: String,
        /// Something went wrong.
        #[serde(default)]
        is_error: bool,
    },
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum ChatToolState {
    /// It waits, perhaps for the user.
    Pending,
    /// It runs.
    Running,
    /// It is done.
    Done,
    /// It failed, or was refused.
    Failed,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ChatPlanStep {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: ChatToolState,
}
