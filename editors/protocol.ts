// Generated from crates/editor-api by `cargo xtask codegen`. Do not edit.

/** Version of the protocol, for `attach`. */
export const PROTOCOL = 1;

/** Error codes. */
export const ERRORS = {
  /** The message is not JSON. */
  PARSE: -32700,
  /** The message is JSON, but no request, notification or response. */
  INVALID_REQUEST: -32600,
  /** There is no such method. */
  METHOD_NOT_FOUND: -32601,
  /** The parameters do not fit the method. */
  INVALID_PARAMS: -32602,
  /** A fault of the answering side. */
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
  /** There is no such change, or nothing to take back. */
  UNKNOWN_CHANGE: -32021,
  /** The file is not what it would have to be. */
  CONFLICT: -32022,
  /** There is no such window. */
  UNKNOWN_WINDOW: -32019,
} as const;

/** What an editor asks the hub. */
export interface EditorToHubRequests {
  /** Joins the hub. Needed before everything else that an editor says. */
  "attach": { params: Attach; result: AttachResult };
  /** The person decided. */
  "review/decided": { params: ReviewDecided; result: ReviewDecidedResult };
  /** The person edited the proposed side without deciding yet. */
  "review/edited": { params: ReviewEdited; result: ReviewEditedResult };
  /** The person answered a question, or closed it. The first answer counts. */
  "user/answered": { params: UserAnswered; result: UserAnsweredResult };
  /** Asks whether the other side is there. */
  "ping": { params: Ping; result: null };
}

/** What an editor tells the hub. */
export interface EditorToHubNotifications {
  /** Leaves the hub for good. A connection that ends without it may come back. */
  "detach": { params: Detach };
  /** The workspace folders changed. */
  "folders/changed": { params: FoldersChanged };
  /** The window got or lost the focus. */
  "focus/changed": { params: FocusChanged };
  /** The set of open documents changed, or one became dirty or clean. */
  "documents/changed": { params: DocumentsChanged };
  /** The selection in the active document changed. Sent when it has come to rest, not for each step. */
  "selection/changed": { params: SelectionChanged };
  /** The person pointed the agents at a file, or some of its lines. */
  "mentioned": { params: Mentioned };
  /** The diagnostics of some files changed. */
  "diagnostics/changed": { params: DiagnosticsChanged };
  /** The review is on the person's screen. */
  "review/shown": { params: ReviewShown };
  /** The person closed the tab. That is no decision: the review stays pending. */
  "review/closed": { params: ReviewClosed };
}

/** What the hub asks an editor. */
export interface HubToEditorRequests {
  /** Asks for the documents that are open, in the order of their tabs. */
  "documents/list": { params: DocumentsList; result: DocumentsListResult };
  /** Asks for the text an editor holds for a file, saved or not. */
  "document/text": { params: DocumentText; result: DocumentTextResult };
  /** Asks whether a document has changes that are not saved. */
  "document/dirty": { params: DocumentDirty; result: DocumentDirtyResult };
  /** Saves a document. */
  "document/save": { params: DocumentSave; result: DocumentSaveResult };
  /** Closes the tabs of a document. One with unsaved changes stays open. */
  "document/close": { params: DocumentClose; result: DocumentCloseResult };
  /** Opens a file in a tab. */
  "document/open": { params: DocumentOpen; result: DocumentOpenResult };
  /** Scrolls an open document so that a range is seen. */
  "document/reveal": { params: DocumentReveal; result: DocumentRevealResult };
  /** Asks which part of a document is on screen. */
  "document/visibleRange": { params: DocumentVisibleRange; result: DocumentVisibleRangeResult };
  /** Asks what the formatter that the editor has for a document would change. Nothing is changed by asking. */
  "document/format": { params: DocumentFormat; result: DocumentFormatResult };
  /** Changes a document's text as one undo step. */
  "edits/apply": { params: EditsApply; result: EditsApplyResult };
  /** Asks for the selection in the active document; `null` when none is active. */
  "selection/current": { params: SelectionCurrent; result: Selection | null };
  /** Asks for the last selection made in any document, active or not; `null` when there was none. */
  "selection/latest": { params: SelectionLatest; result: Selection | null };
  /** Asks for diagnostics. */
  "diagnostics/get": { params: DiagnosticsGet; result: DiagnosticsGetResult };
  /** Shows a review, or a newer revision of one that is shown. Answered at once, before the person looks. */
  "review/show": { params: ReviewShow; result: null };
  /** Says whether the agent of a review that is shown still waits for the answer. */
  "review/waiting": { params: ReviewWaiting; result: null };
  /** Takes a review off the screen. */
  "review/hide": { params: ReviewHide; result: null };
  /** Asks what is known about the thing at a position. */
  "language/hover": { params: LanguageHover; result: LanguageHoverResult };
  /** Asks where the thing at a position is defined. */
  "language/definition": { params: LanguageDefinition; result: LanguageDefinitionResult };
  /** Asks where the thing at a position is used. */
  "language/references": { params: LanguageReferences; result: LanguageReferencesResult };
  /** Asks for symbols: those of one file, or those in the workspace that match a query. */
  "language/symbols": { params: LanguageSymbols; result: LanguageSymbolsResult };
  /** Asks what renaming the thing at a position would change. Nothing is changed by asking. */
  "language/rename": { params: LanguageRename; result: LanguageRenameResult };
  /** Opens an integrated terminal. */
  "terminal/create": { params: TerminalCreate; result: TerminalCreateResult };
  /** Runs a command in an integrated terminal and waits for its end. */
  "terminal/run": { params: TerminalRun; result: TerminalRunResult };
  /** Asks for what the last command in a terminal printed so far. */
  "terminal/output": { params: TerminalOutput; result: TerminalOutputResult };
  /** Tells the person something, without asking for an answer. */
  "status/message": { params: StatusMessage; result: null };
  /** Asks the person for permission. Answered at once, before she looks; what she says comes back as `user/answered`. A question with an id that is on her screen already is the same one. */
  "user/ask": { params: UserAsk; result: null };
  /** Takes a question off the screen: it was answered elsewhere, or nobody waits for its answer any more. */
  "user/unask": { params: UserUnask; result: null };
  /** Runs code in the kernel of the active notebook. */
  "code/execute": { params: CodeExecute; result: CodeExecuteResult };
  /** Asks whether the other side is there. */
  "ping": { params: Ping; result: null };
}

