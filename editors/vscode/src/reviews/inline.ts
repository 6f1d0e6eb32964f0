// The inline style: a change shown in the file itself. Lines that go are marked, lines that come stand below them.

import * as vscode from "vscode";
import { pathOf, uriOf, documentOf } from "../places";
import { lens, lensesOf } from "./lenses";
import { linesOf, type Review, type Store, uniform } from "./store";
import { canBeInline, isInline } from "./tabs";

export function inline(context: vscode.ExtensionContext, store: Store): void {
  const controller = vscode.comments.createCommentController("linkspan-inline", "Linkspan");
  const changed = new vscode.EventEmitter<void>();
  const going = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.removedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("diffEditorOverview.removedForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
  /** What stands below the lines of a review, and of which state of it. */
  const coming = new Map<Review, { revision: number; threads: vscode.CommentThread[] }>();

  const reviewsOf = (document: vscode.TextDocument): Review[] => {
    const path = isInline() && document.uri.scheme === "file" ? pathOf(document.uri) : undefined;
    return store.pending.filter((review) => review.shown.path === path && canBeInline(review));
  };

  function clear(review: Review): void {
    coming.get(review)?.threads.forEach((thread) => thread.dispose());
    coming.delete(review);
  }

  function paint(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const here = reviewsOf(editor.document).filter((review) => isBase(editor.document, review));
      const ranges = here.flatMap((review) => review.shown.hunks.filter((hunk) => hunk.beforeCount > 0));
      editor.setDecorations(going, ranges.map(({ beforeStart: start, beforeCount }) => new vscode.Range(start, 0, start + beforeCount - 1, 0)));
    }
    for (const review of new Set([...store.pending, ...coming.keys()])) {
      const document = documentOf(review.shown.path);
      const isShown = document !== undefined && reviewsOf(document).includes(review) && isBase(document, review);
      if (!isShown || coming.get(review)?.revision !== review.shown.revision) {
        clear(review);
      }
      if (isShown && !coming.has(review)) {
        coming.set(review, { revision: review.shown.revision, threads: threadsOf(controller, review) });
      }
    }
    changed.fire();
  }

  const provider: vscode.CodeLensProvider = {
    onDidChangeCodeLenses: changed.event,
    provideCodeLenses: (document) =>
      reviewsOf(document).flatMap((review) => {
        const top = lens(new vscode.Range(0, 0, 0, 0), `Open the Change of ${review.agent}`, "linkspan.openDiff", {
          reviews: [review.id],
        });
        return isBase(document, review) ? [top, ...lensesOf(review, (hunk) => hunk.beforeStart, document.lineCount)] : [top];
      }),
  };
  context.subscriptions.push(
    controller,
    changed,
    going,
    vscode.languages.registerCodeLensProvider({ scheme: "file" }, provider),
    store.onChange(paint),
    vscode.window.onDidChangeVisibleTextEditors(paint),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (reviewsOf(document).length > 0) {
        paint();
      }
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("linkspan.review.style")) {
        paint();
      }
    }),
  );
}

function isBase(document: vscode.TextDocument, review: Review): boolean {
  return uniform(document.getText()) === uniform(review.shown.base);
}

function threadsOf(controller: vscode.CommentController, review: Review): vscode.CommentThread[] {
  const lines = review.shown.proposed.split(/\r?\n/);
  return review.shown.hunks.filter((hunk) => hunk.afterCount > 0).map((hunk) => {
    const { start, count: length } = linesOf(hunk, "proposed");
    const code = lines.slice(start, start + length).join("\n");
    const fence = "`".repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)));
    const name = /[^/\\.]*$/.exec(review.shown.path)?.[0] ?? "";
    const body = new vscode.MarkdownString(`${fence}${name}\n${code}\n${fence}`);
    const line = Math.max(0, hunk.beforeStart + hunk.beforeCount - 1);
    const thread = controller.createCommentThread(uriOf(review.shown.path), new vscode.Range(line, 0, line, 0), [
      { body, mode: vscode.CommentMode.Preview, author: { name: review.agent } },
    ]);
    thread.canReply = false;
    thread.label = "Lines that come here";
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    return thread;
  });
}
