// Generated from crates/editor-api by `cargo xtask codegen`. Do not edit.

/** Version of the protocol, for `attach`. */
export const PROTOCOL = 1;

/** Error codes. */
export const ERRORS = {
  /** The message is not JSON. */
  PARSE: -32700,
  /** The message is JSON, but not a request, notification or response. */
  INVALID_REQUEST: -32600,
  /** There is no such method. */
  METHOD_NOT_FOUND: -32601,
  /** The parameters do not fit the method. */
  INVALID_PARAMS: -32602,
  /** A bug in the answering program. */
  INTERNAL: -32603,
  /** The connection has not sent `attach` yet. */
  NOT_ATTACHED: -32010,
  /** There is no such review. */
  UNKNOWN_REVIEW: -32011,
  /** The path is outside of the workspace folders of the window. */
  OUTSIDE_WORKSPACE: -32012,
  /** The two sides do not speak the same protocol version. */
  VERSION: -32013,
  /** The editor cannot do this. */
  UNSUPPORTED: -32014,
  /** A rule of the configuration forbids it. */
  DENIED: -32015,
  /** There is no such file, document or terminal. */
  NOT_FOUND: -32016,
  /** It took too long. */
  TIMEOUT: -32017,
  /** It is larger than the limit. */
  TOO_LARGE: -32018,
  /** There is no such change, or nothing to undo. */
  UNKNOWN_CHANGE: -32021,
  /** The file does not hold the expected bytes. */
  CONFLICT: -32022,
  /** There is no such window. */
  UNKNOWN_WINDOW: -32019,
} as const;

/** Requests of an editor to the hub. */
export interface EditorToHubRequests {
  /** Attaches an editor window to the hub. Required before every other message of an editor. */
  "attach": { params: Attach; result: AttachResult };
  /** The user decided. */
  "review/decided": { params: ReviewDecided; result: ReviewDecidedResult };
  /** The user edited the proposed side without deciding yet. */
  "review/edited": { params: ReviewEdited; result: ReviewEditedResult };
  /** Asks for the differences between `base` and a text that the user is typing. Nothing is kept of it. */
  "review/compare": { params: ReviewCompare; result: ReviewCompareResult };
  /** The user points the agents of the window, or one of them, at a file, or at some of its lines. */
  "agents/mention": { params: AgentsMention; result: AgentsMentionResult };
  /** The user answered a question, or closed it. The first answer counts. */
  "user/answered": { params: UserAnswered; result: UserAnsweredResult };
  /** Asks whether the other side is alive. */
  "ping": { params: Ping; result: null };
}

/** Notifications of an editor to the hub. */
export interface EditorToHubNotifications {
  /** Detaches for good. A window whose connection ends without it may come back. */
  "detach": { params: Detach };
  /** The workspace folders changed. */
  "folders/changed": { params: FoldersChanged };
  /** The window got or lost the focus. */
  "focus/changed": { params: FocusChanged };
  /** The set of open documents changed, or one became dirty or clean. */
  "documents/changed": { params: DocumentsChanged };
  /** The selection in the active document changed. Sent when it has settled, not for each step. */
  "selection/changed": { params: SelectionChanged };
  /** The user pointed the agents at a file, or at some of its lines. */
  "mentioned": { params: Mentioned };
  /** The diagnostics of some files changed. */
  "diagnostics/changed": { params: DiagnosticsChanged };
  /** The review is visible to the user. */
  "review/shown": { params: ReviewShown };
  /** The user closed the tab. That is not a decision: the review stays pending. */
  "review/closed": { params: ReviewClosed };
}

/** Requests of the hub to an editor. */
export interface HubToEditorRequests {
  /** Asks for the documents that are open, in the order of their tabs. */
  "documents/list": { params: DocumentsList; result: DocumentsListResult };
  /** Asks for the text that an editor holds for a file, saved or not. */
  "document/text": { params: DocumentText; result: DocumentTextResult };
  /** Asks whether a document has unsaved changes. */
  "document/dirty": { params: DocumentDirty; result: DocumentDirtyResult };
  /** Saves a document. */
  "document/save": { params: DocumentSave; result: DocumentSaveResult };
  /** Closes the tabs of a document. One with unsaved changes stays open. */
  "document/close": { params: DocumentClose; result: DocumentCloseResult };
  /** Opens a file in a tab. */
  "document/open": { params: DocumentOpen; result: DocumentOpenResult };
  /** Scrolls an open document so that a range is visible. */
  "document/reveal": { params: DocumentReveal; result: DocumentRevealResult };
  /** Asks which part of a document is on screen. */
  "document/visibleRange": { params: DocumentVisibleRange; result: DocumentVisibleRangeResult };
  /** Asks what the editor's formatter would change in a document. Changes nothing. */
  "document/format": { params: DocumentFormat; result: DocumentFormatResult };
  /** Changes a document's text as one undo step. */
  "edits/apply": { params: EditsApply; result: EditsApplyResult };
  /** Asks for the selection in the active document; `null` when none is active. */
  "selection/current": { params: SelectionCurrent; result: Selection | null };
  /** Asks for the last selection made in any document, active or not; `null` when there was none. */
  "selection/latest": { params: SelectionLatest; result: Selection | null };
  /** Asks for diagnostics. */
  "diagnostics/get": { params: DiagnosticsGet; result: DiagnosticsGetResult };
  /** Shows a review, or a newer revision of one that is shown. Answered at once, before the user looks. */
  "review/show": { params: ReviewShow; result: null };
  /** Notifies whether the agent of a shown review still waits for the answer. */
  "review/waiting": { params: ReviewWaiting; result: null };
  /** Removes a review from the screen. */
  "review/hide": { params: ReviewHide; result: null };
  /** Asks for the type and documentation of the symbol at a position. */
  "language/hover": { params: LanguageHover; result: LanguageHoverResult };
  /** Asks where the symbol at a position is defined. */
  "language/definition": { params: LanguageDefinition; result: LanguageDefinitionResult };
  /** Asks where the symbol at a position is used. */
  "language/references": { params: LanguageReferences; result: LanguageReferencesResult };
  /** Asks for symbols: those of one file, or those in the workspace that match a query. */
  "language/symbols": { params: LanguageSymbols; result: LanguageSymbolsResult };
  /** Asks what renaming the symbol at a position would change. Changes nothing. */
  "language/rename": { params: LanguageRename; result: LanguageRenameResult };
  /** Opens an integrated terminal. */
  "terminal/create": { params: TerminalCreate; result: TerminalCreateResult };
  /** Runs a command in an integrated terminal and waits until it exits. */
  "terminal/run": { params: TerminalRun; result: TerminalRunResult };
  /** Asks for the output of the last command in a terminal so far. */
  "terminal/output": { params: TerminalOutput; result: TerminalOutputResult };
  /** Shows the user a message that needs no answer. */
  "status/message": { params: StatusMessage; result: null };
  /** Asks the user for permission. Answered at once, before the user looks; the user's answer comes back as `user/answered`. If a question with this id is already on the screen, it is the same one. */
  "user/ask": { params: UserAsk; result: null };
  /** Removes a question from the screen: it was answered elsewhere, or is no longer pending. */
  "user/unask": { params: UserUnask; result: null };
  /** Runs code in the kernel of the active notebook. */
  "code/execute": { params: CodeExecute; result: CodeExecuteResult };
  /** Asks whether the other side is alive. */
  "ping": { params: Ping; result: null };
}

/** Notifications of `linkspan attach` to an editor, about the hub. */
export interface HubToEditorNotifications {
  /** The hub cannot be reached. Sent by `linkspan attach` itself, which keeps trying. Requests of the editor wait in the meantime. */
  "hub/lost": { params: HubLost };
  /** The hub can be reached, and the window is attached again. Sent by `linkspan attach` itself. The environment, and even the port, may have changed. Pending reviews are shown again; all others are closed. */
  "hub/back": { params: HubBack };
}