/** What `linkspan attach` tells an editor about the hub. */
export interface HubToEditorNotifications {
  /** The hub cannot be reached. Said by `linkspan attach` itself, which goes on trying: what the editor asks meanwhile waits. */
  "hub/lost": { params: HubLost };
  /** A hub is there and the window is in it again. Said by `linkspan attach` itself; the environment, and even the port, may be others than before. Reviews that are pending are shown again, others are over. */
  "hub/back": { params: HubBack };
}

/** What a command asks the hub. */
export interface CommandToHubRequests {
  /** Says who is calling and asks which hub this is. The one request that never changes its shape, because it is how two versions find out about each other. */
  "hub/hello": { params: HubHello; result: HubHelloResult };
  /** Asks what is connected right now. */
  "hub/status": { params: HubStatus; result: HubStatusResult };
  /** Asks which windows there are. Quicker than `hub/status`: no agent is asked for a sign of life. */
  "hub/windows": { params: HubWindows; result: HubWindowsResult };
  /** Stops the hub. It starts again by itself when somebody needs it. */
  "hub/stop": { params: HubStop; result: HubStopResult };
  /** Asks for the reviews. */
  "reviews/list": { params: ReviewsList; result: ReviewsListResult };
  /** Asks for all of a review. */
  "reviews/get": { params: ReviewsGet; result: ReviewsGetResult };
  /** Decides a review from the command line. */
  "reviews/decide": { params: ReviewsDecide; result: ReviewDecidedResult };
  /** Asks for `hub/event` from now on. What is there already is asked for afterwards, with `hub/status` and `reviews/list`: then nothing is missed in between. A watcher that does not read what it is sent is closed. */
  "hub/watch": { params: HubWatch; result: null };
  /** Asks for what was decided and done, newest first. */
  "history/list": { params: HistoryList; result: HistoryListResult };
  /** Takes an accepted change back: the file gets the bytes it held before, if and only if it holds exactly those that were accepted, and no editor has unsaved text of it. */
  "history/undo": { params: HistoryUndo; result: HistoryUndoResult };
  /** Asks for the questions that wait, oldest first. */
  "asks/list": { params: AsksList; result: AsksListResult };
  /** Answers a question for the person, wherever she is. The first answer counts. */
  "asks/answer": { params: AsksAnswer; result: UserAnsweredResult };
  /** Asks which agents there are, connected or remembered, and what each may do. */
  "clients/list": { params: ClientsList; result: ClientsListResult };
  /** Allows an agent something without a question. */
  "clients/allow": { params: ClientsAllow; result: ClientsAllowResult };
  /** Takes back what was allowed, at once, in all folders. */
  "clients/revoke": { params: ClientsRevoke; result: ClientsRevokeResult };
  /** Asks for a link that lets one browser see and decide reviews. */
  "page/link": { params: PageLink; result: PageLinkResult };
  /** Takes back the access of every browser, and every link that was not used. */
  "page/revoke": { params: PageRevoke; result: PageRevokeResult };
  /** Asks whether the other side is there. */
  "ping": { params: Ping; result: null };
}

