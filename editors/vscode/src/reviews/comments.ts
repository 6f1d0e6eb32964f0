// Comments on lines of the proposed side. The agent receives them with the decision.

import * as vscode from "vscode";
import { reviewAt } from "./files";
import type { Review, Store } from "./store";

const SENT = "Sent to the agent with your decision";

export function comments(context: vscode.ExtensionContext, store: Store): void {
  const controller = vscode.comments.createCommentController("linkspan", "Linkspan");
  const threads = new Map<Review, Set<vscode.CommentThread>>();
  const threadsOf = (review: Review | undefined): vscode.CommentThread[] =>
    review === undefined ? [] : [...(threads.get(review) ?? [])];
  const reviewOf = (uri: vscode.Uri): Review | undefined => {
    const shown = reviewAt(store, uri);
    return shown?.side === "proposed" ? shown.review : undefined;
  };
  // The box has one text for all documents: that of the active one, in which the user is about to comment.
  const prompt = (): void => {
    const active = vscode.window.activeTextEditor;
    const review = active && reviewOf(active.document.uri);
    controller.options = { prompt: "Comment", placeHolder: review === undefined ? SENT : destination(review) };
  };
  prompt();
  controller.commentingRangeProvider = {
    provideCommentingRanges: ({ uri, lineCount }) =>
      reviewOf(uri)?.linesAgree === true ? [new vscode.Range(0, 0, lineCount - 1, 0)] : [],
  };

  function add(review: Review, thread: vscode.CommentThread, text: string): void {
    const contextValue = isReceived(review) ? "sent" : "kept";
    const comment = { body: text, mode: vscode.CommentMode.Preview, author: { name: "You" }, contextValue };
    thread.comments = [...thread.comments, comment];
    thread.label = destination(review);
    threads.set(review, new Set(threadsOf(review)).add(thread));
  }

  function save(review: Review): void {
    review.comments = threadsOf(review).flatMap((thread) =>
      thread.comments.map((comment) => ({ line: lineOf(thread) + 1, text: textOf(comment) })),
    );
    store.touched(review);
  }

  context.subscriptions.push(
    controller,
    vscode.window.onDidChangeActiveTextEditor(prompt),
    vscode.commands.registerCommand("linkspan.saveComment", ({ thread, text }: vscode.CommentReply) => {
      const review = reviewOf(thread.uri);
      if (review !== undefined) {
        add(review, thread, text);
        save(review);
      }
    }),
    vscode.commands.registerCommand("linkspan.copyComment", (comment: vscode.Comment) =>
      vscode.env.clipboard.writeText(textOf(comment)),
    ),
    vscode.commands.registerCommand("linkspan.deleteComment", (comment: vscode.Comment) => {
      for (const [review, own] of threads) {
        for (const thread of [...own].filter((each) => each.comments.includes(comment))) {
          thread.comments = thread.comments.filter((each) => each !== comment);
          if (thread.comments.length === 0 && own.delete(thread)) {
            thread.dispose();
          }
          save(review);
        }
      }
    }),
    // Move each comment along with its line.
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      const review = reviewOf(document.uri);
      for (const thread of threadsOf(review)) {
        const start = new vscode.Position(lineOf(thread), 0);
        const above = contentChanges.filter(({ range }) => range.end.isBeforeOrEqual(start));
        const by = above.reduce((sum, { range, text }) => sum + text.split("\n").length - 1 - lengthOf(range), 0);
        if (review !== undefined && by !== 0) {
          thread.range = new vscode.Range(start.translate(by), start.translate(by));
          save(review);
        }
      }
    }),
    store.onChange(({ kind, review }) => {
      prompt();
      if (kind === "added") {
        for (const { line, text } of review.comments) {
          const existing = threadsOf(review).find((thread) => lineOf(thread) === line - 1);
          const range = new vscode.Range(line - 1, 0, line - 1, 0);
          add(review, existing ?? controller.createCommentThread(review.uri, range, []), text);
        }
      } else if (kind === "removed") {
        threadsOf(review).forEach((thread) => thread.dispose());
        threads.delete(review);
      }
    }),
  );
}

/** Where a comment goes, before the user types it. */
function destination(review: Review): string {
  return isReceived(review)
    ? (review.note("comments") ?? `Sent to ${review.agent} with your decision`)
    : `Kept in history; ${review.agent} cannot receive it`;
}

function isReceived({ shown }: Review): boolean {
  return shown.receives?.comments !== false;
}

function textOf({ body }: vscode.Comment): string {
  return typeof body === "string" ? body : body.value;
}

function lengthOf({ start, end }: vscode.Range): number {
  return end.line - start.line;
}

function lineOf(thread: vscode.CommentThread): number {
  return thread.range?.start.line ?? 0;
}
