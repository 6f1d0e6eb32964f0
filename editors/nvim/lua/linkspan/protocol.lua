-- Generated from crates/editor-api by `cargo xtask codegen`. Do not edit.

local M = {}

---Version of the protocol, for `attach`.
M.PROTOCOL = 1

---Error codes.
M.ERRORS = {
  ---The message is not JSON.
  PARSE = -32700,
  ---The message is JSON, but not a request, notification or response.
  INVALID_REQUEST = -32600,
  ---There is no such method.
  METHOD_NOT_FOUND = -32601,
  ---The parameters do not fit the method.
  INVALID_PARAMS = -32602,
  ---A bug in the answering program.
  INTERNAL = -32603,
  ---The connection has not sent `attach` yet.
  NOT_ATTACHED = -32010,
  ---There is no such review.
  UNKNOWN_REVIEW = -32011,
  ---The path is outside of the workspace folders of the window.
  OUTSIDE_WORKSPACE = -32012,
  ---The two sides do not speak the same protocol version.
  VERSION = -32013,
  ---The editor cannot do this.
  UNSUPPORTED = -32014,
  ---A rule of the configuration forbids it.
  DENIED = -32015,
  ---There is no such file, document or terminal.
  NOT_FOUND = -32016,
  ---It took too long.
  TIMEOUT = -32017,
  ---It is larger than the limit.
  TOO_LARGE = -32018,
  ---There is no such change, or nothing to undo.
  UNKNOWN_CHANGE = -32021,
  ---The file does not hold the expected bytes.
  CONFLICT = -32022,
  ---There is no such window.
  UNKNOWN_WINDOW = -32019,
}

---How much of a proposal was accepted.
---@alias linkspan.AcceptedPart "all"|"some"|"edited"

---The user points the agents of the window, or one of them, at a file, or at some of its lines.
---@class linkspan.AgentsMention
---@field path string Absolute path of the file.
---@field lines? linkspan.LineRange Which lines; missing: the whole file.
---@field agent? string Id of the connection of one agent, such as `a4`; missing: all.

---Who received it.
---@class linkspan.AgentsMentionResult
---@field agents string[] The names of the agents, each as often as it is connected. Empty: nobody did.

---An answer that the user can give.
---@alias linkspan.AskOption "allowOnce"|"allowSession"|"allowAlways"|"deny"

---Attaches an editor window to the hub. Required before every other message of an editor.
---@class linkspan.Attach
---@field protocol integer The protocol version the editor speaks.
---@field version string Version of the editor's Linkspan integration.
---@field editor linkspan.Editor The editor.
---@field pid integer Process id of the editor, which agents look for among their parents.
---@field folders string[] Absolute paths of the workspace folders, main one first.
---@field windowId? string An id that the editor keeps across reloads. With it, or else with the same folders, a window gets its port, its agents and its pending reviews back.
---@field claudeConfigDir? string The folder in `CLAUDE_CONFIG_DIR` of the editor's process. `linkspan attach` fills it in: the hub may have been started where the variable is not set.
---@field capabilities linkspan.Capabilities What the editor can do.

---The window that the hub created, or found again.
---@class linkspan.AttachResult
---@field window string Id of the window, such as `w3`.
---@field port integer Port on 127.0.0.1 where agents find this window.
---@field hubVersion string Version of the hub.
---@field protocol integer The protocol version the hub speaks.
---@field environment table<string, string> Variables to set in integrated terminals, so that agents started there find this window first.
---@field pendingReviews? string[] Ids of the window's pending reviews, for each of which `review/show` follows. Remove every other one from the screen. Missing from older hubs.