/** What the hub tells a command. */
export interface HubToCommandNotifications {
  /** Something happened. Sent in the order in which it did. */
  "hub/event": { params: HubEvent };
}

/** What an agent asks the hub. */
export interface AgentToHubRequests {
  /** Joins a window as an agent. From the answer on, every message on this connection is MCP of the dialect `linkspan`, both ways. */
  "agent/join": { params: AgentJoin; result: AgentJoinResult };
  /** Asks whether the other side is there. */
  "ping": { params: Ping; result: null };
}

/** What an agent tells the hub. */
export interface AgentToHubNotifications {
  /** Says goodbye: what the agent has open is withdrawn, and the hub hangs up. A connection that ends without it may come back for its answers. */
  "agent/leave": { params: AgentLeave };
}

/** Joins a window as an agent. From the answer on, every message on this connection is MCP of the dialect `linkspan`, both ways. */
export interface AgentJoin {
  /** Id of the window, such as `w3`: `hub/windows` lists them. */
  window: string;
  /** A random word of 1 to 64 letters, digits, `-` and `_` that the agent keeps over reconnects, and nobody else uses: by it, its name and its window an agent finds its own changes again. An older connection with the same three is taken for lost. */
  session: string;
  /** What the agent calls itself. */
  name: string;
  /** Its version. */
  version: string;
  /** Its process id. */
  pid?: number;
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

/** Says goodbye: what the agent has open is withdrawn, and the hub hangs up. A connection that ends without it may come back for its answers. */
export type AgentLeave = Record<string, never>;

/** One connected agent. */
export interface AgentStatus {
  /** Id of the connection, such as `a4`. */
  agent: string;
  /** What it calls itself. */
  name: string;
  /** The version it says it has. */
  version: string;
  /** The protocol it speaks. */
  dialect: string;
  /** Its process id, if it told. */
  pid?: number;
  /** How long it has been connected. */
  connectedMs: number;
  /** Its reviews that are not settled. */
  openReviews: number;
}

/** An answer the person can give. */
export type AskOption = "allowOnce" | "allowSession" | "allowAlways" | "deny";

/** A question that waits for the person. */
export interface AskSummary {
  /** Id of the question, which no later question has. */
  ask: string;
  /** Id of the window whose agent asks. */
  window: string;
  /** Absolute paths of that window's workspace folders. */
  folders: Array<string>;
  /** What the agent calls itself. */
  agent: string;
  /** The protocol it speaks. */
  dialect: string;
  /** What is to be allowed. */
  deed: Deed;
  /** One sentence, ending with a question mark. */
  question: string;
  /** What it is about, whole, such as the command that would run. What cannot be seen in it is escaped. */
  detail?: string;
  /** The answers to offer, in this order. */
  options: Array<AskOption>;
  /** How long it has waited. */
  ageMs: number;
}

/** Answers a question for the person, wherever she is. The first answer counts. */
export interface AsksAnswer {
  /** Id of the question. */
  ask: string;
  /** What she chose, of what it offers. */
  option: AskOption;
}

/** Asks for the questions that wait, oldest first. */
export type AsksList = Record<string, never>;

/** The questions that wait. */
export interface AsksListResult {
  /** Oldest first. */
  asks: Array<AskSummary>;
}

/** Joins the hub. Needed before everything else that an editor says. */
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
  /** An id the editor keeps over reloads. With it, or else with the same folders, a window gets its port, its agents and its pending reviews back. */
  windowId?: string;
  /** The folder that `CLAUDE_CONFIG_DIR` names in the editor's process. `linkspan attach` fills it in: the hub may have been started where the variable is not set. */
  claudeConfigDir?: string;
  /** What the editor can do. */
  capabilities: Capabilities;
}

/** The window the hub made, or found again. */
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
}

/** What an editor can do. Only requests of these groups are sent to it. */
export interface Capabilities {
  /** `documents/list` and `document/…` but for `document/format`. */
  documents: boolean;
  /** `selection/current` and `selection/latest`. */
  selection: boolean;
  /** `diagnostics/get`. */
  diagnostics: boolean;
  /** `review/show` and `review/hide`. */
  reviews: boolean;
  /** `edits/apply`. */
  edits: boolean;
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
}

/** One agent, as it is told from others. */
export interface ClientSummary {
  /** What it calls itself. */
  name: string;
  /** The protocol it speaks. */
  dialect: string;
  /** The folders where it is, links followed. */
  folders: Array<string>;
  /** Id of its connection, if there is one. */
  agent?: string;
  /** What it may do without asking. */
  may: Array<Permission>;
}

/** Allows an agent something without a question. */
export interface ClientsAllow {
  /** What the agent calls itself. */
  name: string;
  /** The protocol it speaks; missing: what agents of that name speak. */
  dialect?: string;
  /** Absolute path of the workspace folder, links followed. */
  folder: string;
  /** What it may do; at least one. */
  deeds: Array<Deed>;
  /** Only those that are connected, and not for good. */
  session: boolean;
}

