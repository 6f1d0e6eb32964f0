// A newer revision meets the user's work on the previous one: it is shown at once if nothing would be lost, and
// otherwise when the user chooses.

import type { ReviewShow } from "../../../protocol";
import type { Article } from "./article";
import type { StashedEdits } from "./stashed_edits";
import type { Draft } from "../diff/view";
import { withoutText } from "../list/reviews";
import type { DiffPane } from "./diff_pane";
import { whatChanged } from "../shell/labels";

export interface RevisionConflictDependencies {
  readonly article: Article;
  readonly pane: DiffPane;
  readonly aside: StashedEdits;
  mount(shown: ReviewShow, draft: Draft | undefined): void;
}

export class RevisionConflict {
  /** The change made the hub refuse a decision, which the next notice has to mention. */
  blockedDecision = false;
  readonly #deps: RevisionConflictDependencies;
  #newer: ReviewShow | null = null;

  constructor(means: RevisionConflictDependencies) {
    this.#deps = means;
  }

  /** The newer revision that waits until the user finishes writing or chooses a text. */
  get newer(): ReviewShow | null {
    return this.#newer;
  }

  meet(newer: ReviewShow): void {
    const { article, pane } = this.#deps;
    const draft = pane.view?.draft();
    this.#newer = newer;
    article.setRevision(newer.revision);
    if (draft?.text === newer.proposed) {
      // The newer proposal already is the user's text.
      this.#renew(withoutText(draft));
    } else if (draft?.text !== undefined || pane.view?.isEditing() === true) {
      article.notice("The proposal changed while you were editing. Your text is unchanged. Which one do you want?", [
        { action: "keep-text", label: "Keep my text", press: () => this.#renew(pane.view?.draft()) },
        { action: "show-proposal", label: "Show the new proposal", press: () => this.#showProposal() },
      ]);
    } else if (pane.hasCommentInHand()) {
      article.notice("There is a newer version of this change. It will be shown when you save or close your comment.", [
        { action: "show-proposal", label: "Show it now", press: () => this.#renew(pane.view?.draft()) },
      ]);
    } else {
      this.#renew(draft);
    }
  }

  /** The choice is no longer needed. */
  drop(): void {
    if (this.#newer !== null) {
      this.#newer = null;
      this.#deps.article.notice(null);
    }
  }

  /** The newer revision can be shown once nothing would be lost. */
  draftChanged(): void {
    const { pane } = this.#deps;
    if (this.#newer !== null) {
      // Not from within an update of the diff.
      queueMicrotask(() => {
        const draft = pane.view?.draft();
        // An edit that was undone can still be redone: while editing, the choice is the user's.
        const isWriting = pane.view?.isEditing() === true || pane.hasCommentInHand();
        if (draft !== undefined && !isWriting) {
          this.#renew(draft);
        }
      });
    }
  }

  #showProposal(): void {
    const draft = this.#deps.pane.view?.draft();
    if (draft !== undefined) {
      this.#deps.aside.set(draft);
      this.#renew(withoutText(draft));
    }
  }

  /** Shows the newer revision, with what still fits of the draft. */
  #renew(draft: Draft | undefined): void {
    const newer = this.#newer;
    const before = this.#deps.pane.shown;
    if (newer === null) {
      return;
    }
    this.#newer = null;
    this.#deps.mount(newer, draft);
    const undecided = this.blockedDecision ? "Your decision was not submitted. " : "";
    this.blockedDecision = false;
    this.#deps.article.notice(`${undecided}${whatChanged(before, newer)} Check it again before you decide.`);
  }
}
