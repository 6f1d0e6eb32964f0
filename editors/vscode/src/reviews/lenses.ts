// Accept and reject code lenses above each hunk.

import * as vscode from "vscode";
import type { CommandTarget } from "./decide";
import { isSent } from "./drafts";
import { parseReviewUri } from "./files";
import { linesOf, type Review, type Side, type Store } from "./store";

/** With more hunks than this, lenses would only slow the editor down. */
const MAX_HUNKS = 500;

export function lenses(context: vscode.ExtensionContext, store: Store): void {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: (document) => {
      const review = store.get(parseReviewUri(document.uri)?.id);
      if (review === undefined) {
        return [];
      }
      // The user's edits have moved the hunks.
      const own = document.isDirty && !isSent(review, document)
        ? [lens(0, "Edited: save to update the hunks", "")]
        : lensesOf(review, "proposed", document.lineCount);
      // Last: what follows a long text on the same line may be cut off.
      return [...own, ...noteOf(review)];
    },
  };
  const registration = vscode.languages.registerCodeLensProvider({ scheme: "linkspan" }, provider);
  context.subscriptions.push(changed, registration, store.onChange(() => changed.fire()));
}

/** What the agent will not receive, before the user chooses, edits or comments. */
export function noteOf(review: Review): vscode.CodeLens[] {
  const note = review.note("all");
  return note === undefined ? [] : [lens(0, note, "")];
}

/** The lenses of a review in a document of one side. */
export function lensesOf(review: Review, side: Side, lineCount: number): vscode.CodeLens[] {
  const { hunks, conflicts } = review.shown;
  if (!review.linesAgree || hunks.length > MAX_HUNKS) {
    return [];
  }
  const warnings = conflicts.slice(0, MAX_HUNKS).map(({ beforeStart, afterStart }) => {
    const line = side === "base" ? beforeStart : afterStart;
    return lens(Math.min(line, lineCount - 1), "Conflict: the file has changed here", "");
  });
  const choices = hunks.flatMap((hunk) => {
    const line = Math.min(linesOf(hunk, side)[0], lineCount - 1);
    const target: CommandTarget = { reviews: [review.id], hunk: hunk.id };
    const mark = review.marks.get(hunk.id);
    if (mark !== undefined) {
      const label = mark === "accepted" ? "Accepted" : "Rejected";
      return [lens(line, label, ""), lens(line, "Undo Mark", "linkspan.unmarkHunk", target)];
    }
    const reject = lens(line, "Reject Hunk", "linkspan.rejectHunk", target);
    return [lens(line, "Accept Hunk", "linkspan.acceptHunk", target), reject];
  });
  return [...warnings, ...choices];
}

/** Without a command it is a label. */
export function lens(line: number, title: string, command: string, target?: CommandTarget): vscode.CodeLens {
  return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command, arguments: [target] });
}
