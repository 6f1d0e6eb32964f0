// The inline style: a change shown in the file itself. Added lines are shown above the removed lines, which are marked.

import * as vscode from "vscode";
import { pathOf, uriOf } from "../uris";
import { lens, lensesOf, noteOf } from "./lenses";
import { linesOf, type Review, type Store } from "./store";
import { canBeInline, isInline } from "./tabs";

/** Lines shown of one hunk; the diff shows the rest. */
const MAX_LINES = 200;

export function inline(context: vscode.ExtensionContext, store: Store): void {
  const controller = vscode.comments.createCommentController("linkspan-inline", "Linkspan");
  const changed = new vscode.EventEmitter<void>();
  const removedLines = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.removedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("diffEditorOverview.removedForeground"),
  });
  let decorated: vscode.TextEditor[] = [];
  /** The threads that show the added lines of a review, and its revision. */
  const addedLines = new Map<Review, { revision: number; threads: vscode.CommentThread[] }>();

  const reviewsOf = ({ uri }: vscode.TextDocument): Review[] => {
    const path = uri.scheme === "file" ? pathOf(uri) : undefined;
    const isHere = (review: Review): boolean => review.shown.path === path && !review.shown.omitted && isInline(review);
    return path === undefined ? [] : store.pending.filter(isHere);
  };

  function update(): void {
    if (!store.pending.some(isInline) && decorated.length === 0 && addedLines.size === 0) {
      return;
    }
    const visible = new Set<Review>();
    decorated = vscode.window.visibleTextEditors.filter((editor) => {
      const reviews = reviewsOf(editor.document).filter(canBeInline);
      const hunks = reviews.flatMap(({ shown }) => shown.hunks);
      const removed = hunks.map((hunk) => linesOf(hunk, "base")).filter(([, length]) => length > 0);
      if (removed.length > 0 || decorated.includes(editor)) {
        editor.setDecorations(removedLines, removed.map(([start, length]) => new vscode.Range(start, 0, start + length - 1, 0)));
      }
      reviews.forEach((review) => visible.add(review));
      return removed.length > 0;
    });
    for (const review of new Set([...visible, ...addedLines.keys()])) {
      const isShown = visible.has(review);
      if (!isShown || addedLines.get(review)?.revision !== review.shown.revision) {
        addedLines.get(review)?.threads.forEach((thread) => thread.dispose());
        addedLines.delete(review);
      }
      if (isShown && !addedLines.has(review)) {
        addedLines.set(review, { revision: review.shown.revision, threads: threadsOf(controller, review) });
      }
    }
    changed.fire();
  }

  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: (document) => [
      ...reviewsOf(document).map((review) =>
        lens(0, `Open the Change by ${review.agent}`, "linkspan.openDiff", { reviews: [review.id] }),
      ),
      ...reviewsOf(document).filter(canBeInline).flatMap((review) => [
        ...lensesOf(review, "base", document.lineCount),
        ...noteOf(review),
      ]),
    ],
  };
  context.subscriptions.push(
    controller,
    changed,
    removedLines,
    vscode.languages.registerCodeLensProvider({ scheme: "file" }, provider),
    store.onChange(update),
    vscode.window.onDidChangeVisibleTextEditors(update),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("linkspan") && update()),
    vscode.workspace.onDidChangeTextDocument(({ document }) => reviewsOf(document).length > 0 && update()),
  );
}

function threadsOf(controller: vscode.CommentController, { shown, agent }: Review): vscode.CommentThread[] {
  const lines = shown.proposed.split(/\r?\n/);
  const language = /\.([A-Za-z0-9+-]+)$/.exec(shown.path)?.[1] ?? "";
  return shown.hunks.filter((hunk) => hunk.afterCount > 0).map((hunk) => {
    const end = hunk.afterStart + Math.min(hunk.afterCount, MAX_LINES);
    const code = [...lines.slice(hunk.afterStart, end), ...(hunk.afterCount > MAX_LINES ? ["…"] : [])].join("\n");
    // Longer than any fence in the code, so that none closes it early.
    const fence = ["```", ...(code.match(/`{3,}/g) ?? []).map((run) => `${run}\``)].sort().at(-1) ?? "";
    const body = new vscode.MarkdownString(`${fence}${language}\n${code}\n${fence}`);
    // A thread is shown below its line, so this is the line above the hunk.
    const line = hunk.beforeStart - 1;
    const comment = { body, mode: vscode.CommentMode.Preview, author: { name: agent } };
    const range = new vscode.Range(Math.max(0, line), 0, Math.max(0, line), 0);
    const thread = controller.createCommentThread(uriOf(shown.path), range, [comment]);
    if (line < 0) {
      // Only a thread without a range is shown above the first line.
      (thread as { range: vscode.Range | undefined }).range = undefined;
    }
    thread.canReply = false;
    thread.label = "Added lines";
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    return thread;
  });
}
