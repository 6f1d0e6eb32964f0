// Her edits of the proposed side on their way to the hub: one at a time, the latest wins. What she typed on something
// older is never put over something newer unless she saves it there herself.

import * as vscode from "vscode";
import { inBackground } from "../background";
import { applyTo, differences } from "../edits";
import type { Hub } from "../hub";
import { documentOf, placeOf } from "./files";
import { type Review, type Store, uniform } from "./store";

const REST_MS = 300;

interface Draft {
  /** Her text, where the hub may not have it yet. */
  unsent?: (() => string) | undefined;
  sending?: Promise<boolean> | undefined;
  timer?: NodeJS.Timeout;
  /** Her document has yet to load a newer text. */
  isBehind?: boolean;
  /** She edited something older than what there is now. */
  isTorn?: boolean;
}

export class Drafts {
  readonly #drafts = new WeakMap<Review, Draft>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const look = (document: vscode.TextDocument): void => this.#look(document);
    context.subscriptions.push(
      vscode.workspace.onDidChangeTextDocument(({ document }) => look(document)),
      vscode.workspace.onDidOpenTextDocument(look),
      store.onChange(({ kind, review }) => {
        const document = documentOf(review);
        if (document !== undefined && kind === "proposed") {
          this.#overtaken(review, document);
        } else if (document?.isDirty === true && kind !== "removed") {
          look(document);
        }
      }),
    );
  }

  /** She has text that the hub has not. */
  isUnsent(review: Review): boolean {
    const { unsent, isTorn } = this.#of(review);
    const isOnItsWay = isTorn === true || review.sent !== undefined;
    return isOnItsWay || (unsent !== undefined && uniform(unsent()) !== uniform(review.shown.proposed));
  }

  /** She saved it, over something newer if need be. */
  written(review: Review, text: string): void {
    Object.assign(this.#of(review), { isTorn: false, unsent: () => text });
    inBackground(this.log, this.flush(review));
  }

  /** Sends what there is; whether the hub has all of her text now. */
  async flush(review: Review): Promise<boolean> {
    const draft = this.#of(review);
    clearTimeout(draft.timer);
    while (draft.sending !== undefined) {
      await draft.sending;
    }
    const { unsent } = draft;
    if (draft.isTorn === true || unsent === undefined) {
      return draft.isTorn !== true;
    }
    draft.unsent = undefined;
    draft.sending = this.#send(review, unsent()).finally(() => (draft.sending = undefined));
    const isTaken = await draft.sending;
    if (!isTaken) {
      draft.unsent ??= unsent;
    }
    return isTaken && (await this.flush(review));
  }

  async #send(review: Review, text: string): Promise<boolean> {
    const sent = uniform(text);
    if (sent !== uniform(review.shown.proposed)) {
      review.sent = sent;
      const { revision, proposed } = review.shown;
      // Where they were mixed the hub gives each line the ending it had; a document knows only one.
      const isMixed = proposed.includes("\r\n") && /(^|[^\r])\n/.test(proposed);
      const asked = this.hub.ask("review/edited", { review: review.id, revision, text: isMixed ? sent : text });
      const result = await asked.finally(() => (review.sent = undefined));
      if (result.kind === "taken") {
        const { revision, hunks } = result;
        review.shown = { ...review.shown, proposed: text, revision, hunks, conflicts: [] };
        this.store.touched(review);
      } else if (uniform(review.shown.proposed) !== sent) {
        if (result.kind === "stale") {
          this.#tear(review);
        }
        return false;
      }
    }
    const document = documentOf(review);
    // Only the tab in front can be saved as it is, any other way would format it. The rest stays unsaved.
    if (document?.isDirty === true && vscode.window.activeTextEditor?.document === document) {
      if (uniform(document.getText()) === sent) {
        await vscode.commands.executeCommand("workbench.action.files.saveWithoutFormatting");
      }
    }
    return true;
  }

  #of(review: Review): Draft {
    const draft = this.#drafts.get(review) ?? {};
    this.#drafts.set(review, draft);
    return draft;
  }

  /** A document changed, or was found. */
  #look(document: vscode.TextDocument): void {
    const place = placeOf(document.uri);
    const review = place?.side === "proposed" ? this.store.get(place.id) : undefined;
    if (review === undefined) {
      return;
    }
    const draft = this.#of(review);
    if (!document.isDirty) {
      // The first key in a clean document comes before the word that it is not clean any more.
      const isLoaded = uniform(document.getText()) === uniform(review.shown.proposed);
      Object.assign(draft, isLoaded && { isBehind: false, isTorn: false });
      return;
    }
    draft.unsent = () => document.getText();
    clearTimeout(draft.timer);
    if (draft.isBehind === true) {
      this.#tear(review);
    } else {
      draft.timer = setTimeout(() => inBackground(this.log, this.flush(review)), REST_MS);
    }
  }

  /** A newer text came. VS Code loads it by itself where the document is clean. */
  #overtaken(review: Review, document: vscode.TextDocument): void {
    const draft = this.#of(review);
    if (uniform(document.getText()) === uniform(review.shown.proposed)) {
      return;
    }
    if (!document.isDirty) {
      draft.isBehind = true;
    } else if (draft.unsent === undefined && draft.sending === undefined) {
      inBackground(this.log, applyTo(document, differences(document, review.shown.proposed)));
    } else if (draft.sending === undefined) {
      this.#tear(review);
    }
  }

  #tear(review: Review): void {
    const draft = this.#of(review);
    if (draft.isTorn !== true) {
      draft.isTorn = true;
      const says =
        `The change to ${review.name} became another one while you edited it. Your text is still in its tab: ` +
        "save it there to put it over the new one, or revert the file to see the new one.";
      inBackground(this.log, vscode.window.showWarningMessage(says));
    }
  }
}