/** Requests of a command to the hub. */
export interface CommandToHubRequests {
  /** Identifies the caller and asks which hub this is. This request never changes its shape, because two versions find out about each other with it. */
  "hub/hello": { params: HubHello; result: HubHelloResult };
  /** Asks what is connected right now. */
  "hub/status": { params: HubStatus; result: HubStatusResult };
  /** Asks which windows there are. Faster than `hub/status`: agents are not pinged. */
  "hub/windows": { params: HubWindows; result: HubWindowsResult };
  /** Stops the hub. It starts again when it is needed. */
  "hub/stop": { params: HubStop; result: HubStopResult };
  /** Asks for the reviews. */
  "reviews/list": { params: ReviewsList; result: ReviewsListResult };
  /** Asks for one review in full. */
  "reviews/get": { params: ReviewsGet; result: ReviewsGetResult };
  /** Decides a review from the command line. */
  "reviews/decide": { params: ReviewsDecide; result: ReviewDecidedResult };
  /** Asks for `hub/event` from now on. Ask for the current state afterwards, with `hub/status` and `reviews/list`, so that nothing is missed in between. The connection of a watcher that does not read is closed. */
  "hub/watch": { params: HubWatch; result: null };
  /** Asks for closed reviews and undos, newest first. */
  "history/list": { params: HistoryList; result: HistoryListResult };
  /** Asks for the texts of a closed review, to show again what was decided. */
  "history/show": { params: HistoryShow; result: HistoryShowResult };
  /** Undoes an accepted change: restores the bytes that the file held before, if it holds exactly the accepted bytes now and no editor has unsaved changes in it. */
  "history/undo": { params: HistoryUndo; result: HistoryUndoResult };
  /** Undoes every change of one turn of a conversation, the newest first. Each file is restored or left as it is, like by `history/undo`; those that cannot be restored do not keep the others from it. */
  "history/undoTurn": { params: HistoryUndoTurn; result: HistoryUndoTurnResult };
  /** Asks for the pending questions, oldest first. */
  "asks/list": { params: AsksList; result: AsksListResult };
  /** Answers a question for the user, from any surface. The first answer counts. */
  "asks/answer": { params: AsksAnswer; result: UserAnsweredResult };
  /** Asks which agents there are, connected or remembered, and what each may do. */
  "clients/list": { params: ClientsList; result: ClientsListResult };
  /** Grants permissions to an agent. */
  "clients/allow": { params: ClientsAllow; result: ClientsAllowResult };
  /** Revokes permissions, at once, in all folders. */
  "clients/revoke": { params: ClientsRevoke; result: ClientsRevokeResult };
  /** Asks which agents the hub can start. */
  "chat/agents": { params: ChatAgents; result: ChatAgentsResult };
  /** Asks for the conversations, those that are closed too. */
  "chat/list": { params: ChatList; result: ChatListResult };
  /** Starts a conversation. The first of an agent in a folder asks the user for permission. */
  "chat/start": { params: ChatStart; result: ChatStartResult };
  /** Asks for the newest items of a conversation, and for its updates from now on. The connection of a reader that does not read is closed. */
  "chat/open": { params: ChatOpen; result: ChatOpenResult };
  /** Asks for older items of a conversation. */
  "chat/items": { params: ChatItems; result: ChatItemsResult };
  /** Asks for files of a folder that a message may mean, without what ignore files and `deny` cover. A newer request of the same connection ends this one without files. */
  "chat/files": { params: ChatFiles; result: ChatFilesResult };
  /** Asks for functions, types and the like that a message may mean, of an editor that has the folder. A newer request of the same connection may end this one without symbols. */
  "chat/symbols": { params: ChatSymbols; result: ChatSymbolsResult };
  /** Says something to the agent. While a turn runs, the message waits for its end. */
  "chat/prompt": { params: ChatPrompt; result: null };
  /** Ends the turn that is running; its open reviews and questions are withdrawn. */
  "chat/cancel": { params: ChatCancel; result: null };
  /** Changes the agent's working mode. */
  "chat/setMode": { params: ChatSetMode; result: null };
  /** Ends the agent of a conversation. What was said is kept. */
  "chat/close": { params: ChatClose; result: null };
  /** Asks for a link that gives one browser access to the reviews. */
  "page/link": { params: PageLink; result: PageLinkResult };
  /** Revokes the access of every browser, and every unused link. */
  "page/revoke": { params: PageRevoke; result: PageRevokeResult };
  /** Asks whether the other side is alive. */
  "ping": { params: Ping; result: null };
}

/** Notifications of the hub to a command. */
export interface HubToCommandNotifications {
  /** Something happened. Sent in the order in which it did. */
  "hub/event": { params: HubEvent };
  /** A conversation changed. Sent to those that opened it; a change of its summary also to those that asked for the list. */
  "chat/update": { params: ChatUpdate };
}

/** Requests of an agent to the hub. */
export interface AgentToHubRequests {
  /** Joins a window as an agent. After the answer, every message on this connection is MCP of the dialect `linkspan`, in both directions. */
  "agent/join": { params: AgentJoin; result: AgentJoinResult };
  /** Reports an event of an agent's hooks. Needs no `agent/join`, and is answered at once. */
  "hook/report": { params: HookReport; result: HookReportResult };
  /** Asks whether the other side is alive. */
  "ping": { params: Ping; result: null };
}

/** Notifications of an agent to the hub. */
export interface AgentToHubNotifications {
  /** Leaves: the open changes and calls of the agent are withdrawn, and the hub closes the connection. After a connection that ends without it, the agent may reconnect for its answers. */
  "agent/leave": { params: AgentLeave };
}

/** How much of a proposal was accepted. */
export type AcceptedPart = "all" | "some" | "edited";

/** Joins a window as an agent. After the answer, every message on this connection is MCP of the dialect `linkspan`, in both directions. */
export interface AgentJoin {
  /** Id of the window, such as `w3`: `hub/windows` lists them. */
  window: string;
  /** A random string of 1 to 64 letters, digits, `-` and `_` that the agent keeps across reconnects and that no other agent uses. With it, its name and its window, an agent finds its own changes again. An older connection with the same three is considered lost. */
  session: string;
  /** What the agent calls itself. */
  name: string;
  /** Its version. */
  version: string;
  /** Its process id. */
  pid?: number;
  /** What its model learns of a decision, if that is less than everything. */
  receives?: Receives;
  /** Set by a command that another agent runs for one event of its hooks, such as `linkspan hook`. */
  hook?: HookJoin;
  /** Set by `linkspan acp`: the messages on this connection are then its own, about a session of an agent between which and its client it is. When the connection ends, the pending changes are withdrawn at once. */
  acpProxy: boolean;
}

/** The window the agent is in now. */
export interface AgentJoinResult {
  /** Id of the connection, such as `a4`. */
  agent: string;
  /** Id of the window. */
  window: string;
  /** Its editor. */
  editor: Editor;
  /** Absolute paths of its workspace folders. */
  folders: Array<string>;
}

/** Leaves: the open changes and calls of the agent are withdrawn, and the hub closes the connection. After a connection that ends without it, the agent may reconnect for its answers. */
export type AgentLeave = Record<string, never>;

/** One connected agent. */
export interface AgentStatus {
  /** Id of the connection, such as `a4`. */
  agent: string;
  /** Its name. */
  name: string;
  /** The version that it reports. */
  version: string;
  /** The protocol it speaks. */
  dialect: string;
  /** Its process id, if known. */
  pid?: number;
  /** How long it has been connected. */
  connectedMs: number;
  /** Its reviews that are not closed. */
  openReviews: number;
}

/** The user points the agents of the window, or one of them, at a file, or at some of its lines. */
export interface AgentsMention {
  /** Absolute path of the file. */
  path: string;
  /** Which lines; missing: the whole file. */
  lines?: LineRange;
  /** Id of the connection of one agent, such as `a4`; missing: all. */
  agent?: string;
}

/** Who received it. */
export interface AgentsMentionResult {
  /** The names of the agents, each as often as it is connected. Empty: nobody did. */
  agents: Array<string>;
}

/** An answer that the user can give. */
export type AskOption = "allowOnce" | "allowSession" | "allowAlways" | "deny";

/** A pending question to the user. */
export interface AskSummary {
  /** Id of the question; never used again. */
  ask: string;
  /** Id of the window whose agent asks. */
  window: string;
  /** Absolute paths of that window's workspace folders. */
  folders: Array<string>;
  /** The name of the agent. */
  agent: string;
  /** The protocol it speaks. */
  dialect: string;
  /** The permission that it asks for. */
  deed: PermissionKind;
  /** One sentence, ending with a question mark. */
  question: string;
  /** The full subject, such as the command that would run. Invisible characters in it are escaped. */
  detail?: string;
  /** The answers to offer, in this order. */
  options: Array<AskOption>;
  /** How long it has been pending. */
  ageMs: number;
}

/** Answers a question for the user, from any surface. The first answer counts. */
export interface AsksAnswer {
  /** Id of the question. */
  ask: string;
  /** The chosen option, one of those that it offers. */
  option: AskOption;
}

/** Asks for the pending questions, oldest first. */
export type AsksList = Record<string, never>;

/** The pending questions. */
export interface AsksListResult {
  /** Oldest first. */
  asks: Array<AskSummary>;
}

/** Attaches an editor window to the hub. Required before every other message of an editor. */
export interface Attach {
  /** The protocol version the editor speaks. */
  protocol: number;
  /** Version of the editor's Linkspan integration. */
  version: string;
  /** The editor. */
  editor: Editor;
  /** Process id of the editor, which agents look for among their parents. */
  pid: number;
  /** Absolute paths of the workspace folders, main one first. */
  folders: Array<string>;
  /** An id that the editor keeps across reloads. With it, or else with the same folders, a window gets its port, its agents and its pending reviews back. */
  windowId?: string;
  /** The folder in `CLAUDE_CONFIG_DIR` of the editor's process. `linkspan attach` fills it in: the hub may have been started where the variable is not set. */
  claudeConfigDir?: string;
  /** What the editor can do. */
  capabilities: Capabilities;
}

