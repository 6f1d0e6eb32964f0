// Accept and reject above each hunk.

import * as vscode from "vscode";
import type { Aim } from "./decide";
import { isSent } from "./drafts";
import { placeOf } from "./files";
import { linesOf, type Review, type Side, type Store } from "./store";

/** More of them help nobody. */
const MOST_HUNKS = 500;

export function lenses(context: vscode.ExtensionContext, store: Store): void {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: (document) => {
      const review = store.get(placeOf(document.uri)?.id);
      if (review === undefined) {
        return [];
      }
      // Its hunks are at other lines now.
      return document.isDirty && !isSent(review, document)
        ? [lens(0, "Edited: save to see its hunks", "")]
        : lensesOf(review, "proposed", document.lineCount);
    },
  };
  const registration = vscode.languages.registerCodeLensProvider({ scheme: "linkspan" }, provider);
  context.subscriptions.push(changed, registration, store.onChange(() => changed.fire()));
}

/** What stands above the hunks of a review in a document of one side. */
export function lensesOf(review: Review, side: Side, lineCount: number): vscode.CodeLens[] {
  const { hunks, conflicts } = review.shown;
  if (!review.linesAgree || hunks.length > MOST_HUNKS) {
    return [];
  }
  const warnings = conflicts.slice(0, MOST_HUNKS).map(({ beforeStart, afterStart }) => {
    const line = side === "base" ? beforeStart : afterStart;
    return lens(Math.min(line, lineCount - 1), "Conflict: the file changed here meanwhile", "");
  });
  const choices = hunks.flatMap((hunk) => {
    const line = Math.min(linesOf(hunk, side)[0], lineCount - 1);
    const aim: Aim = { reviews: [review.id], hunk: hunk.id };
    const mark = review.marks.get(hunk.id);
    if (mark !== undefined) {
      const says = mark === "accepted" ? "Accepted" : "Rejected";
      return [lens(line, says, ""), lens(line, "Undo Mark", "linkspan.unmarkHunk", aim)];
    }
    const reject = lens(line, "Reject Hunk", "linkspan.rejectHunk", aim);
    return [lens(line, "Accept Hunk", "linkspan.acceptHunk", aim), reject];
  });
  return [...warnings, ...choices];
}

/** Without a command it only says something. */
export function lens(line: number, title: string, command: string, aim?: Aim): vscode.CodeLens {
  return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command, arguments: [aim] });
}