---What an editor can do. Only requests of these groups are sent to it.
---@class linkspan.Capabilities
---@field documents boolean `documents/list` and `document/…`, except `document/format`.
---@field selection boolean `selection/current` and `selection/latest`.
---@field diagnostics boolean `diagnostics/get`.
---@field reviews boolean `review/show` and `review/hide`.
---@field edits boolean `edits/apply`.
---@field editRanges boolean `edits/apply` may name the places that differ instead of the whole text.
---@field format boolean `document/format`.
---@field language boolean `language/…`.
---@field terminal boolean `terminal/…`.
---@field messages boolean `status/message`.
---@field questions boolean `user/ask` and `user/unask`.
---@field executeCode boolean `code/execute`.
---@field trusted? boolean The user trusts the folders, so that agents may run commands and write to git in them once the user allows it. Missing from older editors, where an editor with documents and without `terminal` has not trusted them.

---Runs code in the kernel of the active notebook.
---@class linkspan.CodeExecute
---@field code string The code.

---The result of the code.
---@class linkspan.CodeExecuteResult
---@field outputs string[] Its outputs as text, in order.

---The decision of the user.
---@class linkspan.Decision
---@field verdict linkspan.Verdict Yes or no, and to what.
---@field comments linkspan.ReviewComment[] Comments on single lines.
---@field writeHere? boolean If the agent that should write the file no longer waits, the hub writes it instead. Without this, accepting such a review is refused, with `canWriteHere`.

---Detaches for good. A window whose connection ends without it may come back.
---@alias linkspan.Detach table<string, any>

---One error, warning or hint.
---@class linkspan.Diagnostic
---@field message string The message.
---@field severity linkspan.Severity Its severity.
---@field range linkspan.Range Where it is.
---@field source? string The tool that reports it, such as `rustc` or `eslint`.
---@field code? string Its code, such as `E0308`.

---The diagnostics of some files changed.
---@class linkspan.DiagnosticsChanged
---@field files linkspan.DocumentVersion[] Which files.

---Asks for diagnostics.
---@class linkspan.DiagnosticsGet
---@field path? string Absolute path of one file; missing: all files that have any.
---@field waitMs? integer Wait at most this many milliseconds for the language servers to finish.

---The diagnostics, file by file.
---@class linkspan.DiagnosticsGetResult
---@field files linkspan.FileDiagnostics[] A file that was requested by its path is listed even if it has none.

---Closes the tabs of a document. One with unsaved changes stays open.
---@class linkspan.DocumentClose
---@field path string Absolute path of the file.

---The result of closing.
---@class linkspan.DocumentCloseResult
---@field closed boolean No tab shows the document now.

---Asks whether a document has unsaved changes.
---@class linkspan.DocumentDirty
---@field path string Absolute path of the file.

---Whether the document has unsaved changes.
---@class linkspan.DocumentDirtyResult
---@field open boolean The editor has the file open.
---@field dirty boolean It has unsaved changes.
---@field untitled boolean It has no file yet.

---Asks what the editor's formatter would change in a document. Changes nothing.
---@class linkspan.DocumentFormat
---@field path string Absolute path of the file.
---@field range? linkspan.Range Only this part; missing: all of it.

---What formatting would change.
---@class linkspan.DocumentFormatResult
---@field edits linkspan.TextEdit[] The replacements, all referring to the text before; empty when there is nothing to change.

---Opens a file in a tab.
---@class linkspan.DocumentOpen
---@field path string Absolute path of the file.
---@field preview boolean Open it as a preview that the next opened file replaces.
---@field focus boolean Give it the focus. Without it, the focus stays where it is.
---@field target? linkspan.OpenTarget What to select and scroll to.

---The opened document.
---@class linkspan.DocumentOpenResult
---@field language? string Language id, as the editor names it.
---@field lineCount? integer Number of lines.
---@field selected? linkspan.Range What was selected; missing when the target was not found.

---Scrolls an open document so that a range is visible.
---@class linkspan.DocumentReveal
---@field path string Absolute path of the file.
---@field range linkspan.Range The range to show.

---The result of scrolling.
---@class linkspan.DocumentRevealResult
---@field revealed boolean The range is on screen; false when the document is not visible.

---Saves a document.
---@class linkspan.DocumentSave
---@field path string Absolute path of the file.

