// The inline style: a change shown in the file itself. Lines that come stand above, lines that go are marked below them.

import * as vscode from "vscode";
import { pathOf, uriOf } from "../places";
import { lens, lensesOf } from "./lenses";
import { linesOf, type Review, type Store } from "./store";
import { canBeInline, isInline } from "./tabs";

/** Of one hunk; the diff shows the rest. */
const MOST_LINES = 200;

export function inline(context: vscode.ExtensionContext, store: Store): void {
  const controller = vscode.comments.createCommentController("linkspan-inline", "Linkspan");
  const changed = new vscode.EventEmitter<void>();
  const going = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.removedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("diffEditorOverview.removedForeground"),
  });
  let painted: vscode.TextEditor[] = [];
  /** What stands above the lines of a review, and of which revision it is. */
  const coming = new Map<Review, { revision: number; threads: vscode.CommentThread[] }>();

  const reviewsOf = ({ uri }: vscode.TextDocument): Review[] => {
    const path = uri.scheme === "file" ? pathOf(uri) : undefined;
    const isHere = (review: Review): boolean => review.shown.path === path && !review.shown.omitted && isInline(review);
    return path === undefined ? [] : store.pending.filter(isHere);
  };

  function paint(): void {
    if (!store.pending.some(isInline) && painted.length === 0 && coming.size === 0) {
      return;
    }
    const seen = new Set<Review>();
    painted = vscode.window.visibleTextEditors.filter((editor) => {
      const reviews = reviewsOf(editor.document).filter(canBeInline);
      const hunks = reviews.flatMap(({ shown }) => shown.hunks);
      const gone = hunks.map((hunk) => linesOf(hunk, "base")).filter(([, length]) => length > 0);
      if (gone.length > 0 || painted.includes(editor)) {
        editor.setDecorations(going, gone.map(([start, length]) => new vscode.Range(start, 0, start + length - 1, 0)));
      }
      reviews.forEach((review) => seen.add(review));
      return gone.length > 0;
    });
    for (const review of new Set([...seen, ...coming.keys()])) {
      const isShown = seen.has(review);
      if (!isShown || coming.get(review)?.revision !== review.shown.revision) {
        coming.get(review)?.threads.forEach((thread) => thread.dispose());
        coming.delete(review);
      }
      if (isShown && !coming.has(review)) {
        coming.set(review, { revision: review.shown.revision, threads: threadsOf(controller, review) });
      }
    }
    changed.fire();
  }

  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: (document) => [
      ...reviewsOf(document).map((review) =>
        lens(0, `Open the Change of ${review.agent}`, "linkspan.openDiff", { reviews: [review.id] }),
      ),
      ...reviewsOf(document).filter(canBeInline).flatMap((review) => lensesOf(review, "base", document.lineCount)),
    ],
  };
  context.subscriptions.push(
    controller,
    changed,
    going,
    vscode.languages.registerCodeLensProvider({ scheme: "file" }, provider),
    store.onChange(paint),
    vscode.window.onDidChangeVisibleTextEditors(paint),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("linkspan") && paint()),
    vscode.workspace.onDidChangeTextDocument(({ document }) => reviewsOf(document).length > 0 && paint()),
  );
}

function threadsOf(controller: vscode.CommentController, { shown, agent }: Review): vscode.CommentThread[] {
  const lines = shown.proposed.split(/\r?\n/);
  const language = /\.([A-Za-z0-9+-]+)$/.exec(shown.path)?.[1] ?? "";
  return shown.hunks.filter((hunk) => hunk.afterCount > 0).map((hunk) => {
    const end = hunk.afterStart + Math.min(hunk.afterCount, MOST_LINES);
    const code = [...lines.slice(hunk.afterStart, end), ...(hunk.afterCount > MOST_LINES ? ["…"] : [])].join("\n");
    // Longer than any in the code, which must not end it.
    const fence = ["```", ...(code.match(/`{3,}/g) ?? []).map((run) => `${run}\``)].sort().at(-1) ?? "";
    const body = new vscode.MarkdownString(`${fence}${language}\n${code}\n${fence}`);
    // A thread stands below its line: that is the line above the hunk.
    const line = hunk.beforeStart - 1;
    const comment = { body, mode: vscode.CommentMode.Preview, author: { name: agent } };
    const range = new vscode.Range(Math.max(0, line), 0, Math.max(0, line), 0);
    const thread = controller.createCommentThread(uriOf(shown.path), range, [comment]);
    if (line < 0) {
      // Above the first line is only what is about the whole file.
      (thread as { range: vscode.Range | undefined }).range = undefined;
    }
    thread.canReply = false;
    thread.label = "Lines that come here";
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    return thread;
  });
}