/** The window that the hub created, or found again. */
export interface AttachResult {
  /** Id of the window, such as `w3`. */
  window: string;
  /** Port on 127.0.0.1 where agents find this window. */
  port: number;
  /** Version of the hub. */
  hubVersion: string;
  /** The protocol version the hub speaks. */
  protocol: number;
  /** Variables to set in integrated terminals, so that agents started there find this window first. */
  environment: Record<string, string>;
  /** Ids of the window's pending reviews, for each of which `review/show` follows. Remove every other one from the screen. Missing from older hubs. */
  pendingReviews?: Array<string>;
}

/** What an editor can do. Only requests of these groups are sent to it. */
export interface Capabilities {
  /** `documents/list` and `document/…`, except `document/format`. */
  documents: boolean;
  /** `selection/current` and `selection/latest`. */
  selection: boolean;
  /** `diagnostics/get`. */
  diagnostics: boolean;
  /** `review/show` and `review/hide`. */
  reviews: boolean;
  /** `edits/apply`. */
  edits: boolean;
  /** `edits/apply` may name the places that differ instead of the whole text. */
  editRanges: boolean;
  /** `document/format`. */
  format: boolean;
  /** `language/…`. */
  language: boolean;
  /** `terminal/…`. */
  terminal: boolean;
  /** `status/message`. */
  messages: boolean;
  /** `user/ask` and `user/unask`. */
  questions: boolean;
  /** `code/execute`. */
  executeCode: boolean;
  /** The user trusts the folders, so that agents may run commands and write to git in them once the user allows it. Missing from older editors, where an editor with documents and without `terminal` has not trusted them. */
  trusted?: boolean;
}

/** An agent that the hub can start. */
export interface ChatAgent {
  /** Its name in `agents.toml`, such as `gemini`. */
  id: string;
  /** Its name for people, such as "Gemini CLI". */
  name: string;
  /** Its program was found. */
  installed: boolean;
  /** How to install it or log in to it. */
  hint?: string;
}

/** Asks which agents the hub can start. */
export type ChatAgents = Record<string, never>;

/** The agents, the most used first. */
export interface ChatAgentsResult {
  /** Each agent of the table. */
  agents: Array<ChatAgent>;
}

/** A file, or a part of one, that belongs to a message. */
export interface ChatAttachment {
  /** Absolute path. */
  path: string;
  /** Its first line, from 1; without it, the whole file. */
  firstLine?: number;
  /** Its last line. */
  lastLine?: number;
}

/** Ends the turn that is running; its open reviews and questions are withdrawn. */
export interface ChatCancel {
  /** Which. */
  chat: string;
}

/** A change of a conversation. */
export type ChatChange =
  | {
    "kind": "summary";
    /** As it is now. */
    summary: ChatSummary;
  }
  | {
    "kind": "item";
    /** Its place in the list, from 0. */
    index: number;
    /** As it is now. */
    item: ChatItem;
  }
  | {
    "kind": "text";
    /** Its place in the list, from 0. */
    index: number;
    /** What was appended. */
    text: string;
  }
  | {
    "kind": "forgotten";
  };

/** Ends the agent of a conversation. What was said is kept. */
export interface ChatClose {
  /** Which. */
  chat: string;
  /** Also forget what was said. */
  forget: boolean;
}

/** Asks for files of a folder that a message may mean, without what ignore files and `deny` cover. A newer request of the same connection ends this one without files. */
export interface ChatFiles {
  /** Absolute path of a workspace folder. */
  folder: string;
  /** A part of the name; `a/b` finds a name with `b` in a folder with `a`. */
  words: string;
}

/** What a message may mean. */
export interface ChatFilesResult {
  /** Absolute paths, at most 200. */
  paths: Array<string>;
  /** What is selected in the editor that has the folder, if it is known. */
  selection?: ChatAttachment;
}

/** One item of a conversation. Skip unknown kinds: they come from a newer hub. */
export type ChatItem =
  | {
    "kind": "user";
    /** Markdown. */
    text: string;
    /** What belongs to it. */
    attachments: Array<ChatAttachment>;
    /** Pictures that belong to it. */
    pictures: Array<ChatPicture>;
    /** It waits for the end of the turn. */
    queued: boolean;
    /** Linkspan wrote it, to tell the agent what you decided. */
    byLinkspan: boolean;
  }
  | {
    "kind": "agent";
    /** Markdown. */
    text: string;
  }
  | {
    "kind": "thought";
    /** Markdown. */
    text: string;
  }
  | {
    "kind": "tool";
    /** What it does, in the agent's words. */
    title: string;
    /** Its kind in ACP, such as `edit` or `execute`. */
    toolKind?: string;
    /** How far it is. */
    state: ChatToolState;
    /** Its output, or what it does in detail. */
    output: string;
    /** Absolute paths of the files that it concerns. */
    paths: Array<string>;
    /** Ids of its reviews, which can be decided in the conversation. */
    reviews: Array<string>;
    /** Id of its permission question, while it is pending. */
    ask?: string;
  }
  | {
    "kind": "plan";
    /** Its steps. */
    steps: Array<ChatPlanStep>;
  }
  | {
    "kind": "turnEnd";
    /** Number of the turn, from 1. */
    turn: number;
    /** How many reviews it had. */
    changes: number;
  }
  | {
    "kind": "notice";
    /** One sentence or two. */
    text: string;
    /** Something went wrong. */
    isError: boolean;
  };

/** Asks for older items of a conversation. */
export interface ChatItems {
  /** Which. */
  chat: string;
  /** Those before this place. */
  before: number;
  /** At most this many items. Default 200, at most 1000; fewer if they are large. */
  limit?: number;
}

/** Older items of a conversation. */
export interface ChatItemsResult {
  /** The place of the first of these items. */
  first: number;
  /** The items, the oldest first. */
  items: Array<ChatItem>;
}

/** Asks for the conversations, those that are closed too. */
export type ChatList = Record<string, never>;

/** The conversations, the newest first. */
export interface ChatListResult {
  /** Without their items. */
  chats: Array<ChatSummary>;
}

/** A working mode of an agent. */
export interface ChatMode {
  /** Its id. */
  id: string;
  /** Its name for people. */
  name: string;
}

/** Asks for the newest items of a conversation, and for its updates from now on. The connection of a reader that does not read is closed. */
export interface ChatOpen {
  /** Which. */
  chat: string;
  /** At most this many items. Default 200, at most 1000; fewer if they are large. */
  limit?: number;
}

/** A conversation with its newest items. */
export interface ChatOpenResult {
  /** Without its items. */
  summary: ChatSummary;
  /** The place of the first of these items; `chat/items` gives those before it. */
  first: number;
  /** Its newest items, the oldest of them first. */
  items: Array<ChatItem>;
}

/** A picture that belongs to a message. Kept as long as the conversation. */
export interface ChatPicture {
  /** Its name for people. */
  name: string;
  /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
  mimeType: string;
  /** Its bytes in Base64, at most 3 MiB of it. */
  data: string;
}

/** A step of a plan. */
export interface ChatPlanStep {
  /** What is to be done. */
  text: string;
  /** How far it is. */
  state: ChatToolState;
}

/** Says something to the agent. While a turn runs, the message waits for its end. */
export interface ChatPrompt {
  /** In which conversation. */
  chat: string;
  /** Markdown. */
  text: string;
  /** Files that belong to it. */
  attachments: Array<ChatAttachment>;
  /** Pictures that belong to it, at most 8. An agent that takes none gets the message without them. */
  pictures: Array<ChatPicture>;
}

/** Changes the agent's working mode. */
export interface ChatSetMode {
  /** Which. */
  chat: string;
  /** Id of the mode. */
  mode: string;
}

/** Starts a conversation. The first of an agent in a folder asks the user for permission. */
export interface ChatStart {
  /** The agent's name in `agents.toml`. */
  agent: string;
  /** Absolute path of a workspace folder. */
  folder: string;
}

/** The new conversation. */
export interface ChatStartResult {
  /** Its id. */
  chat: string;
}

/** What a conversation is doing. */
export type ChatState =
  | {
    "kind": "starting";
  }
  | {
    "kind": "idle";
  }
  | {
    "kind": "working";
  }
  | {
    "kind": "stopped";
    /** Why, and what to do next. */
    why?: string;
  };

/** A conversation without its items. */
export interface ChatSummary {
  /** Its id, such as `t3`; never used again. */
  chat: string;
  /** The agent's name in `agents.toml`. */
  agent: string;
  /** The agent's name for people. */
  agentName: string;
  /** Absolute path of the folder that it works in. */
  folder: string;
  /** Id of the window that has the folder, if there is one. */
  window?: string;
  /** The first words of the first message. */
  title: string;
  /** What it is doing. */
  state: ChatState;
  /** The agent's working mode, if it has several. */
  mode?: string;
  /** The working modes that the agent offers. */
  modes: Array<ChatMode>;
  /** What it cost, if the agent says so. */
  usage?: ChatUsage;
  /** Messages may have pictures. Missing until the agent said so or not. */
  pictures?: boolean;
  /** Messages that wait for the end of the turn. */
  queued: number;
  /** When it was started, in milliseconds since 1970. */
  startedMs: number;
  /** When something was said last, in milliseconds since 1970. */
  changedMs: number;
}

