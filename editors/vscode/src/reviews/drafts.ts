// The user's edits of the proposed side. They stay in the document until the user saves it or decides; then they are
// sent to the hub. Edits based on an older revision never replace a newer one unless the user saves them there.

import * as vscode from "vscode";
import { failureOf } from "../failure";
import type { Hub } from "../hub";
import { plain } from "../plain_text";
import { documentOf, reviewAt } from "./files";
import { type Review, type Store, withLf } from "./store";

export class Drafts {
  readonly #sending = new WeakMap<Review, Promise<string | undefined>>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
  ) {
    const update = (document: vscode.TextDocument): void => {
      const shown = reviewAt(store, document.uri);
      const review = shown?.side === "proposed" ? shown.review : undefined;
      const basis = document.isDirty ? (review?.basis ?? review?.shown.revision) : undefined;
      if (review !== undefined && review.basis !== basis) {
        review.basis = basis;
        store.touched(review);
      }
    };
    context.subscriptions.push(
      vscode.workspace.onDidChangeTextDocument(({ document }) => update(document)),
      store.onChange(({ kind, review }) => {
        const document = documentOf(review);
        if (document !== undefined && kind === "added") {
          update(document);
        } else if (document?.isDirty === false && kind === "proposed" && !isSent(review, document)) {
          // Until VS Code has loaded the new text, the user still types into the old one.
          review.basis = review.shown.revision - 1;
        }
      }),
    );
  }

  /** Sends unsaved edits to the hub; returns why they cannot be sent. */
  async flush(review: Review): Promise<string | undefined> {
    const document = documentOf(review);
    if (document?.isDirty !== true || isSent(review, document)) {
      return undefined;
    }
    return review.basis === undefined || review.basis === review.shown.revision
      ? this.send(review, document.getText())
      : `${review.name} changed while you were editing it. Your text is still in its tab: save it there to replace ` +
          "the new proposal, or revert the file to see it; then decide.";
  }

  /** Sends texts one at a time; returns why a text was not taken. */
  send(review: Review, text: string): Promise<string | undefined> {
    // A document has one kind of line ending; the hub knows the original ending of each line.
    const send = (): Promise<string | undefined> => this.#send(review, withLf(text));
    const sending = (this.#sending.get(review) ?? Promise.resolve()).then(send);
    this.#sending.set(review, sending);
    return sending;
  }

  async #send(review: Review, text: string): Promise<string | undefined> {
    const isCurrent = (): boolean => text === withLf(review.shown.proposed);
    const away = isCurrent() ? undefined : whyAway(this.hub);
    if (isCurrent() || away !== undefined) {
      return away;
    }
    try {
      const { revision: seen, digest: of } = review.shown;
      const asked = { review: review.id, revision: seen, digest: of, text };
      const result = await this.hub.request("review/edited", asked);
      if (result.kind === "taken" && result.revision >= review.shown.revision) {
        const { revision, digest, hunks } = result;
        review.shown = { ...review.shown, proposed: text, revision, digest, hunks, conflicts: [] };
        review.basis = review.basis === undefined ? undefined : revision;
        this.store.touched(review);
      }
      return isCurrent() ? undefined : `${review.name} changed while you were editing it. Review it again.`;
    } catch (error) {
      return `Your edits of ${review.name} were not saved: ${failureOf(error)}.`;
    }
  }
}

/** Why nothing can be sent to the hub now. A decision that is only queued in memory would be lost on reload. */
export function whyAway({ state }: Hub): string | undefined {
  if (state.kind === "failed") {
    return `Linkspan is not connected: ${plain(state.why)}`;
  }
  return state.kind === "attached" ? undefined : "Linkspan is reconnecting: try again in a moment.";
}

/** The hub already has the text of the document. */
export function isSent(review: Review, document: vscode.TextDocument): boolean {
  return withLf(document.getText()) === withLf(review.shown.proposed);
}