---The result of saving.
---@class linkspan.DocumentSaveResult
---@field open boolean The editor has the file open.
---@field saved boolean The file now holds what the document holds.
---@field message? string Why it could not be saved.

---Asks for the text that an editor holds for a file, saved or not.
---@class linkspan.DocumentText
---@field path string Absolute path of the file.

---What the editor holds for the file.
---@class linkspan.DocumentTextResult
---@field open boolean The editor has the file open. If not, the file on disk counts.
---@field dirty boolean It has unsaved changes.
---@field version? integer Grows with each change to the text.
---@field language? string Language id, as the editor names it.
---@field text? string The whole text, with the document's own line endings; missing when it is not open.

---A file and the version of its document.
---@class linkspan.DocumentVersion
---@field path string Absolute path of the file.
---@field version? integer Version of the document, if it is open.

---Asks which part of a document is on screen.
---@class linkspan.DocumentVisibleRange
---@field path string Absolute path of the file.

---The part of the document on screen.
---@class linkspan.DocumentVisibleRangeResult
---@field range? linkspan.Range From the first to the last visible line; missing when the document is not visible.

---The set of open documents changed, or one became dirty or clean.
---@alias linkspan.DocumentsChanged table<string, any>

---Asks for the documents that are open, in the order of their tabs.
---@alias linkspan.DocumentsList table<string, any>

---The open documents.
---@class linkspan.DocumentsListResult
---@field documents linkspan.OpenDocument[] One entry for each tab that shows a text document.

---An editor.
---@class linkspan.Editor
---@field name string Its name for people, such as `Visual Studio Code`.
---@field version string Its version.

---What to change in a document.
---@class linkspan.Edits
---@field kind "ranges"|"text"
---@field edits? linkspan.TextEdit[] The replacements.
---@field text? string The whole new text.

---Changes a document's text as one undo step.
---@class linkspan.EditsApply
---@field path string Absolute path of the file.
---@field version? integer Apply only if the document has this version; if it moved on, nothing is applied.
---@field edits linkspan.Edits What to change.
---@field save boolean Save afterwards.

---The result of the edits.
---@class linkspan.EditsApplyResult
---@field applied boolean The document holds the new text. False when its version had moved on.
---@field version? integer The document's version now.
---@field saved boolean The file on disk holds it too.
---@field text? string The text of the document after saving, if it is not the text that the edits made: the editor's own rules for saving changed it.

---The diagnostics of one file.
---@class linkspan.FileDiagnostics
---@field path string Absolute path of the file.
---@field version? integer Version of the document they are about, if the editor knows.
---@field settled boolean They describe the current text. False: the language server may still be working.
---@field diagnostics linkspan.Diagnostic[] The diagnostics, in the order of their ranges.

---Edits to one file.
---@class linkspan.FileEdits
---@field path string Absolute path of the file.
---@field edits linkspan.TextEdit[] The replacements, all referring to the text before.

---The window got or lost the focus.
---@class linkspan.FocusChanged
---@field focused boolean It has the focus now.

---The workspace folders changed.
---@class linkspan.FoldersChanged
---@field folders string[] Absolute paths of all workspace folders now, main one first.

---Why a review is removed from the screen.
---@class linkspan.HideReason
---@field kind "decided"|"withdrawn"|"superseded"|"failed"
---@field by? string Where it was decided, for people.
---@field verdict? linkspan.VerdictKind The decision.
---@field error? string Why.