/** Something that code defines. */
export interface ChatSymbol {
  /** Its name. */
  name: string;
  /** Absolute path of its file. */
  path: string;
  /** Its first line, from 1. */
  firstLine: number;
  /** Its last line, from 1. */
  lastLine: number;
}

/** Asks for functions, types and the like that a message may mean, of an editor that has the folder. A newer request of the same connection may end this one without symbols. */
export interface ChatSymbols {
  /** Absolute path of a workspace folder. */
  folder: string;
  /** A part of the name. */
  words: string;
}

/** Functions, types and the like. */
export interface ChatSymbolsResult {
  /** At most 50, the best match first. None if no editor knows the code of the folder. */
  symbols: Array<ChatSymbol>;
}

/** How far a tool call is. */
export type ChatToolState = "pending" | "running" | "done" | "failed";

/** A conversation changed. Sent to those that opened it; a change of its summary also to those that asked for the list. */
export interface ChatUpdate {
  /** Which. */
  chat: string;
  /** What changed. */
  change: ChatChange;
}

/** What a conversation cost so far. */
export interface ChatUsage {
  /** Tokens in the context now. */
  used?: number;
  /** Tokens that fit into the context. */
  size?: number;
  /** Its price for people, such as "0.12 USD". */
  cost?: string;
}

/** One agent, as it is identified for permissions. */
export interface ClientSummary {
  /** Its name. */
  name: string;
  /** The protocol it speaks. */
  dialect: string;
  /** Its workspace folders, with symlinks resolved. */
  folders: Array<string>;
  /** Id of its connection, if there is one. */
  agent?: string;
  /** Its grants: what it may do without asking. */
  may: Array<Grant>;
}

/** Grants permissions to an agent. */
export interface ClientsAllow {
  /** The name of the agent. */
  name: string;
  /** The protocol it speaks. Default: every protocol that agents of that name speak. */
  dialect?: string;
  /** Absolute path of the workspace folder, with symlinks resolved. */
  folder: string;
  /** The permissions; at least one. */
  deeds: Array<PermissionKind>;
  /** Only for agents that are connected, until they disconnect. */
  session: boolean;
}

/** The agents that have the permissions now. */
export interface ClientsAllowResult {
  /** The protocols of these agents. */
  dialects: Array<string>;
}

/** Asks which agents there are, connected or remembered, and what each may do. */
export type ClientsList = Record<string, never>;

/** Which agents there are. */
export interface ClientsListResult {
  /** Those that are connected, then those that are only remembered. */
  clients: Array<ClientSummary>;
  /** The pending questions. */
  asks: Array<AskSummary>;
  /** Permissions that no agent can get, not even by asking. */
  never: Array<PermissionKind>;
  /** Absolute path of the file that remembers permissions. */
  file: string;
  /** Why that file is invalid. An invalid file allows nothing. */
  problem?: string;
}

/** Revokes permissions, at once, in all folders. */
export interface ClientsRevoke {
  /** The name of the agent. Default: all agents. */
  name?: string;
  /** The permissions to revoke. Empty: all of them. */
  deeds: Array<PermissionKind>;
}

/** The result of revoking. */
export interface ClientsRevokeResult {
  /** Number of revoked permissions. */
  revoked: number;
}

/** Runs code in the kernel of the active notebook. */
export interface CodeExecute {
  /** The code. */
  code: string;
}

/** The result of the code. */
export interface CodeExecuteResult {
  /** Its outputs as text, in order. */
  outputs: Array<string>;
}

/** The decision of the user. */
export interface Decision {
  /** Yes or no, and to what. */
  verdict: Verdict;
  /** Comments on single lines. */
  comments: Array<ReviewComment>;
  /** If the agent that should write the file no longer waits, the hub writes it instead. Without this, accepting such a review is refused, with `canWriteHere`. */
  writeHere?: boolean;
}

/** Detaches for good. A window whose connection ends without it may come back. */
export type Detach = Record<string, never>;

/** One error, warning or hint. */
export interface Diagnostic {
  /** The message. */
  message: string;
  /** Its severity. */
  severity: Severity;
  /** Where it is. */
  range: Range;
  /** The tool that reports it, such as `rustc` or `eslint`. */
  source?: string;
  /** Its code, such as `E0308`. */
  code?: string;
}

/** The diagnostics of some files changed. */
export interface DiagnosticsChanged {
  /** Which files. */
  files: Array<DocumentVersion>;
}

/** Asks for diagnostics. */
export interface DiagnosticsGet {
  /** Absolute path of one file; missing: all files that have any. */
  path?: string;
  /** Wait at most this many milliseconds for the language servers to finish. */
  waitMs?: number;
}

/** The diagnostics, file by file. */
export interface DiagnosticsGetResult {
  /** A file that was requested by its path is listed even if it has none. */
  files: Array<FileDiagnostics>;
}

/** A protocol agents can speak to a window. */
export interface DialectStatus {
  /** Its name, such as `claude`. */
  name: string;
  /** The well-known port of its agents, if it leads to this window. */
  port?: number;
  /** The discovery files of the window that exist. */
  discoveryFiles: Array<string>;
  /** Why a discovery file is missing. */
  problems: Array<string>;
}

/** Closes the tabs of a document. One with unsaved changes stays open. */
export interface DocumentClose {
  /** Absolute path of the file. */
  path: string;
}

/** The result of closing. */
export interface DocumentCloseResult {
  /** No tab shows the document now. */
  closed: boolean;
}

/** Asks whether a document has unsaved changes. */
export interface DocumentDirty {
  /** Absolute path of the file. */
  path: string;
}

/** Whether the document has unsaved changes. */
export interface DocumentDirtyResult {
  /** The editor has the file open. */
  open: boolean;
  /** It has unsaved changes. */
  dirty: boolean;
  /** It has no file yet. */
  untitled: boolean;
}

/** Asks what the editor's formatter would change in a document. Changes nothing. */
export interface DocumentFormat {
  /** Absolute path of the file. */
  path: string;
  /** Only this part; missing: all of it. */
  range?: Range;
}

/** What formatting would change. */
export interface DocumentFormatResult {
  /** The replacements, all referring to the text before; empty when there is nothing to change. */
  edits: Array<TextEdit>;
}

/** Opens a file in a tab. */
export interface DocumentOpen {
  /** Absolute path of the file. */
  path: string;
  /** Open it as a preview that the next opened file replaces. */
  preview: boolean;
  /** Give it the focus. Without it, the focus stays where it is. */
  focus: boolean;
  /** What to select and scroll to. */
  target?: OpenTarget;
}

/** The opened document. */
export interface DocumentOpenResult {
  /** Language id, as the editor names it. */
  language?: string;
  /** Number of lines. */
  lineCount?: number;
  /** What was selected; missing when the target was not found. */
  selected?: Range;
}

/** Scrolls an open document so that a range is visible. */
export interface DocumentReveal {
  /** Absolute path of the file. */
  path: string;
  /** The range to show. */
  range: Range;
}

/** The result of scrolling. */
export interface DocumentRevealResult {
  /** The range is on screen; false when the document is not visible. */
  revealed: boolean;
}

/** Saves a document. */
export interface DocumentSave {
  /** Absolute path of the file. */
  path: string;
}

/** The result of saving. */
export interface DocumentSaveResult {
  /** The editor has the file open. */
  open: boolean;
  /** The file now holds what the document holds. */
  saved: boolean;
  /** Why it could not be saved. */
  message?: string;
}

/** Asks for the text that an editor holds for a file, saved or not. */
export interface DocumentText {
  /** Absolute path of the file. */
  path: string;
}

/** What the editor holds for the file. */
export interface DocumentTextResult {
  /** The editor has the file open. If not, the file on disk counts. */
  open: boolean;
  /** It has unsaved changes. */
  dirty: boolean;
  /** Grows with each change to the text. */
  version?: number;
  /** Language id, as the editor names it. */
  language?: string;
  /** The whole text, with the document's own line endings; missing when it is not open. */
  text?: string;
}

/** A file and the version of its document. */
export interface DocumentVersion {
  /** Absolute path of the file. */
  path: string;
  /** Version of the document, if it is open. */
  version?: number;
}

/** Asks which part of a document is on screen. */
export interface DocumentVisibleRange {
  /** Absolute path of the file. */
  path: string;
}

/** The part of the document on screen. */
export interface DocumentVisibleRangeResult {
  /** From the first to the last visible line; missing when the document is not visible. */
  range?: Range;
}

/** The set of open documents changed, or one became dirty or clean. */
export type DocumentsChanged = Record<string, never>;

/** Asks for the documents that are open, in the order of their tabs. */
export type DocumentsList = Record<string, never>;

/** The open documents. */
export interface DocumentsListResult {
  /** One entry for each tab that shows a text document. */
  documents: Array<OpenDocument>;
}

