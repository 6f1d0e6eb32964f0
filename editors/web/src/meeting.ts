// A newer revision meets what the person did to the one before: shown at once where nothing of hers is in the way, and
// by her own word where it is.

import type { ReviewShow } from "../../protocol";
import type { Article } from "./article";
import type { Aside } from "./aside";
import type { Draft } from "./diff/view";
import { withoutText } from "./reviews";
import type { Showing } from "./showing";
import { whatChanged } from "./wording";

export interface MeetingMeans {
  readonly article: Article;
  readonly showing: Showing;
  readonly aside: Aside;
  mount(shown: ReviewShow, draft: Draft | undefined): void;
}

export class Meeting {
  /** A decision met what changed, and that is to be said along with it. */
  metDecision = false;
  readonly #means: MeetingMeans;
  #newer: ReviewShow | null = null;

  constructor(means: MeetingMeans) {
    this.#means = means;
  }

  /** What waits until she is done with what she writes, or says which text she wants. */
  get newer(): ReviewShow | null {
    return this.#newer;
  }

  meet(newer: ReviewShow): void {
    const { article, showing } = this.#means;
    const draft = showing.view?.draft();
    this.#newer = newer;
    article.setRevision(newer.revision);
    if (draft?.text === newer.proposed) {
      // The hub took her text along.
      this.#renew(withoutText(draft));
    } else if (draft?.text !== undefined || showing.view?.isEditing() === true) {
      article.notice("The proposal changed while you edited. Your text is untouched: which one do you want?", [
        { action: "keep-text", label: "Keep my text", press: () => this.#renew(showing.view?.draft()) },
        { action: "show-proposal", label: "Show the new proposal", press: () => this.#showProposal() },
      ]);
    } else if (showing.hasCommentInHand()) {
      article.notice("There is a newer version of this change. It is shown when your comment is saved or closed.", [
        { action: "show-proposal", label: "Show it now", press: () => this.#renew(showing.view?.draft()) },
      ]);
    } else {
      this.#renew(draft);
    }
  }

  /** It is not to be chosen about any more. */
  drop(): void {
    if (this.#newer !== null) {
      this.#newer = null;
      this.#means.article.notice(null);
    }
  }

  /** Perhaps nothing of hers is in the way any more. */
  draftChanged(): void {
    const { showing } = this.#means;
    if (this.#newer !== null) {
      // Not from within what the diff is just doing.
      queueMicrotask(() => {
        const draft = showing.view?.draft();
        // An edit that was taken back may still be brought back: as long as she edits, it is for her to say.
        const isWriting = showing.view?.isEditing() === true || showing.hasCommentInHand();
        if (draft !== undefined && !isWriting) {
          this.#renew(draft);
        }
      });
    }
  }

  #showProposal(): void {
    const draft = this.#means.showing.view?.draft();
    if (draft !== undefined) {
      this.#means.aside.set(draft);
      this.#renew(withoutText(draft));
    }
  }

  /** Shows the newer revision, with what still fits of the draft. */
  #renew(draft: Draft | undefined): void {
    const newer = this.#newer;
    const before = this.#means.showing.shown;
    if (newer === null) {
      return;
    }
    this.#newer = null;
    this.#means.mount(newer, draft);
    const undecided = this.metDecision ? "Nothing is decided yet. " : "";
    this.metDecision = false;
    this.#means.article.notice(`${undecided}${whatChanged(before, newer)} Look again before you decide.`);
  }
}
