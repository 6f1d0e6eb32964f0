//! The one table of all methods: their names, who sends and receives them, and the types that belong to them.

use serde::{Serialize, de::DeserializeOwned};

use crate::*;

/// Parameters of a method that is answered.
pub trait Request: Serialize + DeserializeOwned {
    /// Its name on the wire.
    const METHOD: &'static str;
    /// Type of the answer.
    type Result: Serialize + DeserializeOwned;
}

/// Parameters of a method that is not answered.
pub trait Notification: Serialize + DeserializeOwned {
    /// Its name on the wire.
    const METHOD: &'static str;
}

/// The sender and receiver of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// An editor to the hub.
    EditorToHub,
    /// The hub to an editor.
    HubToEditor,
    /// `linkspan attach` to its editor: about the hub, not from it.
    AttachToEditor,
    /// A command to the hub.
    CommandToHub,
    /// The hub to a command that watches.
    HubToCommand,
    /// An agent to the hub.
    AgentToHub,
    /// Anyone to anyone.
    Both,
}

/// Whether a method is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MethodKind {
    /// It is answered.
    Request,
    /// It is not answered.
    Notification,
}

/// One method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its sender and receiver.
    pub direction: Direction,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// Name of the type of its parameters.
    pub params: &'static str,
}

macro_rules! methods {
    (@impl $name:literal $params:ident) => {
        impl Notification for $params {
            const METHOD: &'static str = $name;
        }
    };
    (@impl $name:literal $params:ident $result:ty) => {
        impl Request for $params {
            const METHOD: &'static str = $name;
            type Result = $result;
        }
    };
    (@kind) => { MethodKind::Notification };
    (@kind $result:ty) => { MethodKind::Request };
    (@visit $visitor:ident $direction:ident $params:ident) => {
        $visitor.notification::<$params>(Direction::$direction)
    };
    (@visit $visitor:ident $direction:ident $params:ident $result:ty) => {
        $visitor.request::<$params>(Direction::$direction)
    };
    ($($direction:ident { $($name:literal $params:ident $(-> $result:ty)?;)+ })+) => {
        $($(methods!(@impl $name $params $($result)?);)+)+

        /// Every method of the protocol, in the order of the page.
        pub const METHODS: &[Method] = &[$($(Method {
            name: $name,
            direction: Direction::$direction,
            kind: methods!(@kind $($result)?),
            params: stringify!($params),
        }),+),+];

        /// Calls the visitor with every method's types, in the order of the page.
        #[cfg(feature = "codegen")]
        pub(crate) fn visit(visitor: &mut impl crate::codegen::Visitor) {
            $($(methods!(@visit visitor $direction $params $($result)?);)+)+
        }
    };
}

methods! {
    EditorToHub {
        "attach" Attach -> AttachResult;
        "review/decided" ReviewDecided -> ReviewDecidedResult;
        "review/edited" ReviewEdited -> ReviewEditedResult;
        "review/compare" ReviewCompare -> ReviewCompareResult;
        "agents/mention" AgentsMention -> AgentsMentionResult;
        "user/answered" UserAnswered -> UserAnsweredResult;
        "detach" Detach;
        "folders/changed" FoldersChanged;
        "focus/changed" FocusChanged;
        "documents/changed" DocumentsChanged;
        "selection/changed" SelectionChanged;
        "mentioned" Mentioned;
        "diagnostics/changed" DiagnosticsChanged;
        "review/shown" ReviewShown;
        "review/closed" ReviewClosed;
    }
    HubToEditor {
        "documents/list" DocumentsList -> DocumentsListResult;
        "document/text" DocumentText -> DocumentTextResult;
        "document/dirty" DocumentDirty -> DocumentDirtyResult;
        "document/save" DocumentSave -> DocumentSaveResult;
        "document/close" DocumentClose -> DocumentCloseResult;
        "document/open" DocumentOpen -> DocumentOpenResult;
        "document/reveal" DocumentReveal -> DocumentRevealResult;
        "document/visibleRange" DocumentVisibleRange -> DocumentVisibleRangeResult;
        "document/format" DocumentFormat -> DocumentFormatResult;
        "edits/apply" EditsApply -> EditsApplyResult;
        "selection/current" SelectionCurrent -> Option<Selection>;
        "selection/latest" SelectionLatest -> Option<Selection>;
        "diagnostics/get" DiagnosticsGet -> DiagnosticsGetResult;
        "review/show" ReviewShow -> ();
        "review/waiting" ReviewWaiting -> ();
        "review/hide" ReviewHide -> ();
        "language/hover" LanguageHover -> LanguageHoverResult;
        "language/definition" LanguageDefinition -> LanguageDefinitionResult;
        "language/references" LanguageReferences -> LanguageReferencesResult;
        "language/symbols" LanguageSymbols -> LanguageSymbolsResult;
        "language/rename" LanguageRename -> LanguageRenameResult;
        "terminal/create" TerminalCreate -> TerminalCreateResult;
        "terminal/run" TerminalRun -> TerminalRunResult;
        "terminal/output" TerminalOutput -> TerminalOutputResult;
        "status/message" StatusMessage -> ();
        "user/ask" UserAsk -> ();
        "user/unask" UserUnask -> ();
        "code/execute" CodeExecute -> CodeExecuteResult;
    }
    AttachToEditor {
        "hub/lost" HubLost;
        "hub/back" HubBack;
    }
    CommandToHub {
        "hub/hello" HubHello -> HubHelloResult;
        "hub/status" HubStatus -> HubStatusResult;
        "hub/windows" HubWindows -> HubWindowsResult;
        "hub/stop" HubStop -> HubStopResult;
        "reviews/list" ReviewsList -> ReviewsListResult;
        "reviews/get" ReviewsGet -> ReviewsGetResult;
        "reviews/decide" ReviewsDecide -> ReviewDecidedResult;
        "hub/watch" HubWatch -> ();
        "history/list" HistoryList -> HistoryListResult;
        "history/show" HistoryShow -> HistoryShowResult;
        "history/undo" HistoryUndo -> HistoryUndoResult;
        "history/undoTurn" HistoryUndoTurn -> HistoryUndoTurnResult;
        "asks/list" AsksList -> AsksListResult;
        "asks/answer" AsksAnswer -> UserAnsweredResult;
        "clients/list" ClientsList -> ClientsListResult;
        "clients/allow" ClientsAllow -> ClientsAllowResult;
        "clients/revoke" ClientsRevoke -> ClientsRevokeResult;
        "chat/agents" ChatAgents -> ChatAgentsResult;
        "chat/list" ChatList -> ChatListResult;
        "chat/start" ChatStart -> ChatStartResult;
        "chat/open" ChatOpen -> ChatOpenResult;
        "chat/items" ChatItems -> ChatItemsResult;
        "chat/files" ChatFiles -> ChatFilesResult;
        "chat/symbols" ChatSymbols -> ChatSymbolsResult;
        "chat/prompt" ChatPrompt -> ();
        "chat/cancel" ChatCancel -> ();
        "chat/setMode" ChatSetMode -> ();
        "chat/close" ChatClose -> ();
        "page/link" PageLink -> PageLinkResult;
        "page/revoke" PageRevoke -> PageRevokeResult;
    }
    HubToCommand {
        "hub/event" HubEvent;
        "chat/update" ChatUpdate;
    }
    AgentToHub {
        "agent/join" AgentJoin -> AgentJoinResult;
        "agent/leave" AgentLeave;
        "hook/report" HookReport -> HookReportResult;
    }
    Both {
        "ping" Ping -> ();
    }
}