/** An editor. */
export interface Editor {
  /** Its name for people, such as `Visual Studio Code`. */
  name: string;
  /** Its version. */
  version: string;
}

/** What to change in a document. */
export type Edits =
  | {
    "kind": "ranges";
    /** The replacements. */
    edits: Array<TextEdit>;
  }
  | {
    "kind": "text";
    /** The whole new text. */
    text: string;
  };

/** Changes a document's text as one undo step. */
export interface EditsApply {
  /** Absolute path of the file. */
  path: string;
  /** Apply only if the document has this version; if it moved on, nothing is applied. */
  version?: number;
  /** What to change. */
  edits: Edits;
  /** Save afterwards. */
  save: boolean;
}

/** The result of the edits. */
export interface EditsApplyResult {
  /** The document holds the new text. False when its version had moved on. */
  applied: boolean;
  /** The document's version now. */
  version?: number;
  /** The file on disk holds it too. */
  saved: boolean;
  /** The text of the document after saving, if it is not the text that the edits made: the editor's own rules for saving changed it. */
  text?: string;
}

/** The diagnostics of one file. */
export interface FileDiagnostics {
  /** Absolute path of the file. */
  path: string;
  /** Version of the document they are about, if the editor knows. */
  version?: number;
  /** They describe the current text. False: the language server may still be working. */
  settled: boolean;
  /** The diagnostics, in the order of their ranges. */
  diagnostics: Array<Diagnostic>;
}

/** Edits to one file. */
export interface FileEdits {
  /** Absolute path of the file. */
  path: string;
  /** The replacements, all referring to the text before. */
  edits: Array<TextEdit>;
}

/** The window got or lost the focus. */
export interface FocusChanged {
  /** It has the focus now. */
  focused: boolean;
}

/** The workspace folders changed. */
export interface FoldersChanged {
  /** Absolute paths of all workspace folders now, main one first. */
  folders: Array<string>;
}

/** A permission that an agent has. */
export interface Grant {
  /** The permission. */
  deed: PermissionKind;
  /** When it was granted permanently, such as `2026-11-15T21:53:10Z`; missing: only for this session. */
  since?: string;
}

/** Why a review is removed from the screen. */
export type HideReason =
  | {
    "kind": "decided";
    /** Where it was decided, for people. */
    by: string;
    /** The decision. */
    verdict: VerdictKind;
  }
  | {
    "kind": "withdrawn";
  }
  | {
    "kind": "superseded";
  }
  | {
    "kind": "failed";
    /** Why. */
    error: string;
  };

/** One closed review, or one undo. */
export interface HistoryEntry {
  /** Id of the review; for an undo, of the review that it undid. */
  review: string;
  /** Id of the change of the file, such as `c17`. Missing if nothing was written, and if the agent wrote it and it was never undone: then use the id of the review. */
  change?: string;
  /** The change that this one undid. An undo of an undo is a redo. */
  undoes?: string;
  /** Id of the set that it was proposed in together with other files. */
  set?: string;
  /** Id of the window. */
  window: string;
  /** Name of the agent. */
  agent: string;
  /** The protocol it spoke. */
  dialect: string;
  /** Absolute path of the file. */
  path: string;
  /** What the agent called it. */
  label: string;
  /** How the review ended. */
  ended: ReviewEnded;
  /** Comments on single lines. */
  comments: Array<ReviewComment>;
  /** When it was proposed, in milliseconds since 1970. */
  proposedAtMs: number;
  /** When the review was closed or the undo was done, in milliseconds since 1970. */
  endedAtMs: number;
  /** Where it was decided, for people. */
  decidedBy?: string;
  /** Number of lines added, if known. */
  added?: number;
  /** Number of lines removed, if known. */
  removed?: number;
  /** The file did not exist before. */
  newFile: boolean;
  /** The journal has the bytes to undo it. Whether the file still holds the accepted bytes is only checked by `history/undo`. */
  undoable: boolean;
  /** It was undone. */
  undone: boolean;
  /** The hub wrote the file, or saw that it holds the accepted text. False: the agent had to write it, and the hub has not seen it in the file. Missing if nothing had to be written, and in entries of older versions. */
  onDisk?: boolean;
  /** The conversation that it comes from, if the hub hosted its agent. */
  origin?: ReviewOrigin;
}

/** Asks for closed reviews and undos, newest first. */
export interface HistoryList {
  /** At most this many entries. Default 50, at most 1000. */
  limit?: number;
  /** Absolute path of a file, or of a folder, which includes everything in it. */
  path?: string;
  /** Id of a window. */
  window?: string;
  /** Only entries that can be undone. */
  undoable: boolean;
  /** Only changes of this conversation (`t3`), or of one of its turns (`t3/2`). */
  chat?: string;
}

/** Closed reviews and undos. */
export interface HistoryListResult {
  /** Newest first. */
  entries: Array<HistoryEntry>;
}

/** Asks for the texts of a closed review, to show again what was decided. */
export interface HistoryShow {
  /** Id of the review (`r12`). */
  review: string;
}

/** What was decided. */
export interface HistoryShowResult {
  /** How the review ended, with the reason and the comments. */
  entry: HistoryEntry;
  /** The text that the change was based on. Missing if the file did not exist. */
  base?: string;
  /** The accepted text. If it was not accepted, the text that was proposed, with the user's edits. */
  text: string;
}

/** Undoes an accepted change: restores the bytes that the file held before, if it holds exactly the accepted bytes now and no editor has unsaved changes in it. */
export interface HistoryUndo {
  /** Id of the change (`c17`) or of its review (`r12`), or `last`: the newest that was not undone. */
  change: string;
}

/** The undone change. */
export interface HistoryUndoResult {
  /** Id of the change that was undone. */
  change: string;
  /** Id of its review. */
  review: string;
  /** Absolute path of the file. */
  path: string;
  /** The file did not exist before the change, and was removed. */
  removedFile: boolean;
  /** Id of the undo itself. Undoing it applies the change again. */
  redo: string;
}

/** Undoes every change of one turn of a conversation, the newest first. Each file is restored or left as it is, like by `history/undo`; those that cannot be restored do not keep the others from it. */
export interface HistoryUndoTurn {
  /** The turn, such as `t3/2`. */
  turn: string;
}

/** What became of each change of the turn. */
export interface HistoryUndoTurnResult {
  /** In the order in which they were undone. */
  changes: Array<TurnUndo>;
}

/** The agent behind a hook. The joined process lives as long as the question that it asks: when its connection ends, its pending changes and questions are withdrawn at once. */
export interface HookJoin {
  /** What the agent that runs the hook calls itself, such as `Claude Code`; 1 to 200 bytes. */
  agent: string;
  /** That agent's own id of its session; 1 to 200 bytes. Permissions for a session last as long as it, across all processes that join with it. */
  session: string;
}

/** Reports an event of an agent's hooks. Needs no `agent/join`, and is answered at once. */
export interface HookReport {
  /** What the agent calls itself, as in `hook.agent` of `agent/join`; 1 to 200 bytes. */
  agent: string;
  /** The agent's own id of its session, as in `hook.session` of `agent/join`; 1 to 200 bytes. */
  session: string;
  /** Absolute path of the folder that the agent works in. */
  cwd: string;
  /** What happened. */
  event: HookReportKind;
  /** The agent's own words, for `waiting`. */
  message?: string;
  /** Absolute paths of files, for `edited`. */
  paths: Array<string>;
}

/** What an agent's hook reports. */
export type HookReportKind = "prompt" | "stopped" | "waiting" | "ended" | "edited";

/** What the report led to. */
export interface HookReportResult {
  /** How many reviews and questions were withdrawn at once. */
  withdrawn: number;
}

/** The hub can be reached, and the window is attached again. Sent by `linkspan attach` itself. The environment, and even the port, may have changed. Pending reviews are shown again; all others are closed. */
export type HubBack = AttachResult;

/** Something happened. Sent in the order in which it did. */
export interface HubEvent {
  /** Id of the window it happened in. */
  window: string;
  /** What happened. */
  what: WindowEvent;
}

/** Identifies the caller and asks which hub this is. This request never changes its shape, because two versions find out about each other with it. */
export interface HubHello {
  /** Version of the caller. */
  version: string;
  /** The protocol version the caller speaks. */
  protocol: number;
  /** The kind of caller, such as `attach`, `serve` or `command`. Only for the log. */
  role: string;
}

/** Which hub this is. */
export interface HubHelloResult {
  /** Version of the hub. */
  version: string;
  /** The protocol version the hub speaks. */
  protocol: number;
  /** Process id of the hub. */
  pid: number;
  /** When it started, in milliseconds since 1970. */
  startedAtMs: number;
}

/** The hub cannot be reached. Sent by `linkspan attach` itself, which keeps trying. Requests of the editor wait in the meantime. */
export interface HubLost {
  /** Why, for people. */
  reason: string;
}

/** Asks what is connected right now. */
export type HubStatus = Record<string, never>;

