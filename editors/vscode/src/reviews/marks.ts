// How decided hunks look in the proposed side: an accepted one has a mark in the gutter, a rejected one is dimmed too.

import * as vscode from "vscode";
import { documentOf } from "./files";
import { linesOf, type Mark, type Store } from "./store";

export function marks(context: vscode.ExtensionContext, store: Store): void {
  const icon = (name: Mark): vscode.Uri => vscode.Uri.joinPath(context.extensionUri, `media/${name}.svg`);
  const common = { isWholeLine: true, overviewRulerLane: vscode.OverviewRulerLane.Left };
  const types: Record<Mark, vscode.TextEditorDecorationType> = {
    accepted: vscode.window.createTextEditorDecorationType({ ...common, gutterIconPath: icon("accepted") }),
    rejected: vscode.window.createTextEditorDecorationType({
      ...common,
      gutterIconPath: icon("rejected"),
      opacity: "0.45",
      textDecoration: "line-through",
    }),
  };
  const update = (): void => {
    for (const review of store.pending) {
      const document = documentOf(review);
      for (const editor of vscode.window.visibleTextEditors.filter((each) => each.document === document)) {
        for (const [mark, type] of Object.entries(types)) {
          const marked = review.shown.hunks.filter((hunk) => review.marks.get(hunk.id) === mark);
          editor.setDecorations(type, marked.map((hunk) => {
            const [start, length] = linesOf(hunk, "proposed");
            return new vscode.Range(start, 0, start + Math.max(length, 1) - 1, Number.MAX_SAFE_INTEGER);
          }));
        }
      }
    }
  };
  context.subscriptions.push(
    ...Object.values(types),
    store.onChange(update),
    vscode.window.onDidChangeVisibleTextEditors(update),
  );
}
