// What she says about single lines of the proposed side: it goes to the agent with her decision.

import * as vscode from "vscode";
import { isSame } from "../places";
import { addressOf, placeOf } from "./files";
import { plain, type Review, type Store } from "./store";

export function comments(context: vscode.ExtensionContext, store: Store): void {
  const controller = vscode.comments.createCommentController("linkspan", "Linkspan");
  const threads = new Map<Review, Set<vscode.CommentThread>>();
  controller.options = { prompt: "Say something about these lines", placeHolder: "The agent hears it with your decision" };
  controller.commentingRangeProvider = {
    provideCommentingRanges: (document) => {
      const review = reviewOf(document.uri);
      return review?.linesAgree === true ? [new vscode.Range(0, 0, document.lineCount - 1, 0)] : [];
    },
  };

  function reviewOf(uri: vscode.Uri): Review | undefined {
    const place = placeOf(uri);
    return place?.side === "proposed" ? store.get(place.id) : undefined;
  }

  /** What the threads of a review say now. */
  function keep(review: Review): void {
    const own = [...(threads.get(review) ?? [])];
    review.comments = own.flatMap(({ range, comments: said }) =>
      said.map(({ body }) => ({ line: (range?.start.line ?? 0) + 1, text: typeof body === "string" ? body : body.value })),
    );
    store.touched(review);
  }

  function add(review: Review, thread: vscode.CommentThread, text: string): void {
    thread.comments = [...thread.comments, { body: text, mode: vscode.CommentMode.Preview, author: { name: "You" } }];
    thread.label = `For ${plain(review.shown.agent)}, with your decision`;
    threads.set(review, (threads.get(review) ?? new Set()).add(thread));
  }

  context.subscriptions.push(
    controller,
    vscode.commands.registerCommand("linkspan.saveComment", ({ thread, text }: vscode.CommentReply) => {
      const review = reviewOf(thread.uri);
      if (review !== undefined) {
        add(review, thread, text);
        keep(review);
      }
    }),
    vscode.commands.registerCommand("linkspan.deleteComment", (comment: vscode.Comment) => {
      for (const [review, own] of threads) {
        const thread = [...own].find((each) => each.comments.includes(comment));
        if (thread !== undefined) {
          thread.comments = thread.comments.filter((each) => each !== comment);
          if (thread.comments.length === 0) {
            own.delete(thread);
            thread.dispose();
          }
          keep(review);
        }
      }
    }),
    // A comment stays with its line.
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      const review = reviewOf(document.uri);
      for (const thread of (review && threads.get(review)) ?? []) {
        const line = thread.range?.start.line ?? 0;
        const above = contentChanges.filter(({ range }) => range.end.line < line || (range.end.line === line && range.end.character === 0 && range.start.line < line));
        const by = above.reduce((sum, { range, text }) => sum + text.split("\n").length - 1 - (range.end.line - range.start.line), 0);
        if (by !== 0) {
          thread.range = new vscode.Range(line + by, 0, line + by, 0);
        }
      }
    }),
    store.onChange(({ kind, review }) => {
      if (kind === "added") {
        for (const { line, text } of review.comments) {
          const range = new vscode.Range(line - 1, 0, line - 1, 0);
          const uri = addressOf(review, "proposed");
          const there = [...(threads.get(review) ?? [])].find((each) => each.range?.isEqual(range) === true && isSame(each.uri, uri));
          add(review, there ?? controller.createCommentThread(uri, range, []), text);
        }
      } else if (kind === "removed") {
        threads.get(review)?.forEach((thread) => thread.dispose());
        threads.delete(review);
      }
    }),
  );
}
