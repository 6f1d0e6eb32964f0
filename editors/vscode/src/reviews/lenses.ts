// Accept and reject above each hunk, in the diff.

import * as vscode from "vscode";
import type { ReviewHunk } from "../../../protocol";
import type { Aim } from "./decide";
import { placeOf } from "./files";
import type { Review, Store } from "./store";

/** More of them are no help to anybody. */
const MOST_LENSES = 500;

export function lenses(context: vscode.ExtensionContext, store: Store): void {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: (document) => {
      const review = store.get(placeOf(document.uri)?.id ?? "");
      return review === undefined ? [] : lensesOf(review, (hunk) => hunk.afterStart, document.lineCount);
    },
  };
  context.subscriptions.push(
    changed,
    vscode.languages.registerCodeLensProvider({ scheme: "linkspan" }, provider),
    store.onChange(() => changed.fire()),
  );
}

/** What stands above the hunks of a review, each at the line that is given for it. */
export function lensesOf(review: Review, lineOf: (hunk: ReviewHunk) => number, lineCount: number): vscode.CodeLens[] {
  const { hunks, conflicts } = review.shown;
  if (!review.linesAgree || hunks.length > MOST_LENSES) {
    return [];
  }
  const at = (line: number): vscode.Range => {
    const last = Math.min(line, lineCount - 1);
    return new vscode.Range(last, 0, last, 0);
  };
  const warnings = conflicts.map((conflict) => words(at(conflict.afterStart), "Conflict: the file changed here meanwhile"));
  const choices = hunks.flatMap((hunk) => {
    const range = at(lineOf(hunk));
    const aim: Aim = { reviews: [review.id], hunk: hunk.id };
    const mark = review.marks.get(hunk.id);
    return mark === undefined
      ? [lens(range, "Accept Hunk", "linkspan.acceptHunk", aim), lens(range, "Reject Hunk", "linkspan.rejectHunk", aim)]
      : [words(range, mark === "accepted" ? "Accepted" : "Rejected"), lens(range, "Undo Mark", "linkspan.unmarkHunk", aim)];
  });
  return [...warnings, ...choices];
}

export function lens(range: vscode.Range, title: string, command: string, aim: Aim): vscode.CodeLens {
  return new vscode.CodeLens(range, { title, command, arguments: [aim] });
}

export function words(range: vscode.Range, title: string): vscode.CodeLens {
  return new vscode.CodeLens(range, { title, command: "" });
}
