// Her edits of the proposed side, on their way to the hub: one at a time, the latest wins, and what she typed on
// something older is never put over something newer unless she says so.

import * as vscode from "vscode";
import type { ReviewEditedResult } from "../../../protocol";
import { inBackground } from "../background";
import type { Hub } from "../hub";
import { isSame } from "../places";
import { addressOf, documentOf, placeOf } from "./files";
import { type Review, type Store, uniform } from "./store";

const REST_MS = 300;
const MINE = "Keep My Text";
const THEIRS = "Show the New Text";

interface Draft {
  /** Her text, where the hub does not have it yet. */
  unsent?: (() => string) | undefined;
  sending?: Promise<ReviewEditedResult["kind"]> | undefined;
  timer?: NodeJS.Timeout | undefined;
  /** Her document has yet to load a newer text. */
  behind: boolean;
  /** She edited something older than what there is now. */
  torn: boolean;
}

export class Drafts {
  readonly #drafts = new WeakMap<Review, Draft>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
    private readonly log: vscode.LogOutputChannel,
  ) {
    context.subscriptions.push(
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#changed(document)),
      vscode.workspace.onDidOpenTextDocument((document) => this.#changed(document)),
      store.onChange(({ kind, review }) => {
        const document = documentOf(review);
        if (kind === "removed") {
          clearTimeout(this.#of(review).timer);
        } else if (document !== undefined && kind === "texts") {
          this.#overtaken(review, document);
        } else if (document?.isDirty === true) {
          this.#changed(document);
        }
      }),
    );
  }

  /** She has text that the hub has not. */
  isUnsent(review: Review): boolean {
    const { unsent, torn } = this.#of(review);
    return torn || (unsent !== undefined && uniform(unsent()) !== uniform(review.shown.proposed));
  }

  isTorn(review: Review): boolean {
    return this.#of(review).torn;
  }

  written(review: Review, text: string): void {
    const draft = this.#of(review);
    draft.torn = false;
    draft.unsent = () => text;
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
    if (draft.torn || unsent === undefined || this.store.get(review.id) !== review) {
      return !draft.torn;
    }
    draft.unsent = undefined;
    draft.sending = this.#send(review, unsent()).finally(() => (draft.sending = undefined));
    const answer = await draft.sending;
    if (answer !== "taken") {
      draft.unsent ??= unsent;
    }
    if (answer === "stale") {
      this.tear(review);
    }
    return answer === "taken" && (await this.flush(review));
  }

  /** Says what happened to her text, and lets her choose. */
  tear(review: Review): void {
    this.#of(review).torn = true;
    const says =
      `The change to ${review.name} became another one while you edited it. Your text is in its tab, ` +
      "and goes nowhere until you choose.";
    const choose = async (): Promise<void> => {
      const choice = await vscode.window.showWarningMessage(says, MINE, THEIRS);
      if (choice === undefined || !this.#of(review).torn || this.store.get(review.id) !== review) {
        return;
      }
      this.#of(review).torn = false;
      const document = documentOf(review);
      if (choice === THEIRS && document !== undefined) {
        await replace(document, review.shown.proposed);
      }
      await this.flush(review);
    };
    inBackground(this.log, choose());
  }

  #of(review: Review): Draft {
    const draft = this.#drafts.get(review) ?? { behind: false, torn: false };
    this.#drafts.set(review, draft);
    return draft;
  }

  #changed(document: vscode.TextDocument): void {
    const place = placeOf(document.uri);
    const review = place?.side === "proposed" ? this.store.get(place.id) : undefined;
    if (review === undefined) {
      return;
    }
    const draft = this.#of(review);
    if (!document.isDirty) {
      draft.behind = false;
      draft.torn = false;
      return;
    }
    draft.unsent = () => document.getText();
    clearTimeout(draft.timer);
    if (draft.behind && !draft.torn) {
      this.tear(review);
    } else if (!draft.torn) {
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
      draft.behind = true;
    } else if (draft.unsent === undefined && draft.sending === undefined) {
      inBackground(this.log, replace(document, review.shown.proposed));
    } else if (draft.sending === undefined && !draft.torn) {
      this.tear(review);
    }
  }

  async #send(review: Review, text: string): Promise<ReviewEditedResult["kind"]> {
    const sent = uniform(text);
    if (sent === uniform(review.shown.proposed)) {
      await this.#save(review);
      return "taken";
    }
    review.sent = sent;
    try {
      const { revision } = review.shown;
      // Where the text had other endings, the hub gives each line its own back.
      const result = await this.hub.ask("review/edited", { review: review.id, revision, text: sent });
      if (result.kind === "taken") {
        this.store.edited(review, text, result.revision, result.hunks);
        await this.#save(review);
      }
      // An answer that was lost on its way is given again to a text that was taken already.
      return uniform(review.shown.proposed) === sent ? "taken" : result.kind;
    } finally {
      review.sent = undefined;
    }
  }

  /** Only her tab in front can be saved as it is: any other way formats it. The rest waits until it is in front. */
  async #save(review: Review): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const isSaved = document === undefined || !document.isDirty || !isSame(document.uri, addressOf(review, "proposed"));
    if (!isSaved && uniform(document.getText()) === uniform(review.shown.proposed)) {
      await vscode.commands.executeCommand("workbench.action.files.saveWithoutFormatting");
    }
  }
}

/** As one step that Ctrl+Z takes back. */
async function replace(document: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  await vscode.workspace.applyEdit(edit);
}