/** What is connected right now. */
export interface HubStatusResult {
  /** Version of the hub. */
  version: string;
  /** Process id of the hub. */
  pid: number;
  /** How long it has been running. */
  uptimeMs: number;
  /** Path of its socket. */
  socket: string;
  /** Memory that it uses, if the system reports it. */
  residentBytes?: number;
  /** The windows, oldest first. */
  windows: Array<WindowStatus>;
  /** Number of rejected connections, by reason. */
  refused: Record<string, number>;
  /** Current problems, each with a remedy. */
  problems: Array<string>;
}

/** Stops the hub. It starts again when it is needed. */
export interface HubStop {
  /** Stop even if reviews are pending. They are in the journal and come back. */
  force: boolean;
}

/** Whether the hub stops. */
export interface HubStopResult {
  /** It stops now. */
  stopped: boolean;
  /** Why it does not. */
  reason?: string;
  /** Pending reviews. */
  pending: number;
}

/** Asks for `hub/event` from now on. Ask for the current state afterwards, with `hub/status` and `reviews/list`, so that nothing is missed in between. The connection of a watcher that does not read is closed. */
export interface HubWatch {
  /** Id of the window to watch. Default: all windows, including later ones. */
  window?: string;
}

/** Asks which windows there are. Faster than `hub/status`: agents are not pinged. */
export type HubWindows = Record<string, never>;

/** The windows. */
export interface HubWindowsResult {
  /** Oldest first; their agents are left out. */
  windows: Array<WindowStatus>;
}

/** Asks where the symbol at a position is defined. */
export interface LanguageDefinition {
  /** Absolute path of the file. */
  path: string;
  /** Where. */
  position: Position;
}

/** Where it is defined. */
export interface LanguageDefinitionResult {
  /** The places; empty when nothing is known. */
  locations: Array<Location>;
}

/** Asks for the type and documentation of the symbol at a position. */
export interface LanguageHover {
  /** Absolute path of the file. */
  path: string;
  /** Where. */
  position: Position;
}

/** Type and documentation of a symbol. */
export interface LanguageHoverResult {
  /** Markdown, one entry for each source; empty when nothing is known. */
  contents: Array<string>;
  /** The range that it describes. */
  range?: Range;
}

/** Asks where the symbol at a position is used. */
export interface LanguageReferences {
  /** Absolute path of the file. */
  path: string;
  /** Where. */
  position: Position;
  /** Include its declaration. */
  includeDeclaration: boolean;
}

/** Where it is used. */
export interface LanguageReferencesResult {
  /** The places; empty when nothing is known. */
  locations: Array<Location>;
}

/** Asks what renaming the symbol at a position would change. Changes nothing. */
export interface LanguageRename {
  /** Absolute path of the file. */
  path: string;
  /** Where. */
  position: Position;
  /** Its new name. */
  newName: string;
}

/** What renaming would change. */
export interface LanguageRenameResult {
  /** File by file; empty when it cannot be renamed. */
  files: Array<FileEdits>;
  /** Why it cannot be renamed, if that is known. */
  message?: string;
}

/** Asks for symbols: those of one file, or those in the workspace that match a query. */
export type LanguageSymbols =
  | {
    "kind": "document";
    /** Absolute path of the file. */
    path: string;
  }
  | {
    "kind": "workspace";
    /** Part of their name. */
    query: string;
  };

/** The symbols. */
export interface LanguageSymbolsResult {
  /** In the order of the file, or best match first. */
  symbols: Array<Symbol>;
}

/** Whole lines, both ends included. */
export interface LineRange {
  /** First line, from 0. */
  first: number;
  /** Last line, from 0, included. */
  last: number;
}

/** A range of a file. */
export interface Location {
  /** Absolute path of the file. */
  path: string;
  /** Where in it. */
  range: Range;
}

/** The user pointed the agents at a file, or at some of its lines. */
export interface Mentioned {
  /** Absolute path of the file. */
  path: string;
  /** Which lines; missing: the whole file. */
  lines?: LineRange;
}

/** The level of a message. */
export type MessageLevel = "info" | "warning" | "error";

/** One tab that shows a text document. */
export interface OpenDocument {
  /** Absolute path, or the editor's name for a document that has no file yet. */
  path: string;
  /** The title of the tab. */
  label: string;
  /** The active document, or the last one that was active. */
  active: boolean;
  /** It has unsaved changes. */
  dirty: boolean;
  /** It has no file yet. */
  untitled: boolean;
  /** The tab is pinned. */
  pinned: boolean;
  /** The tab is a preview that the next opened file replaces. */
  preview: boolean;
  /** Language id, as the editor names it. */
  language?: string;
  /** Which group of tabs, from 0. */
  groupIndex: number;
  /** Column of that group, from 1, as VS Code counts. */
  viewColumn?: number;
  /** That group is the active one. */
  groupActive: boolean;
  /** Number of lines, if the document is loaded. */
  lineCount?: number;
  /** Selection in it, if the document is visible. */
  selection?: SelectedRange;
  /** Grows with each change to the text. */
  version?: number;
}

/** What to select in a document that is opened. */
export type OpenTarget =
  | {
    "kind": "range";
    /** Where. */
    range: Range;
  }
  | {
    "kind": "text";
    /** Selection begins at the first occurrence of this. */
    start: string;
    /** Selection ends with the first occurrence of this after `start`; missing: it ends with `start`. */
    end?: string;
    /** Extend the selection to the end of its last line. */
    toEndOfLine: boolean;
  };

/** Asks for a link that gives one browser access to the reviews. */
export type PageLink = Record<string, never>;

/** A link that can be used once. */
export interface PageLinkResult {
  /** The link. The part after `#` is a secret. */
  url: string;
  /** Port on 127.0.0.1 where the page is served: the one to forward. */
  port: number;
  /** How long it can be used. */
  expiresInSeconds: number;
}

/** Revokes the access of every browser, and every unused link. */
export type PageRevoke = Record<string, never>;

/** What was revoked. */
export interface PageRevokeResult {
  /** Browsers that had access. */
  sessions: number;
  /** Unused links. */
  links: number;
}

/** An action that needs the user's permission. */
export type PermissionKind = "command" | "code" | "edit" | "git";

/** Asks whether the other side is alive. */
export type Ping = Record<string, never>;

/** A position between two characters of a document. */
export interface Position {
  /** Line, from 0. */
  line: number;
  /** UTF-16 code units from the start of the line, from 0. */
  character: number;
}

/** A range of a document, from `start` up to but not including `end`. */
export interface Range {
  /** Where it begins. */
  start: Position;
  /** Where it ends; never before `start`. */
  end: Position;
}

/** What the model of an agent learns of a decision, beyond yes or no. */
export interface Receives {
  /** The reason of a rejection. */
  reason: boolean;
  /** The comments on lines. */
  comments: boolean;
  /** Which hunks were accepted, or the text that they make. */
  hunks: boolean;
  /** The user's own text, or how it differs from the proposal. */
  edited: boolean;
}

/** Sentences about what the agent will not receive, ready to print where the user types or chooses. Each is missing if there is nothing to say. */
export interface ReceivesNotes {
  /** All of it together, with the remedy: for one place next to the change. */
  all: string;
  /** Where a reason is typed. */
  reason?: string;
  /** Where a comment is typed. */
  comments?: string;
  /** Where some hunks are chosen. */
  hunks?: string;
  /** Where the proposed text is edited. */
  edited?: string;
  /** What to do so that it receives more. */
  remedy?: string;
}

/** A change in the state of a review. */
export type ReviewChange =
  | {
    "kind": "proposed";
  }
  | {
    "kind": "shown";
    /** The revision that is shown. */
    revision: number;
  }
  | {
    "kind": "edited";
    /** The revision now. */
    revision: number;
  }
  | {
    "kind": "rebased";
    /** The revision now. */
    revision: number;
    /** How many places conflict. */
    conflicts: number;
  }
  | {
    "kind": "decided";
    /** What. */
    verdict: VerdictKind;
    /** Where it was decided, for people. */
    by: string;
  }
  | {
    "kind": "written";
  }
  | {
    "kind": "onDisk";
  }
  | {
    "kind": "notOnDisk";
  }
  | {
    "kind": "agentGone";
  }
  | {
    "kind": "agentBack";
  }
  | {
    "kind": "reopened";
    /** Why. */
    error: string;
  }
  | {
    "kind": "withdrawn";
  }
  | {
    "kind": "superseded";
    /** Id of the newer review. */
    by: string;
  }
  | {
    "kind": "failed";
    /** Why. */
    error: string;
  }
  | {
    "kind": "delivered";
  };

/** The user closed the tab. That is not a decision: the review stays pending. */
export interface ReviewClosed {
  /** Id of the review. */
  review: string;
}

/** A comment on one line. */
export interface ReviewComment {
  /** Line number in the proposed side as shown, from 1. */
  line: number;
  /** The comment. */
  text: string;
}

/** Asks for the differences between `base` and a text that the user is typing. Nothing is kept of it. */
export interface ReviewCompare {
  /** Id of the review. */
  review: string;
  /** The whole proposed side as it is now. */
  text: string;
}