/** To whom it is allowed now. */
export interface ClientsAllowResult {
  /** The protocols of the agents that are meant. */
  dialects: Array<string>;
}

/** Asks which agents there are, connected or remembered, and what each may do. */
export type ClientsList = Record<string, never>;

/** Which agents there are. */
export interface ClientsListResult {
  /** Those that are connected, then those that are only remembered. */
  clients: Array<ClientSummary>;
  /** The questions that wait. */
  asks: Array<AskSummary>;
  /** What no agent gets, not even by asking. */
  never: Array<Deed>;
  /** Absolute path of the file that remembers. */
  file: string;
  /** What is wrong with that file. Then it allows nothing. */
  problem?: string;
}

/** Takes back what was allowed, at once, in all folders. */
export interface ClientsRevoke {
  /** What the agent calls itself; missing: all agents. */
  name?: string;
  /** What it may not do any more; none: anything. */
  deeds: Array<Deed>;
}

/** What was taken back. */
export interface ClientsRevokeResult {
  /** How many permissions. */
  revoked: number;
}

/** Runs code in the kernel of the active notebook. */
export interface CodeExecute {
  /** The code. */
  code: string;
}

/** What the code gave. */
export interface CodeExecuteResult {
  /** Its outputs as text, in order. */
  outputs: Array<string>;
}

/** What a person decided. */
export interface Decision {
  /** Yes or no, and to what. */
  verdict: Verdict;
  /** What she says about single lines. */
  comments: Array<ReviewComment>;
  /** If the agent that should write the file no longer waits, the hub writes it instead. Without this, accepting such a review is refused, with `canWriteHere`. */
  writeHere?: boolean;
}

/** What an agent does only when it is allowed to. */
export type Deed = "command" | "code" | "edit" | "git";

/** Leaves the hub for good. A connection that ends without it may come back. */
export type Detach = Record<string, never>;

/** One error, warning or hint. */
export interface Diagnostic {
  /** What is wrong. */
  message: string;
  /** How bad it is. */
  severity: Severity;
  /** Where it is. */
  range: Range;
  /** Who says so, such as `rustc` or `eslint`. */
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
  /** Wait at most this long for the language servers to come to rest. */
  waitMs?: number;
}

/** The diagnostics, file by file. */
export interface DiagnosticsGetResult {
  /** A file that was asked for by its path is here even if it has none. */
  files: Array<FileDiagnostics>;
}

/** A protocol agents can speak to a window. */
export interface DialectStatus {
  /** Its name, such as `claude`. */
  name: string;
  /** The port that its agents know by heart, if it leads to this window. */
  port?: number;
  /** The files by which its agents find the window, as far as they are there. */
  discoveryFiles: Array<string>;
  /** Why its agents do not find the window by a file, though they should. */
  problems: Array<string>;
}

/** Closes the tabs of a document. One with unsaved changes stays open. */
export interface DocumentClose {
  /** Absolute path of the file. */
  path: string;
}

/** What came of closing. */
export interface DocumentCloseResult {
  /** No tab shows the document any more. */
  closed: boolean;
}

/** Asks whether a document has changes that are not saved. */
export interface DocumentDirty {
  /** Absolute path of the file. */
  path: string;
}

/** Whether the document has changes that are not saved. */
export interface DocumentDirtyResult {
  /** The editor has the file open. */
  open: boolean;
  /** It has changes that are not saved. */
  dirty: boolean;
  /** It has no file yet. */
  untitled: boolean;
}

/** Asks what the formatter that the editor has for a document would change. Nothing is changed by asking. */
export interface DocumentFormat {
  /** Absolute path of the file. */
  path: string;
  /** Only this part; missing: all of it. */
  range?: Range;
}

/** What formatting would change. */
export interface DocumentFormatResult {
  /** The replacements, all referring to the text before; empty when it is in order. */
  edits: Array<TextEdit>;
}

