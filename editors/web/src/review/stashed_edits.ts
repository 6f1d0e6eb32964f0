// The user's own texts that were replaced by the proposal: kept with their review and offered while it is open, the
// latest first, until the user restores or discards each.

import type { Article } from "./article";
import type { Draft } from "../diff/view";
import { isSame, type Entry } from "../list/reviews";
import type { DiffPane } from "./diff_pane";

export class StashedEdits {
  readonly #entry: Entry;
  readonly #article: Article;
  readonly #pane: DiffPane;
  readonly #show: (draft: Draft) => void;

  /** `show` applies a draft to the shown revision. */
  constructor(entry: Entry, article: Article, pane: DiffPane, show: (draft: Draft) => void) {
    this.#entry = entry;
    this.#article = article;
    this.#pane = pane;
    this.#show = show;
  }

  set(draft: Draft): void {
    const { shown } = this.#pane;
    if (draft.text !== undefined && shown !== null) {
      this.#entry.aside.push({ draft, on: shown });
    }
  }

  /** Offers the latest stashed text, if it can be restored now. */
  offer(isPossible: boolean): void {
    const aside = this.#entry.aside.at(-1);
    const { shown } = this.#pane;
    if (aside === undefined || shown === null || !isPossible) {
      this.#article.aside(null);
      return;
    }
    const older = isSame(aside.on, shown) ? "" : " It was written on an older version of this change.";
    const others = this.#entry.aside.length - 1;
    const more = others === 0 ? "" : ` ${others} more ${others === 1 ? "text is" : "texts are"} stashed.`;
    this.#article.aside(`Your text is stashed.${older}${more}`, [
      { action: "restore-edit", label: "Restore", press: () => this.#bringBack() },
      { action: "forget-edit", label: "Discard", press: () => this.#forget() },
    ]);
  }

  /** Restores it; a text written since is stashed in its place. */
  #bringBack(): void {
    const aside = this.#entry.aside.at(-1);
    const now = this.#pane.view?.draft();
    if (aside !== undefined && now !== undefined) {
      this.#entry.aside.pop();
      this.set(now);
      // Comments stayed on the screen all along, so the current ones are kept.
      this.#show({ ...aside.draft, comments: now.comments, on: now.on });
      this.#pane.view?.focus();
    }
  }

  #forget(): void {
    this.#entry.aside.pop();
    this.offer(true);
    this.#article.focusTitle();
  }
}