---One closed review, or one undo.
---@class linkspan.HistoryEntry
---@field review string Id of the review; for an undo, of the review that it undid.
---@field change? string Id of the change of the file, such as `c17`. Missing if nothing was written, and if the agent wrote it and it was never undone: then use the id of the review.
---@field undoes? string The change that this one undid. An undo of an undo is a redo.
---@field set? string Id of the set that it was proposed in together with other files.
---@field window string Id of the window.
---@field agent string Name of the agent.
---@field dialect string The protocol it spoke.
---@field path string Absolute path of the file.
---@field label string What the agent called it.
---@field ended linkspan.ReviewEnded How the review ended.
---@field comments linkspan.ReviewComment[] Comments on single lines.
---@field proposedAtMs integer When it was proposed, in milliseconds since 1970.
---@field endedAtMs integer When the review was closed or the undo was done, in milliseconds since 1970.
---@field decidedBy? string Where it was decided, for people.
---@field added? integer Number of lines added, if known.
---@field removed? integer Number of lines removed, if known.
---@field newFile boolean The file did not exist before.
---@field undoable boolean The journal has the bytes to undo it. Whether the file still holds the accepted bytes is only checked by `history/undo`.
---@field undone boolean It was undone.
---@field onDisk? boolean The hub wrote the file, or saw that it holds the accepted text. False: the agent had to write it, and the hub has not seen it in the file. Missing if nothing had to be written, and in entries of older versions.
---@field origin? linkspan.ReviewOrigin The conversation that it comes from, if the hub hosted its agent.

---Asks for closed reviews and undos, newest first.
---@class linkspan.HistoryList
---@field limit? integer At most this many entries. Default 50, at most 1000.
---@field path? string Absolute path of a file, or of a folder, which includes everything in it.
---@field window? string Id of a window.
---@field undoable boolean Only entries that can be undone.
---@field chat? string Only changes of this conversation (`t3`), or of one of its turns (`t3/2`).

---Closed reviews and undos.
---@class linkspan.HistoryListResult
---@field entries linkspan.HistoryEntry[] Newest first.

---Undoes an accepted change: restores the bytes that the file held before, if it holds exactly the accepted bytes now and no editor has unsaved changes in it.
---@class linkspan.HistoryUndo
---@field change string Id of the change (`c17`) or of its review (`r12`), or `last`: the newest that was not undone.

---The undone change.
---@class linkspan.HistoryUndoResult
---@field change string Id of the change that was undone.
---@field review string Id of its review.
---@field path string Absolute path of the file.
---@field removedFile boolean The file did not exist before the change, and was removed.
---@field redo string Id of the undo itself. Undoing it applies the change again.

---The hub can be reached, and the window is attached again. Sent by `linkspan attach` itself. The environment, and even the port, may have changed. Pending reviews are shown again; all others are closed.
---@alias linkspan.HubBack linkspan.AttachResult

---The hub cannot be reached. Sent by `linkspan attach` itself, which keeps trying. Requests of the editor wait in the meantime.
---@class linkspan.HubLost
---@field reason string Why, for people.

---Asks where the symbol at a position is defined.
---@class linkspan.LanguageDefinition
---@field path string Absolute path of the file.
---@field position linkspan.Position Where.

---Where it is defined.
---@class linkspan.LanguageDefinitionResult
---@field locations linkspan.Location[] The places; empty when nothing is known.

---Asks for the type and documentation of the symbol at a position.
---@class linkspan.LanguageHover
---@field path string Absolute path of the file.
---@field position linkspan.Position Where.

---Type and documentation of a symbol.
---@class linkspan.LanguageHoverResult
---@field contents string[] Markdown, one entry for each source; empty when nothing is known.
---@field range? linkspan.Range The range that it describes.

---Asks where the symbol at a position is used.
---@class linkspan.LanguageReferences
---@field path string Absolute path of the file.
---@field position linkspan.Position Where.
---@field includeDeclaration boolean Include its declaration.

---Where it is used.
---@class linkspan.LanguageReferencesResult
---@field locations linkspan.Location[] The places; empty when nothing is known.

---Asks what renaming the symbol at a position would change. Changes nothing.
---@class linkspan.LanguageRename
---@field path string Absolute path of the file.
---@field position linkspan.Position Where.
---@field newName string Its new name.

---What renaming would change.
---@class linkspan.LanguageRenameResult
---@field files linkspan.FileEdits[] File by file; empty when it cannot be renamed.
---@field message? string Why it cannot be renamed, if that is known.