/** The differences. */
export interface ReviewCompareResult {
  /** In the order of the file. An id is that of the hunk which the same text has after `review/edited`. */
  hunks: Array<ReviewHunk>;
}

/** A place that both the agent and another party changed. */
export interface ReviewConflict {
  /** First line in `base`, from 0: what the file holds there now. */
  beforeStart: number;
  /** Number of lines in `base`. */
  beforeCount: number;
  /** First line in `proposed`, from 0: what the agent wants there. */
  afterStart: number;
  /** Number of lines in `proposed`. */
  afterCount: number;
}

/** The user decided. */
export interface ReviewDecided {
  /** Id of the review. */
  review: string;
  /** The revision that was on the screen. */
  revision: number;
  /** The `digest` of what was on the screen. Missing from older editors. */
  digest?: string;
  /** The decision. */
  decision: Decision;
}

/** The result of a decision. After `stale` and `askAgain`, `review/show` with the newer revision follows. After `refused`, the review is still pending unless `review/hide` follows. */
export type ReviewDecidedResult =
  | {
    "kind": "taken";
  }
  | {
    "kind": "stale";
    /** The revision now. */
    revision: number;
  }
  | {
    "kind": "alreadyDecided";
    /** Where it was decided, for people. */
    by: string;
  }
  | {
    "kind": "notPending";
  }
  | {
    "kind": "askAgain";
    /** How many places conflict. */
    conflicts: number;
  }
  | {
    "kind": "refused";
    /** Why, and what to do. */
    message: string;
    /** The agent that should write the file no longer waits. Send the same decision with `writeHere` to make the hub write it. */
    canWriteHere?: boolean;
  };

/** The user edited the proposed side without deciding yet. */
export interface ReviewEdited {
  /** Id of the review. */
  review: string;
  /** The revision that was edited. */
  revision: number;
  /** The `digest` of what was edited, as it was shown. Missing from older editors. */
  digest?: string;
  /** The whole proposed side as it is now. */
  text: string;
}

/** The result of an edit. */
export type ReviewEditedResult =
  | {
    "kind": "taken";
    /** The revision now: the next edit and the decision name it. */
    revision: number;
    /** The digest now: the next edit and the decision send it back. */
    digest: string;
    /** The differences between `base` and the edited text, in the order of the file. */
    hunks: Array<ReviewHunk>;
  }
  | {
    "kind": "stale";
  }
  | {
    "kind": "notPending";
  };

/** The end of a review. */
export type ReviewEnded =
  | {
    "kind": "accepted";
    /** How much of the proposal. */
    taken: AcceptedPart;
    /** Unified diff from the proposal to what was accepted; missing when they are equal. */
    personDiff?: string;
  }
  | {
    "kind": "rejected";
    /** Reason for the agent. */
    reason?: string;
  }
  | {
    "kind": "withdrawn";
  }
  | {
    "kind": "superseded";
    /** Id of the newer review. */
    by: string;
  }
  | {
    "kind": "failed";
    /** Why. */
    error: string;
  };

/** Removes a review from the screen. */
export interface ReviewHide {
  /** Id of the review. */
  review: string;
  /** Why. */
  reason: HideReason;
}

/** One difference, which can be decided separately. */
export interface ReviewHunk {
  /** Id of the hunk; stays the same while the hunk does. */
  id: string;
  /** First line in `base`, from 0. */
  beforeStart: number;
  /** Number of lines in `base`. */
  beforeCount: number;
  /** First line in `proposed`, from 0. */
  afterStart: number;
  /** Number of lines in `proposed`. */
  afterCount: number;
  /** The words that differ inside these lines; empty when lines were only added or removed. */
  words: Array<ReviewWords>;
}

/** The conversation that a change comes from, and why it was proposed. */
export interface ReviewOrigin {
  /** Id of the conversation, such as `t3`. */
  chat: string;
  /** Number of the turn, from 1: a turn begins with a message of the user. */
  turn: number;
  /** Place of the tool call among the items of the conversation, from 0. */
  item: number;
  /** The user's message, shortened. Missing if the conversation was forgotten. */
  prompt?: string;
  /** What the agent said before the call, the end of it. Missing if it said nothing. */
  words?: string;
}

/** How a review ended. */
export interface ReviewOutcome {
  /** The end. */
  ended: ReviewEnded;
  /** Comments on single lines. */
  comments: Array<ReviewComment>;
  /** The agent received the answer. */
  delivered: boolean;
}

/** Shows a review, or a newer revision of one that is shown. Answered at once, before the user looks. */
export interface ReviewShow {
  /** Id of the review, such as `r12`. */
  review: string;
  /** Number of this version of the review. A decision names the revision that it was made on. */
  revision: number;
  /** Names exactly what is shown: the review, its file, the text before and the text after. A decision sends it back, and does not count if it was made on anything else. */
  digest: string;
  /** Id of the set it was proposed in together with other files. */
  set?: string;
  /** The agent's own name of that set; for people, never an identity. */
  setLabel?: string;
  /** Id of the window it belongs to, such as `w3`. */
  window: string;
  /** Name of the agent that proposes it. */
  agent: string;
  /** The protocol that agent speaks, such as `claude`. */
  dialect: string;
  /** Absolute path of the file. */
  path: string;
  /** The agent's name for it; for people, never an identity. */
  label: string;
  /** The file does not exist yet. */
  newFile: boolean;
  /** The text before; empty for a new file. */
  base: string;
  /** The text after, with the user's edits. */
  proposed: string;
  /** How the file is encoded, such as `UTF-8` or `UTF-16LE`. */
  encoding: string;
  /** A note for people about line endings that are not plain LF. */
  lineEndings?: string;
  /** The differences, in the order of the file. */
  hunks: Array<ReviewHunk>;
  /** Where the file changed in the meantime and the user has to look again. */
  conflicts: Array<ReviewConflict>;
  /** Bring it to the front. */
  focus: boolean;
  /** The texts are too large for a message: `base` and `proposed` are empty and there are no hunks. It can only be accepted or rejected as a whole, or reviewed elsewhere. */
  omitted: boolean;
  /** Its agent wants it shown in the file itself, if the editor can do that. */
  inline: boolean;
  /** After an accept the agent writes the file, not the hub. */
  agentWrites: boolean;
  /** The agent does not wait for the answer: it is gone, away, or reconnected without asking again. If `agentWrites` is set too, an accept needs `writeHere`. */
  ownerGone: boolean;
  /** What the agent's model learns of the decision. Missing: unknown. */
  receives?: Receives;
  /** Sentences about what it will not learn, to show before the user types. Missing: there is nothing to say. */
  receivesNotes?: ReceivesNotes;
  /** The conversation that it comes from, if the hub hosts its agent. */
  origin?: ReviewOrigin;
}

/** The review is visible to the user. */
export interface ReviewShown {
  /** Id of the review. */
  review: string;
  /** The revision that is shown. */
  revision: number;
}

/** One line about a review. */
export interface ReviewSummary {
  /** Id of the review. */
  review: string;
  /** Id of the set it was proposed in together with other files. */
  set?: string;
  /** Id of the window it belongs to. */
  window: string;
  /** Name of the agent that proposes it. */
  agent: string;
  /** The protocol that agent speaks. */
  dialect: string;
  /** Absolute path of the file. */
  path: string;
  /** The agent's name for it. */
  label: string;
  /** Its phase, such as `pending`. */
  phase: string;
  /** How long ago it was proposed. */
  ageMs: number;
  /** Number of hunks. */
  hunks: number;
  /** Number of lines added. */
  added: number;
  /** Number of lines removed. */
  removed: number;
  /** Length of the larger of both texts, in bytes of UTF-8. */
  bytes: number;
  /** Its current revision: a decision on a review that was not fetched names it. */
  revision: number;
  /** Identifies exactly what a decision on it would be about: see `review/show`. */
  digest: string;
  /** The file does not exist yet. */
  newFile: boolean;
  /** Number of places that conflict. */
  conflicts: number;
  /** Its agent does not wait for the answer: it is gone, away, or reconnected without asking again. */
  ownerGone: boolean;
  /** After an accept the agent writes the file, not the hub. */
  agentWrites: boolean;
  /** What the agent's model learns of the decision. Missing: unknown. */
  receives?: Receives;
}

/** Notifies whether the agent of a shown review still waits for the answer. */
export interface ReviewWaiting {
  /** Id of the review. */
  review: string;
  /** The current value of the member of that name in `review/show`. */
  ownerGone: boolean;
}

/** Words that differ inside a hunk. */
export interface ReviewWords {
  /** Where in `base`. */
  before: Range;
  /** Where in `proposed`. */
  after: Range;
}

/** Decides a review from the command line. */
export interface ReviewsDecide {
  /** Id of the review, or `latest`. */
  review: string;
  /** The revision that the user saw. Default: the current one. */
  revision?: number;
  /** The `digest` of what was shown. Default: the current one. */
  digest?: string;
  /** The decision. */
  decision: Decision;
}

/** Asks for one review in full. */
export interface ReviewsGet {
  /** Id of the review, or `latest`. */
  review: string;
}

