// Her edits of the proposed side: they are in her document until she saves it or decides; then the hub gets them. What
// she typed on something older is never put over something newer unless she saves it there herself.

import * as vscode from "vscode";
import { messageOf } from "../background";
import type { Hub } from "../hub";
import { plain } from "../wording";
import { documentOf, placeOf } from "./files";
import { type Review, type Store, uniform } from "./store";

export class Drafts {
  readonly #sending = new WeakMap<Review, Promise<string | undefined>>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
  ) {
    const look = (document: vscode.TextDocument): void => {
      const place = placeOf(document.uri);
      const review = place?.side === "proposed" ? store.get(place.id) : undefined;
      const basis = document.isDirty ? (review?.basis ?? review?.shown.revision) : undefined;
      if (review !== undefined && review.basis !== basis) {
        review.basis = basis;
        store.touched(review);
      }
    };
    context.subscriptions.push(
      vscode.workspace.onDidChangeTextDocument(({ document }) => look(document)),
      store.onChange(({ kind, review }) => {
        const document = documentOf(review);
        if (document !== undefined && kind === "added") {
          look(document);
        } else if (document?.isDirty === false && kind === "proposed" && !isSent(review, document)) {
          // What she types before VS Code has loaded the new text is still typed into the old one.
          review.basis = review.shown.revision - 1;
        }
      }),
    );
  }

  /** Gives the hub what she typed; or says why that is not to be. */
  async flush(review: Review): Promise<string | undefined> {
    const document = documentOf(review);
    if (document?.isDirty !== true || isSent(review, document)) {
      return undefined;
    }
    return review.basis === undefined || review.basis === review.shown.revision
      ? this.send(review, document.getText())
      : `${review.name} changed while you edited it: your text is still in its tab. Save it there to put it over ` +
          "the new one, or revert the file to see the new one, then decide.";
  }

  /** One after the other; says why a text was not taken. */
  send(review: Review, text: string): Promise<string | undefined> {
    // A document has one line ending; the hub knows which one each line had.
    const send = (): Promise<string | undefined> => this.#send(review, uniform(text));
    const sending = (this.#sending.get(review) ?? Promise.resolve()).then(send);
    this.#sending.set(review, sending);
    return sending;
  }

  async #send(review: Review, text: string): Promise<string | undefined> {
    const isThere = (): boolean => text === uniform(review.shown.proposed);
    const away = isThere() ? undefined : whyAway(this.hub);
    if (isThere() || away !== undefined) {
      return away;
    }
    try {
      const { revision: seen, digest: of } = review.shown;
      const asked = { review: review.id, revision: seen, digest: of, text };
      const result = await this.hub.ask("review/edited", asked);
      if (result.kind === "taken" && result.revision >= review.shown.revision) {
        const { revision, digest, hunks } = result;
        review.shown = { ...review.shown, proposed: text, revision, digest, hunks, conflicts: [] };
        review.basis = review.basis === undefined ? undefined : revision;
        this.store.touched(review);
      }
      return isThere() ? undefined : `${review.name} changed while you edited it: look again.`;
    } catch (error) {
      return `What you edited in ${review.name} was not taken: ${plain(messageOf(error))}.`;
    }
  }
}

/** Why the hub can be told nothing now. What only waits in memory would be lost by a reload. */
export function whyAway({ state }: Hub): string | undefined {
  if (state.kind === "failed") {
    return `Linkspan is not connected: ${plain(state.why)}`;
  }
  return state.kind === "attached" ? undefined : "Linkspan is reconnecting: try again in a moment.";
}

/** The hub has what stands there. */
export function isSent(review: Review, document: vscode.TextDocument): boolean {
  return uniform(document.getText()) === uniform(review.shown.proposed);
}