---Asks for symbols: those of one file, or those in the workspace that match a query.
---@class linkspan.LanguageSymbols
---@field kind "document"|"workspace"
---@field path? string Absolute path of the file.
---@field query? string Part of their name.

---The symbols.
---@class linkspan.LanguageSymbolsResult
---@field symbols linkspan.Symbol[] In the order of the file, or best match first.

---Whole lines, both ends included.
---@class linkspan.LineRange
---@field first integer First line, from 0.
---@field last integer Last line, from 0, included.

---A range of a file.
---@class linkspan.Location
---@field path string Absolute path of the file.
---@field range linkspan.Range Where in it.

---The user pointed the agents at a file, or at some of its lines.
---@class linkspan.Mentioned
---@field path string Absolute path of the file.
---@field lines? linkspan.LineRange Which lines; missing: the whole file.

---The level of a message.
---@alias linkspan.MessageLevel "info"|"warning"|"error"

---One tab that shows a text document.
---@class linkspan.OpenDocument
---@field path string Absolute path, or the editor's name for a document that has no file yet.
---@field label string The title of the tab.
---@field active boolean The active document, or the last one that was active.
---@field dirty boolean It has unsaved changes.
---@field untitled boolean It has no file yet.
---@field pinned boolean The tab is pinned.
---@field preview boolean The tab is a preview that the next opened file replaces.
---@field language? string Language id, as the editor names it.
---@field groupIndex integer Which group of tabs, from 0.
---@field viewColumn? integer Column of that group, from 1, as VS Code counts.
---@field groupActive boolean That group is the active one.
---@field lineCount? integer Number of lines, if the document is loaded.
---@field selection? linkspan.SelectedRange Selection in it, if the document is visible.
---@field version? integer Grows with each change to the text.

---What to select in a document that is opened.
---@class linkspan.OpenTarget
---@field kind "range"|"text"
---@field range? linkspan.Range Where.
---@field start? string Selection begins at the first occurrence of this.
---@field ["end"]? string Selection ends with the first occurrence of this after `start`; missing: it ends with `start`.
---@field toEndOfLine? boolean Extend the selection to the end of its last line.

---Asks whether the other side is alive.
---@alias linkspan.Ping table<string, any>

---A position between two characters of a document.
---@class linkspan.Position
---@field line integer Line, from 0.
---@field character integer UTF-16 code units from the start of the line, from 0.

---A range of a document, from `start` up to but not including `end`.
---@class linkspan.Range
---@field start linkspan.Position Where it begins.
---@field ["end"] linkspan.Position Where it ends; never before `start`.

---What the model of an agent learns of a decision, beyond yes or no.
---@class linkspan.Receives
---@field reason boolean The reason of a rejection.
---@field comments boolean The comments on lines.
---@field hunks boolean Which hunks were accepted, or the text that they make.
---@field edited boolean The user's own text, or how it differs from the proposal.

---Sentences about what the agent will not receive, ready to print where the user types or chooses. Each is missing if there is nothing to say.
---@class linkspan.ReceivesNotes
---@field all string All of it together, with the remedy: for one place next to the change.
---@field reason? string Where a reason is typed.
---@field comments? string Where a comment is typed.
---@field hunks? string Where some hunks are chosen.
---@field edited? string Where the proposed text is edited.
---@field remedy? string What to do so that it receives more.

---The user closed the tab. That is not a decision: the review stays pending.
---@class linkspan.ReviewClosed
---@field review string Id of the review.

---A comment on one line.
---@class linkspan.ReviewComment
---@field line integer Line number in the proposed side as shown, from 1.
---@field text string The comment.

---Asks for the differences between `base` and a text that the user is typing. Nothing is kept of it.
---@class linkspan.ReviewCompare
---@field review string Id of the review.
---@field text string The whole proposed side as it is now.

---The differences.
---@class linkspan.ReviewCompareResult
---@field hunks linkspan.ReviewHunk[] In the order of the file. An id is that of the hunk which the same text has after `review/edited`.

