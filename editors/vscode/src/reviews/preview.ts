// The inline style: one editor with the proposed text, which the user can edit. Added lines are marked; removed lines are
// written at the end of the line before them, because an extension cannot put lines between those of a document.

import * as vscode from "vscode";
import { documentOf, reviewAt } from "./files";
import { linesOf, type Store } from "./store";
import { isInline } from "./tabs";

const MAX_REMOVED = 160;

export function preview(context: vscode.ExtensionContext, store: Store): void {
  const color = (name: string): vscode.ThemeColor => new vscode.ThemeColor(name);
  const added = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: color("diffEditor.insertedLineBackground"),
    overviewRulerColor: color("diffEditorOverview.insertedForeground"),
  });
  const removed = vscode.window.createTextEditorDecorationType({
    overviewRulerColor: color("diffEditorOverview.removedForeground"),
    after: { margin: "0 0 0 2em", color: color("descriptionForeground"), backgroundColor: color("diffEditor.removedLineBackground") },
  });
  const update = (): void => {
    for (const review of store.pending.filter(isInline)) {
      const document = documentOf(review);
      const base = review.shown.base.split(/\r?\n/);
      for (const editor of vscode.window.visibleTextEditors.filter((each) => each.document === document)) {
        const { hunks } = review.shown;
        const green = hunks.filter(({ afterCount }) => afterCount > 0);
        editor.setDecorations(added, green.map((hunk) => {
          const [start, length] = linesOf(hunk, "proposed");
          return new vscode.Range(start, 0, start + length - 1, 0);
        }));
        editor.setDecorations(removed, hunks.filter(({ beforeCount }) => beforeCount > 0).map((hunk) => {
          const [start, length] = linesOf(hunk, "base");
          const text = base.slice(start, start + length).map((line) => line.trim()).join(" ⏎ ");
          const line = Math.min(Math.max(hunk.afterStart - (hunk.afterCount > 0 ? 0 : 1), 0), editor.document.lineCount - 1);
          const { end } = editor.document.lineAt(line).range;
          const contentText = `− ${text.length > MAX_REMOVED ? `${text.slice(0, MAX_REMOVED)}…` : text}`;
          return { range: new vscode.Range(end, end), renderOptions: { after: { contentText } } };
        }));
      }
    }
  };
  const decorations: vscode.FileDecorationProvider = {
    // The tab has the name of the file, and may be next to the tab of the file.
    provideFileDecoration: (uri) => {
      const review = reviewAt(store, uri)?.review;
      return review !== undefined && isInline(review) ? { badge: "←", tooltip: `Proposed by ${review.agent}` } : undefined;
    },
  };
  context.subscriptions.push(
    added,
    removed,
    store.onChange(update),
    vscode.window.onDidChangeVisibleTextEditors(update),
    vscode.window.registerFileDecorationProvider(decorations),
  );
}