/** One review in full. */
export interface ReviewsGetResult {
  /** The review as an editor shows it. */
  shown: ReviewShow;
  /** Its phase, such as `pending`. */
  phase: string;
  /** Unified diff from the text before to the text after. */
  diff: string;
  /** How it ended, once it has. */
  outcome?: ReviewOutcome;
}

/** Asks for the reviews. */
export interface ReviewsList {
  /** Include decided reviews whose outcome has not been delivered. */
  all: boolean;
}

/** The reviews. */
export interface ReviewsListResult {
  /** Oldest first. */
  reviews: Array<ReviewSummary>;
}

/** A selection without its text. */
export interface SelectedRange {
  /** Where it is. */
  range: Range;
  /** The cursor is at the start of the range. */
  reversed: boolean;
}

/** A selection and its text. */
export interface Selection {
  /** Absolute path of the file. */
  path: string;
  /** The selected text; empty for a bare cursor. */
  text: string;
  /** Where it is. */
  range: Range;
  /** Nothing is selected: `range` is where the cursor is. */
  isEmpty: boolean;
  /** The cursor is at the start of the range. */
  reversed: boolean;
}

/** The selection in the active document changed. Sent when it has settled, not for each step. */
export interface SelectionChanged {
  /** The selection now. */
  selection: Selection;
}

/** Asks for the selection in the active document; `null` when none is active. */
export type SelectionCurrent = Record<string, never>;

/** Asks for the last selection made in any document, active or not; `null` when there was none. */
export type SelectionLatest = Record<string, never>;

/** The severity of a diagnostic. */
export type Severity = "error" | "warning" | "info" | "hint";

/** Shows the user a message that needs no answer. */
export interface StatusMessage {
  /** One sentence. */
  text: string;
  /** Its level. */
  level: MessageLevel;
}

/** A named item of a program. */
export interface Symbol {
  /** Its name. */
  name: string;
  /** Its kind, such as `function` or `struct`, as the editor names it. */
  symbolKind: string;
  /** Its full range. */
  location: Location;
  /** The symbol that contains it. */
  container?: string;
}

/** Opens an integrated terminal. */
export interface TerminalCreate {
  /** Title of its tab. */
  name?: string;
  /** Absolute path of the directory it starts in. */
  cwd?: string;
  /** Variables on top of the editor's own. */
  environment: Record<string, string>;
  /** Bring it to the front. */
  focus: boolean;
}

/** The terminal. */
export interface TerminalCreateResult {
  /** Id of the terminal, minted by the editor. */
  terminal: string;
}

/** Asks for the output of the last command in a terminal so far. */
export interface TerminalOutput {
  /** Id of the terminal. */
  terminal: string;
}

/** The output so far. */
export interface TerminalOutputResult {
  /** The output, without escape sequences. */
  output: string;
  /** The command is still running. */
  running: boolean;
  /** Its exit code, if it has ended and the editor knows it. */
  exitCode?: number;
}

/** Runs a command in an integrated terminal and waits until it exits. */
export interface TerminalRun {
  /** The command line for the shell. */
  command: string;
  /** Absolute path of the directory to run it in. */
  cwd?: string;
  /** Id of the terminal; missing: a new one. */
  terminal?: string;
  /** Title of a terminal that is opened for it: the agent. */
  name?: string;
  /** Answer after this many milliseconds at the latest. The command keeps running. */
  timeoutMs: number;
}

/** The result of the command. */
export interface TerminalRunResult {
  /** Id of the terminal it ran in. */
  terminal: string;
  /** Its output, without escape sequences. */
  output: string;
  /** Its exit code; missing while it runs, or if the editor does not know it. */
  exitCode?: number;
  /** It was still running when the time was up. */
  timedOut: boolean;
}

/** One replacement. */
export interface TextEdit {
  /** What is replaced; empty to insert. */
  range: Range;
  /** The new text; empty to delete. */
  newText: string;
}

/** One change of a turn that was to be undone. */
export interface TurnUndo {
  /** Id of its review. */
  review: string;
  /** Absolute path of the file. */
  path: string;
  /** What was done; missing if it was not undone. */
  undone?: HistoryUndoResult;
  /** Why it was not undone. */
  error?: string;
}

/** The user answered a question, or closed it. The first answer counts. */
export interface UserAnswered {
  /** Id of the question. */
  ask: string;
  /** The answer. */
  result: UserAskResult;
}

/** The result of an answer. */
export interface UserAnsweredResult {
  /** Whether it counts. If not, the question was already answered or is no longer pending. */
  taken: boolean;
}

/** Asks the user for permission. Answered at once, before the user looks; the user's answer comes back as `user/answered`. If a question with this id is already on the screen, it is the same one. */
export interface UserAsk {
  /** Id of the question; never used again. */
  ask: string;
  /** One sentence, ending with a question mark. */
  question: string;
  /** What it is about, such as the command that would run. */
  detail?: string;
  /** The answers to offer, in this order. */
  options: Array<AskOption>;
  /** What to print on the buttons, in the order of `options`: with the agent and what it is about. */
  labels: Array<string>;
}

/** The user's answer. Closing the question is not an answer. */
export type UserAskResult =
  | {
    "kind": "answered";
    /** The option. */
    option: AskOption;
  }
  | {
    "kind": "dismissed";
  };

/** Removes a question from the screen: it was answered elsewhere, or is no longer pending. */
export interface UserUnask {
  /** Id of the question. */
  ask: string;
}

/** Yes or no, and to what. */
export type Verdict =
  | {
    "kind": "accept";
  }
  | {
    "kind": "acceptHunks";
    /** Ids of the hunks taken; at least one. */
    hunks: Array<string>;
  }
  | {
    "kind": "acceptEdited";
    /** The whole text that the file will hold. */
    text: string;
  }
  | {
    "kind": "reject";
    /** Reason for the agent. */
    reason?: string;
  };

/** The name of a verdict. */
export type VerdictKind = "accept" | "acceptHunks" | "acceptEdited" | "reject";

/** An event in a window. Skip unknown kinds: they come from a newer hub. */
export type WindowEvent =
  | {
    "kind": "attached";
    /** The editor. */
    editor: Editor;
    /** Absolute paths of its workspace folders. */
    folders: Array<string>;
  }
  | {
    "kind": "away";
  }
  | {
    "kind": "closed";
  }
  | {
    "kind": "agentJoined";
    /** Id of the connection, such as `a4`. */
    agent: string;
    /** What it calls itself. */
    name: string;
    /** The version that it reports. */
    version: string;
    /** The protocol it speaks. */
    dialect: string;
  }
  | {
    "kind": "agentLeft";
    /** Id of the connection. */
    agent: string;
    /** What it called itself. */
    name: string;
  }
  | {
    "kind": "agentWaiting";
    /** What it calls itself. */
    name: string;
    /** What it waits for, in its own words; may be empty. */
    message: string;
  }
  | {
    "kind": "agentDone";
    /** What it calls itself. */
    name: string;
  }
  | {
    "kind": "selection";
    /** The selection now. */
    selection: Selection;
  }
  | {
    "kind": "mentioned";
    /** Absolute path of the file. */
    path: string;
    /** Which lines; missing: the whole file. */
    lines?: LineRange;
  }
  | {
    "kind": "diagnostics";
    /** Absolute paths of the files. */
    paths: Array<string>;
  }
  | {
    "kind": "review";
    /** Id of the review. */
    review: string;
    /** Absolute path of its file. */
    path: string;
    /** The change of the review. */
    change: ReviewChange;
    /** The review as it is now; missing once the hub has discarded it. */
    summary?: ReviewSummary;
  }
  | {
    "kind": "undone";
    /** Id of the change, such as `c17`. */
    change: string;
    /** Absolute path of its file. */
    path: string;
    /** The id to pass to `history/undo` to reverse it. */
    redo: string;
  }
  | {
    "kind": "asked";
    /** The question. */
    asked: AskSummary;
  }
  | {
    "kind": "askOver";
    /** Id of the question. */
    ask: string;
    /** What the agent calls itself. */
    agent: string;
    /** The answer; missing if there was none and it is no longer pending. */
    option?: AskOption;
    /** Where it was answered, for people. */
    by?: string;
  };

/** One window. */
export interface WindowStatus {
  /** Id of the window. */
  window: string;
  /** Its editor. */
  editor: Editor;
  /** Process id of the editor. */
  editorPid: number;
  /** Absolute paths of its workspace folders. */
  folders: Array<string>;
  /** Port on 127.0.0.1 where agents find it. */
  port: number;
  /** The protocols spoken on that port. */
  dialects: Array<DialectStatus>;
  /** The editor is connected. If not, the window is kept for a while, in case it comes back. */
  attached: boolean;
  /** The agents connected to it, oldest first. */
  agents: Array<AgentStatus>;
  /** Agents that reconnected by themselves after a broken connection and have sent no request since. Gemini CLI and Qwen Code show themselves as disconnected then, until the user types `/ide enable`. */
  returnedAgents: Array<AgentStatus>;
  /** Pending reviews. */
  pendingReviews: number;
}