---A place that both the agent and another party changed.
---@class linkspan.ReviewConflict
---@field beforeStart integer First line in `base`, from 0: what the file holds there now.
---@field beforeCount integer Number of lines in `base`.
---@field afterStart integer First line in `proposed`, from 0: what the agent wants there.
---@field afterCount integer Number of lines in `proposed`.

---The user decided.
---@class linkspan.ReviewDecided
---@field review string Id of the review.
---@field revision integer The revision that was on the screen.
---@field digest? string The `digest` of what was on the screen. Missing from older editors.
---@field decision linkspan.Decision The decision.

---The result of a decision. After `stale` and `askAgain`, `review/show` with the newer revision follows. After `refused`, the review is still pending unless `review/hide` follows.
---@class linkspan.ReviewDecidedResult
---@field kind "taken"|"stale"|"alreadyDecided"|"notPending"|"askAgain"|"refused"
---@field revision? integer The revision now.
---@field by? string Where it was decided, for people.
---@field conflicts? integer How many places conflict.
---@field message? string Why, and what to do.
---@field canWriteHere? boolean The agent that should write the file no longer waits. Send the same decision with `writeHere` to make the hub write it.

---The user edited the proposed side without deciding yet.
---@class linkspan.ReviewEdited
---@field review string Id of the review.
---@field revision integer The revision that was edited.
---@field digest? string The `digest` of what was edited, as it was shown. Missing from older editors.
---@field text string The whole proposed side as it is now.

---The result of an edit.
---@class linkspan.ReviewEditedResult
---@field kind "taken"|"stale"|"notPending"
---@field revision? integer The revision now: the next edit and the decision name it.
---@field digest? string The digest now: the next edit and the decision send it back.
---@field hunks? linkspan.ReviewHunk[] The differences between `base` and the edited text, in the order of the file.

---The end of a review.
---@class linkspan.ReviewEnded
---@field kind "accepted"|"rejected"|"withdrawn"|"superseded"|"failed"
---@field taken? linkspan.AcceptedPart How much of the proposal.
---@field personDiff? string Unified diff from the proposal to what was accepted; missing when they are equal.
---@field reason? string Reason for the agent.
---@field by? string Id of the newer review.
---@field error? string Why.

---Removes a review from the screen.
---@class linkspan.ReviewHide
---@field review string Id of the review.
---@field reason linkspan.HideReason Why.

---One difference, which can be decided separately.
---@class linkspan.ReviewHunk
---@field id string Id of the hunk; stays the same while the hunk does.
---@field beforeStart integer First line in `base`, from 0.
---@field beforeCount integer Number of lines in `base`.
---@field afterStart integer First line in `proposed`, from 0.
---@field afterCount integer Number of lines in `proposed`.
---@field words linkspan.ReviewWords[] The words that differ inside these lines; empty when lines were only added or removed.

---The conversation that a change comes from, and why it was proposed.
---@class linkspan.ReviewOrigin
---@field chat string Id of the conversation, such as `t3`.
---@field turn integer Number of the turn, from 1: a turn begins with a message of the user.
---@field item integer Place of the tool call among the items of the conversation, from 0.
---@field prompt? string The user's message, shortened. Missing if the conversation was forgotten.
---@field words? string What the agent said before the call, the end of it. Missing if it said nothing.