/** Opens a file in a tab. */
export interface DocumentOpen {
  /** Absolute path of the file. */
  path: string;
  /** Open it as a preview that the next opened file replaces. */
  preview: boolean;
  /** Give it the focus. Without, the person keeps typing where she was. */
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

/** Scrolls an open document so that a range is seen. */
export interface DocumentReveal {
  /** Absolute path of the file. */
  path: string;
  /** What shall be seen. */
  range: Range;
}

/** What came of scrolling. */
export interface DocumentRevealResult {
  /** The range is on screen; false when the document is not visible. */
  revealed: boolean;
}

/** Saves a document. */
export interface DocumentSave {
  /** Absolute path of the file. */
  path: string;
}

/** What came of saving. */
export interface DocumentSaveResult {
  /** The editor has the file open. */
  open: boolean;
  /** The file now holds what the document holds. */
  saved: boolean;
  /** Why it could not be saved. */
  message?: string;
}

/** Asks for the text an editor holds for a file, saved or not. */
export interface DocumentText {
  /** Absolute path of the file. */
  path: string;
}

/** What the editor holds for the file. */
export interface DocumentTextResult {
  /** The editor has the file open. If not, the file on disk is the truth. */
  open: boolean;
  /** It has changes that are not saved. */
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

/** What came of the edits. */
export interface EditsApplyResult {
  /** The document holds the new text. False when its version had moved on. */
  applied: boolean;
  /** The document's version now. */
  version?: number;
  /** The file holds it too. */
  saved: boolean;
  /** What the document holds after saving, where the editor's own rules for saving made it something else than was asked for. */
  text?: string;
}

/** The diagnostics of one file. */
export interface FileDiagnostics {
  /** Absolute path of the file. */
  path: string;
  /** Version of the document they are about, if the editor knows. */
  version?: number;
  /** They are about the text as it is now; false: the language server may still be at work. */
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

/** Why a review is taken off the screen. */
export type HideReason =
  | {
    "kind": "decided";
    /** Where it was decided, for people. */
    by: string;
    /** What was decided. */
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

/** One review that is over, or one undo. */
export interface HistoryEntry {
  /** Id of the review; of an undo, that of the change it took back. */
  review: string;
  /** Id of the change of the file, such as `c17`. Missing where nothing was written, and where the agent wrote it and it was never taken back: then the review's id names it. */
  change?: string;
  /** The change that this one took back. An undo of an undo is a redo. */
  undoes?: string;
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
  /** What was said about single lines. */
  comments: Array<ReviewComment>;
  /** When it was proposed, in milliseconds since 1970. */
  proposedAtMs: number;
  /** When it was over, or done, in milliseconds since 1970. */
  endedAtMs: number;
  /** Where it was decided, for people. */
  decidedBy?: string;
  /** Number of lines added, if it is known. */
  added?: number;
  /** Number of lines removed, if it is known. */
  removed?: number;
  /** The file did not exist before. */
  newFile: boolean;
  /** The journal has what is needed to take it back. Whether the file still is what it was made, only `history/undo` finds out. */
  undoable: boolean;
  /** It was taken back. */
  undone: boolean;
  /** The hub wrote the file, or saw that it holds what was accepted. False: the agent was to write it, and it has not been seen in the file. Missing where nothing was to be written, and where an older version recorded it. */
  onDisk?: boolean;
}

/** Asks for what was decided and done, newest first. */
export interface HistoryList {
  /** At most so many; missing: 50. Never more than 1000. */
  limit?: number;
  /** Absolute path of a file, or of a folder with all that is in it. */
  path?: string;
  /** Id of a window. */
  window?: string;
  /** Only what can be taken back. */
  undoable: boolean;
}

/** What was decided and done. */
export interface HistoryListResult {
  /** Newest first. */
  entries: Array<HistoryEntry>;
}

/** Takes an accepted change back: the file gets the bytes it held before, if and only if it holds exactly those that were accepted, and no editor has unsaved text of it. */
export interface HistoryUndo {
  /** Id of the change (`c17`) or of its review (`r12`), or `last`: the newest that was not taken back. */
  change: string;
}

/** What was taken back. */
export interface HistoryUndoResult {
  /** Id of the change that was taken back. */
  change: string;
  /** Id of its review. */
  review: string;
  /** Absolute path of the file. */
  path: string;
  /** There was no file before, and there is none now. */
  removedFile: boolean;
  /** Id of the undo itself: taking that back puts the change in again. */
  redo: string;
}

/** A hub is there and the window is in it again. Said by `linkspan attach` itself; the environment, and even the port, may be others than before. Reviews that are pending are shown again, others are over. */
export type HubBack = AttachResult;

/** Something happened. Sent in the order in which it did. */
export interface HubEvent {
  /** Id of the window it happened in. */
  window: string;
  /** What happened. */
  what: WindowEvent;
}

/** Says who is calling and asks which hub this is. The one request that never changes its shape, because it is how two versions find out about each other. */
export interface HubHello {
  /** Version of the caller. */
  version: string;
  /** The protocol version the caller speaks. */
  protocol: number;
  /** What the caller is, such as `attach`, `serve` or `command`: for the log, so any word will do. */
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

/** The hub cannot be reached. Said by `linkspan attach` itself, which goes on trying: what the editor asks meanwhile waits. */
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
  /** Memory it occupies, if the system says. */
  residentBytes?: number;
  /** The windows, oldest first. */
  windows: Array<WindowStatus>;
  /** Attempts to come in that were refused, counted by reason. */
  refused: Record<string, number>;
  /** What does not work right now, each with what to do. */
  problems: Array<string>;
}

/** Stops the hub. It starts again by itself when somebody needs it. */
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
  /** Reviews that wait for a person. */
  pending: number;
}

/** Asks for `hub/event` from now on. What is there already is asked for afterwards, with `hub/status` and `reviews/list`: then nothing is missed in between. A watcher that does not read what it is sent is closed. */
export interface HubWatch {
  /** Id of the window to hear about; missing: all of them, also those that come later. */
  window?: string;
}

/** Asks which windows there are. Quicker than `hub/status`: no agent is asked for a sign of life. */
export type HubWindows = Record<string, never>;

/** The windows. */
export interface HubWindowsResult {
  /** Oldest first; their agents are left out. */
  windows: Array<WindowStatus>;
}

/** Asks where the thing at a position is defined. */
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

/** Asks what is known about the thing at a position. */
export interface LanguageHover {
  /** Absolute path of the file. */
  path: string;
  /** Where. */
  position: Position;
}

/** What is known about it. */
export interface LanguageHoverResult {
  /** Markdown, one entry for each source; empty when nothing is known. */
  contents: Array<string>;
  /** What it is about. */
  range?: Range;
}

/** Asks where the thing at a position is used. */
export interface LanguageReferences {
  /** Absolute path of the file. */
  path: string;
  /** Where. */
  position: Position;
  /** Count its declaration too. */
  includeDeclaration: boolean;
}

/** Where it is used. */
export interface LanguageReferencesResult {
  /** The places; empty when nothing is known. */
  locations: Array<Location>;
}

/** Asks what renaming the thing at a position would change. Nothing is changed by asking. */
export interface LanguageRename {
  /** Absolute path of the file. */
  path: string;
  /** Where. */
  position: Position;
  /** What it shall be called. */
  newName: string;
}

/** What renaming would change. */
export interface LanguageRenameResult {
  /** File by file; empty when it cannot be renamed. */
  files: Array<FileEdits>;
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

/** A stretch of a file. */
export interface Location {
  /** Absolute path of the file. */
  path: string;
  /** Where in it. */
  range: Range;
}

/** The person pointed the agents at a file, or some of its lines. */
export interface Mentioned {
  /** Absolute path of the file. */
  path: string;
  /** Which lines; missing: the whole file. */
  lines?: LineRange;
}

/** How loud a message is. */
export type MessageLevel = "info" | "warning" | "error";

/** One tab that shows a text document. */
export interface OpenDocument {
  /** Absolute path, or the editor's name for a document that has no file yet. */
  path: string;
  /** What the tab says. */
  label: string;
  /** The document the person looks at, or looked at last. */
  active: boolean;
  /** It has changes that are not saved. */
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

/** Asks for a link that lets one browser see and decide reviews. */
export type PageLink = Record<string, never>;

/** A link that is good once. */
export interface PageLinkResult {
  /** The link; what follows `#` is a secret. */
  url: string;
  /** Port on 127.0.0.1 where the page is served: the one to forward. */
  port: number;
  /** How long it can be used. */
  expiresInSeconds: number;
}

/** Takes back the access of every browser, and every link that was not used. */
export type PageRevoke = Record<string, never>;

/** What was taken back. */
export interface PageRevokeResult {
  /** Browsers that had access. */
  sessions: number;
  /** Links that nobody had used. */
  links: number;
}

/** What an agent may do without asking. */
export interface Permission {
  /** What. */
  deed: Deed;
  /** When it was allowed for good, such as `2026-11-15T21:53:10Z`; missing: only for this session. */
  since?: string;
}

/** Asks whether the other side is there. */
export type Ping = Record<string, never>;

/** A place between two characters of a document. */
export interface Position {
  /** Line, from 0. */
  line: number;
  /** UTF-16 code units from the start of the line, from 0. */
  character: number;
}

/** A stretch of a document, from `start` up to but not including `end`. */
export interface Range {
  /** Where it begins. */
  start: Position;
  /** Where it ends; never before `start`. */
  end: Position;
}

/** What can become of a review. */
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

/** The person closed the tab. That is no decision: the review stays pending. */
export interface ReviewClosed {
  /** Id of the review. */
  review: string;
}

/** A word about one line. */
export interface ReviewComment {
  /** Line number in the proposed side as shown, from 1. */
  line: number;
  /** What is said. */
  text: string;
}

/** A place that both the agent and someone else changed. */
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

/** The person decided. */
export interface ReviewDecided {
  /** Id of the review. */
  review: string;
  /** The revision that was on her screen. */
  revision: number;
  /** The `digest` of what was on the screen. Missing from older editors. */
  digest?: string;
  /** What she decided. */
  decision: Decision;
}

/** What became of a decision. After `stale` and `askAgain`, `review/show` with the newer revision follows. After `refused`, the review is still pending unless `review/hide` follows. */
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
    /** The agent that should write the file no longer waits. The same decision with `writeHere` makes the hub write it. */
    canWriteHere?: boolean;
  };

/** The person edited the proposed side without deciding yet. */
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

/** What became of an edit. */
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
    taken: Taken;
    /** Unified diff from the proposal to what was accepted; missing when they are equal. */
    personDiff?: string;
  }
  | {
    "kind": "rejected";
    /** What the agent is told. */
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

/** Takes a review off the screen. */
export interface ReviewHide {
  /** Id of the review. */
  review: string;
  /** Why. */
  reason: HideReason;
}

/** One difference, which can be decided by itself. */
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

/** How a review ended. */
export interface ReviewOutcome {
  /** The end. */
  ended: ReviewEnded;
  /** What was said about single lines. */
  comments: Array<ReviewComment>;
  /** The agent has the answer. */
  delivered: boolean;
}

/** Shows a review, or a newer revision of one that is shown. Answered at once, before the person looks. */
export interface ReviewShow {
  /** Id of the review, such as `r12`. */
  review: string;
  /** Which state of it this is. A decision names the revision it was made on. */
  revision: number;
  /** Names exactly what is shown: the review, its file, the text before and the text after. A decision sends it back, and does not count if it was made on anything else. */
  digest: string;
  /** Id of the set it was proposed in together with other files. */
  set?: string;
  /** Id of the window it belongs to, such as `w3`. */
  window: string;
  /** Name of the agent that proposes it. */
  agent: string;
  /** The protocol that agent speaks, such as `claude`. */
  dialect: string;
  /** Absolute path of the file. */
  path: string;
  /** What the agent calls it; a name for people, never an identity. */
  label: string;
  /** The file does not exist yet. */
  newFile: boolean;
  /** The text before; empty for a new file. */
  base: string;
  /** The text after, with the person's own edits. */
  proposed: string;
  /** How the file is encoded, such as `UTF-8` or `UTF-16LE`. */
  encoding: string;
  /** A word for people about line endings that are not plain LF. */
  lineEndings?: string;
  /** The differences, in the order of the file. */
  hunks: Array<ReviewHunk>;
  /** Where the file changed meanwhile and the person has to look again. */
  conflicts: Array<ReviewConflict>;
  /** Bring it to the front. */
  focus: boolean;
  /** The texts are too large for a message: `base` and `proposed` are empty and there are no hunks. It can only be taken or refused as a whole, or looked at elsewhere. */
  omitted: boolean;
  /** Its agent asked for it to be shown in the file itself, where the editor can. */
  inline: boolean;
  /** After an accept the agent writes the file, not the hub. */
  agentWrites: boolean;
  /** The agent does not wait for the answer: it is gone, away, or came back without its question. If `agentWrites` is set too, an accept needs `writeHere`. */
  ownerGone: boolean;
}

/** The review is on the person's screen. */
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
  /** What the agent calls it. */
  label: string;
  /** Where it is in its life, such as `pending`. */
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
  /** Which state of it this is: a decision on a review that is not fetched names it. */
  revision: number;
  /** Names exactly what a decision on it would be about: see `review/show`. */
  digest: string;
  /** The file does not exist yet. */
  newFile: boolean;
  /** Number of places that conflict. */
  conflicts: number;
  /** Its agent does not wait for the answer: it is gone, away, or came back without its question. */
  ownerGone: boolean;
  /** After an accept the agent writes the file, not the hub. */
  agentWrites: boolean;
}

/** Says whether the agent of a review that is shown still waits for the answer. */
export interface ReviewWaiting {
  /** Id of the review. */
  review: string;
  /** The same as in `review/show`, as it is now. */
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
  /** The revision the person saw; missing: whatever is current. */
  revision?: number;
  /** The `digest` of what was shown; missing: whatever is current. */
  digest?: string;
  /** What she decided. */
  decision: Decision;
}

/** Asks for all of a review. */
export interface ReviewsGet {
  /** Id of the review, or `latest`. */
  review: string;
}

/** All of a review. */
export interface ReviewsGetResult {
  /** What an editor would show. */
  shown: ReviewShow;
  /** Where it is in its life, such as `pending`. */
  phase: string;
  /** Unified diff from the text before to the text after. */
  diff: string;
  /** How it ended, once it has. */
  outcome?: ReviewOutcome;
}

/** Asks for the reviews. */
export interface ReviewsList {
  /** Also those that are decided and whose agent has not heard of it yet. */
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

/** The selection in the active document changed. Sent when it has come to rest, not for each step. */
export interface SelectionChanged {
  /** The selection now. */
  selection: Selection;
}

/** Asks for the selection in the active document; `null` when none is active. */
export type SelectionCurrent = Record<string, never>;

/** Asks for the last selection made in any document, active or not; `null` when there was none. */
export type SelectionLatest = Record<string, never>;

/** How bad a diagnostic is. */
export type Severity = "error" | "warning" | "info" | "hint";

/** Tells the person something, without asking for an answer. */
export interface StatusMessage {
  /** One sentence. */
  text: string;
  /** How loud. */
  level: MessageLevel;
}

/** Something that has a name in a program. */
export interface Symbol {
  /** Its name. */
  name: string;
  /** What it is, such as `function` or `struct`, as the editor says it. */
  symbolKind: string;
  /** Where it is, all of it. */
  location: Location;
  /** What it is inside of. */
  container?: string;
}

/** How much of a proposal was accepted. */
export type Taken = "all" | "some" | "edited";

/** Opens an integrated terminal. */
export interface TerminalCreate {
  /** What its tab says. */
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

/** Asks for what the last command in a terminal printed so far. */
export interface TerminalOutput {
  /** Id of the terminal. */
  terminal: string;
}

/** What it printed so far. */
export interface TerminalOutputResult {
  /** The output, without escape sequences. */
  output: string;
  /** The command still runs. */
  running: boolean;
  /** Its exit code, if it has ended and the editor knows it. */
  exitCode?: number;
}

/** Runs a command in an integrated terminal and waits for its end. */
export interface TerminalRun {
  /** The command, as the shell reads it. */
  command: string;
  /** Absolute path of the directory to run it in. */
  cwd?: string;
  /** Id of the terminal; missing: a new one. */
  terminal?: string;
  /** Answer at the latest after this time; the command goes on. */
  timeoutMs: number;
}

/** What the command did. */
export interface TerminalRunResult {
  /** Id of the terminal it ran in. */
  terminal: string;
  /** What it printed, without escape sequences. */
  output: string;
  /** Its exit code; missing while it runs, or if the editor cannot know. */
  exitCode?: number;
  /** It was still running when the time was over. */
  timedOut: boolean;
}

/** One replacement. */
export interface TextEdit {
  /** What is replaced; empty to insert. */
  range: Range;
  /** What stands there afterwards; empty to delete. */
  newText: string;
}

/** The person answered a question, or closed it. The first answer counts. */
export interface UserAnswered {
  /** Id of the question. */
  ask: string;
  /** What she said. */
  result: UserAskResult;
}

/** What became of an answer. */
export interface UserAnsweredResult {
  /** Whether it counts. If not, the question was over: answered before, or nobody waits for it any more. */
  taken: boolean;
}

/** Asks the person for permission. Answered at once, before she looks; what she says comes back as `user/answered`. A question with an id that is on her screen already is the same one. */
export interface UserAsk {
  /** Id of the question, which no later question has. */
  ask: string;
  /** One sentence, ending with a question mark. */
  question: string;
  /** What it is about, such as the command that would run. */
  detail?: string;
  /** The answers to offer, in this order. */
  options: Array<AskOption>;
}

/** What the person said. Closing the question is no answer. */
export type UserAskResult =
  | {
    "kind": "answered";
    /** What she chose. */
    option: AskOption;
  }
  | {
    "kind": "dismissed";
  };

/** Takes a question off the screen: it was answered elsewhere, or nobody waits for its answer any more. */
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
    /** The whole text the file shall hold. */
    text: string;
  }
  | {
    "kind": "reject";
    /** What the agent is told. */
    reason?: string;
  };

/** The name of a verdict. */
export type VerdictKind = "accept" | "acceptHunks" | "acceptEdited" | "reject";

/** What can happen in a window. A kind that is not known comes from a newer hub and is skipped. */
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
    /** The version it says it has. */
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
    /** What became of it. */
    change: ReviewChange;
    /** The review as it is now; missing once the hub has forgotten it. */
    summary?: ReviewSummary;
  }
  | {
    "kind": "undone";
    /** Id of the change, such as `c17`. */
    change: string;
    /** Absolute path of its file. */
    path: string;
    /** What to give `history/undo` to have it the other way again. */
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
    /** The answer; missing: there was none, and nobody waits for it any more. */
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
  /** The editor is connected. If not, the window is kept for a while, for it to come back. */
  attached: boolean;
  /** The agents connected to it, oldest first. */
  agents: Array<AgentStatus>;
  /** Agents whose connection broke and that came back by themselves, but have asked for nothing since. Gemini CLI and Qwen Code show themselves as disconnected then, until the user types `/ide enable`. */
  returnedAgents: Array<AgentStatus>;
  /** Reviews that wait for a person. */
  pendingReviews: number;
}
