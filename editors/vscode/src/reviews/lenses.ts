// The code lenses of a review: the whole decision on the first line, and accept and reject above each hunk.

import * as vscode from "vscode";
import type { ReviewConflict, ReviewHunk } from "../../../protocol";
import type { Hub } from "../hub";
import { count } from "../plain_text";
import type { CommandTarget } from "./decide";
import { isSent } from "./drafts";
import { reviewAt } from "./files";
import { linesOf, type Review, type Store, withLf } from "./store";
import { whyInShort, whyProposed } from "./why";

/** With more hunks than this, lenses would only slow the editor down. */
const MAX_HUNKS = 500;

export function lenses(context: vscode.ExtensionContext, store: Store, hub: Hub): void {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: async (document) => {
      const { review, side } = reviewAt(store, document.uri) ?? {};
      if (review === undefined || side !== "proposed") {
        return [];
      }
      // Until the hub has compared it, VS Code keeps the lenses at the lines that they moved to.
      const hunks = document.isDirty && !isSent(review, document) ? await typed(hub, review, document) : review.shown.hunks;
      // What is long is last: it may be cut off.
      return [...ofReview(review), ...ofHunks(review, hunks, document.lineCount), ...withReason(review), ...noteOf(review)];
    },
  };
  const registration = vscode.languages.registerCodeLensProvider({ scheme: "linkspan" }, provider);
  context.subscriptions.push(changed, registration, store.onChange(() => changed.fire()));
}

/** The hunks of what the user has typed. */
async function typed(hub: Hub, review: Review, document: vscode.TextDocument): Promise<ReviewHunk[]> {
  if (hub.state.kind !== "attached") {
    return review.shown.hunks;
  }
  const compared = hub.request("review/compare", { review: review.id, text: withLf(document.getText()) });
  return compared.then(({ hunks }) => hunks, () => review.shown.hunks);
}

/** VS Code shows no buttons in the title of a tab that never had the focus. */
function ofReview(review: Review): vscode.CodeLens[] {
  const target: CommandTarget = { reviews: [review.id] };
  const title = `${review.agent} · ${count(review.shown.hunks.length, "hunk")}`;
  return [
    lens(0, title, ""),
    lens(0, "Accept", "linkspan.accept", target),
    lens(0, "Reject", "linkspan.reject", target),
  ];
}

/** Where the agent receives it. */
function withReason({ id, shown }: Review): vscode.CodeLens[] {
  const target: CommandTarget = { reviews: [id] };
  return shown.receives?.reason === false ? [] : [lens(0, "Reject with Reason…", "linkspan.rejectWithReason", target)];
}

/** Why it was proposed, and what the agent will not receive, before the user chooses, edits or comments. */
function noteOf(review: Review): vscode.CodeLens[] {
  const note = review.note("all");
  const notes = note === undefined ? [] : [lens(0, note, "")];
  const { origin } = review.shown;
  if (origin === undefined) {
    return notes;
  }
  const tooltip = `${whyProposed(origin)}\nOpen the conversation at this change.`;
  const command = { title: whyInShort(origin), tooltip, command: "linkspan.chat.openConversation", arguments: [origin] };
  return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), command), ...notes];
}

function ofHunks(review: Review, hunks: ReviewHunk[], lineCount: number): vscode.CodeLens[] {
  if (!review.linesAgree || hunks.length > MAX_HUNKS) {
    return [];
  }
  return hunks.flatMap((hunk) => {
    const line = Math.min(linesOf(hunk, "proposed")[0], lineCount - 1);
    const target: CommandTarget = { reviews: [review.id], hunk: hunk.id };
    const isConflict = isInConflict(hunk, review.shown.conflicts);
    const [accept, reject, accepted, rejected] = isConflict
      ? ["Take the Agent's", "Keep Mine", "The agent's is taken", "Mine is kept"]
      : ["Accept Hunk", "Reject Hunk", "Accepted", "Rejected"];
    const mark = review.marks.get(hunk.id);
    if (hunks.length === 1 && line === 0 && !isConflict) {
      // The buttons of the whole change are on the same line.
      return [];
    }
    if (mark !== undefined) {
      const label = mark === "accepted" ? accepted : rejected;
      return [lens(line, label, ""), lens(line, "Undo Mark", "linkspan.unmarkHunk", target)];
    }
    return [
      ...(isConflict ? [lens(line, "Conflict: the file has changed here", "")] : []),
      lens(line, accept, "linkspan.acceptHunk", target),
      lens(line, reject, "linkspan.rejectHunk", target),
    ];
  });
}

/** Whether both the agent and somebody else changed these lines. */
export function isInConflict(hunk: ReviewHunk, conflicts: readonly ReviewConflict[]): boolean {
  const [start, length] = linesOf(hunk, "proposed");
  return conflicts.some(
    ({ afterStart, afterCount }) => start <= afterStart + Math.max(afterCount, 1) - 1 && afterStart <= start + Math.max(length, 1) - 1,
  );
}

/** Without a command it is a label. */
function lens(line: number, title: string, command: string, target?: CommandTarget): vscode.CodeLens {
  return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command, arguments: [target] });
}