---Shows a review, or a newer revision of one that is shown. Answered at once, before the user looks.
---@class linkspan.ReviewShow
---@field review string Id of the review, such as `r12`.
---@field revision integer Number of this version of the review. A decision names the revision that it was made on.
---@field digest string Names exactly what is shown: the review, its file, the text before and the text after. A decision sends it back, and does not count if it was made on anything else.
---@field set? string Id of the set it was proposed in together with other files.
---@field setLabel? string The agent's own name of that set; for people, never an identity.
---@field window string Id of the window it belongs to, such as `w3`.
---@field agent string Name of the agent that proposes it.
---@field dialect string The protocol that agent speaks, such as `claude`.
---@field path string Absolute path of the file.
---@field label string The agent's name for it; for people, never an identity.
---@field newFile boolean The file does not exist yet.
---@field base string The text before; empty for a new file.
---@field proposed string The text after, with the user's edits.
---@field encoding string How the file is encoded, such as `UTF-8` or `UTF-16LE`.
---@field lineEndings? string A note for people about line endings that are not plain LF.
---@field hunks linkspan.ReviewHunk[] The differences, in the order of the file.
---@field conflicts linkspan.ReviewConflict[] Where the file changed in the meantime and the user has to look again.
---@field focus boolean Bring it to the front.
---@field omitted boolean The texts are too large for a message: `base` and `proposed` are empty and there are no hunks. It can only be accepted or rejected as a whole, or reviewed elsewhere.
---@field inline boolean Its agent wants it shown in the file itself, if the editor can do that.
---@field agentWrites boolean After an accept the agent writes the file, not the hub.
---@field ownerGone boolean The agent does not wait for the answer: it is gone, away, or reconnected without asking again. If `agentWrites` is set too, an accept needs `writeHere`.
---@field receives? linkspan.Receives What the agent's model learns of the decision. Missing: unknown.
---@field receivesNotes? linkspan.ReceivesNotes Sentences about what it will not learn, to show before the user types. Missing: there is nothing to say.
---@field origin? linkspan.ReviewOrigin The conversation that it comes from, if the hub hosts its agent.

---The review is visible to the user.
---@class linkspan.ReviewShown
---@field review string Id of the review.
---@field revision integer The revision that is shown.

---One line about a review.
---@class linkspan.ReviewSummary
---@field review string Id of the review.
---@field set? string Id of the set it was proposed in together with other files.
---@field window string Id of the window it belongs to.
---@field agent string Name of the agent that proposes it.
---@field dialect string The protocol that agent speaks.
---@field path string Absolute path of the file.
---@field label string The agent's name for it.
---@field phase string Its phase, such as `pending`.
---@field ageMs integer How long ago it was proposed.
---@field hunks integer Number of hunks.
---@field added integer Number of lines added.
---@field removed integer Number of lines removed.
---@field bytes integer Length of the larger of both texts, in bytes of UTF-8.
---@field revision integer Its current revision: a decision on a review that was not fetched names it.
---@field digest string Identifies exactly what a decision on it would be about: see `review/show`.
---@field newFile boolean The file does not exist yet.
---@field conflicts integer Number of places that conflict.
---@field ownerGone boolean Its agent does not wait for the answer: it is gone, away, or reconnected without asking again.
---@field agentWrites boolean After an accept the agent writes the file, not the hub.
---@field receives? linkspan.Receives What the agent's model learns of the decision. Missing: unknown.

---Notifies whether the agent of a shown review still waits for the answer.
---@class linkspan.ReviewWaiting
---@field review string Id of the review.
---@field ownerGone boolean The current value of the member of that name in `review/show`.

---Words that differ inside a hunk.
---@class linkspan.ReviewWords
---@field before linkspan.Range Where in `base`.
---@field after linkspan.Range Where in `proposed`.

---Asks for the reviews.
---@class linkspan.ReviewsList
---@field all boolean Include decided reviews whose outcome has not been delivered.

---The reviews.
---@class linkspan.ReviewsListResult
---@field reviews linkspan.ReviewSummary[] Oldest first.

---A selection without its text.
---@class linkspan.SelectedRange
---@field range linkspan.Range Where it is.
---@field reversed boolean The cursor is at the start of the range.

---A selection and its text.
---@class linkspan.Selection
---@field path string Absolute path of the file.
---@field text string The selected text; empty for a bare cursor.
---@field range linkspan.Range Where it is.
---@field isEmpty boolean Nothing is selected: `range` is where the cursor is.
---@field reversed boolean The cursor is at the start of the range.

---The selection in the active document changed. Sent when it has settled, not for each step.
---@class linkspan.SelectionChanged
---@field selection linkspan.Selection The selection now.

---Asks for the selection in the active document; `null` when none is active.
---@alias linkspan.SelectionCurrent table<string, any>

---Asks for the last selection made in any document, active or not; `null` when there was none.
---@alias linkspan.SelectionLatest table<string, any>

---The severity of a diagnostic.
---@alias linkspan.Severity "error"|"warning"|"info"|"hint"

---Shows the user a message that needs no answer.
---@class linkspan.StatusMessage
---@field text string One sentence.
---@field level linkspan.MessageLevel Its level.

---A named item of a program.
---@class linkspan.Symbol
---@field name string Its name.
---@field symbolKind string Its kind, such as `function` or `struct`, as the editor names it.
---@field location linkspan.Location Its full range.
---@field container? string The symbol that contains it.

---Opens an integrated terminal.
---@class linkspan.TerminalCreate
---@field name? string Title of its tab.
---@field cwd? string Absolute path of the directory it starts in.
---@field environment table<string, string> Variables on top of the editor's own.
---@field focus boolean Bring it to the front.

---The terminal.
---@class linkspan.TerminalCreateResult
---@field terminal string Id of the terminal, minted by the editor.

---Asks for the output of the last command in a terminal so far.
---@class linkspan.TerminalOutput
---@field terminal string Id of the terminal.

---The output so far.
---@class linkspan.TerminalOutputResult
---@field output string The output, without escape sequences.
---@field running boolean The command is still running.
---@field exitCode? integer Its exit code, if it has ended and the editor knows it.

---Runs a command in an integrated terminal and waits until it exits.
---@class linkspan.TerminalRun
---@field command string The command line for the shell.
---@field cwd? string Absolute path of the directory to run it in.
---@field terminal? string Id of the terminal; missing: a new one.
---@field name? string Title of a terminal that is opened for it: the agent.
---@field timeoutMs integer Answer after this many milliseconds at the latest. The command keeps running.

---The result of the command.
---@class linkspan.TerminalRunResult
---@field terminal string Id of the terminal it ran in.
---@field output string Its output, without escape sequences.
---@field exitCode? integer Its exit code; missing while it runs, or if the editor does not know it.
---@field timedOut boolean It was still running when the time was up.

---One replacement.
---@class linkspan.TextEdit
---@field range linkspan.Range What is replaced; empty to insert.
---@field newText string The new text; empty to delete.

---The user answered a question, or closed it. The first answer counts.
---@class linkspan.UserAnswered
---@field ask string Id of the question.
---@field result linkspan.UserAskResult The answer.

---The result of an answer.
---@class linkspan.UserAnsweredResult
---@field taken boolean Whether it counts. If not, the question was already answered or is no longer pending.

---Asks the user for permission. Answered at once, before the user looks; the user's answer comes back as `user/answered`. If a question with this id is already on the screen, it is the same one.
---@class linkspan.UserAsk
---@field ask string Id of the question; never used again.
---@field question string One sentence, ending with a question mark.
---@field detail? string What it is about, such as the command that would run.
---@field options linkspan.AskOption[] The answers to offer, in this order.
---@field labels string[] What to print on the buttons, in the order of `options`: with the agent and what it is about.

---The user's answer. Closing the question is not an answer.
---@class linkspan.UserAskResult
---@field kind "answered"|"dismissed"
---@field option? linkspan.AskOption The option.

---Removes a question from the screen: it was answered elsewhere, or is no longer pending.
---@class linkspan.UserUnask
---@field ask string Id of the question.

---Yes or no, and to what.
---@class linkspan.Verdict
---@field kind "accept"|"acceptHunks"|"acceptEdited"|"reject"
---@field hunks? string[] Ids of the hunks taken; at least one.
---@field text? string The whole text that the file will hold.
---@field reason? string Reason for the agent.

---The name of a verdict.
---@alias linkspan.VerdictKind "accept"|"acceptHunks"|"acceptEdited"|"reject"

return M
