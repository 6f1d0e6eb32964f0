// Texts of the person's own that gave way to the proposal: they stay with their review and are offered whenever that is
// open, the last one first, until she brings each back or forgets it.

import type { Article } from "./article";
import type { Draft } from "./diff/view";
import { isSame, type Entry } from "./reviews";
import type { Showing } from "./showing";

export class Aside {
  readonly #entry: Entry;
  readonly #article: Article;
  readonly #showing: Showing;
  readonly #show: (draft: Draft) => void;

  /** `show` puts a draft on what is shown. */
  constructor(entry: Entry, article: Article, showing: Showing, show: (draft: Draft) => void) {
    this.#entry = entry;
    this.#article = article;
    this.#showing = showing;
    this.#show = show;
  }

  set(draft: Draft): void {
    const { shown } = this.#showing;
    if (draft.text !== undefined && shown !== null) {
      this.#entry.aside.push({ draft, on: shown });
    }
  }

  /** Says that there is one, where it can be brought back now. */
  offer(isPossible: boolean): void {
    const aside = this.#entry.aside.at(-1);
    const { shown } = this.#showing;
    if (aside === undefined || shown === null || !isPossible) {
      this.#article.aside(null);
      return;
    }
    const older = isSame(aside.on, shown) ? "" : " It was written on an older version of this change.";
    const others = this.#entry.aside.length - 1;
    const more = others === 0 ? "" : ` So ${others === 1 ? "is another" : `are ${others} more`}, which come after it.`;
    this.#article.aside(`Your text is set aside.${older}${more}`, [
      { action: "restore-edit", label: "Bring it back", press: () => this.#bringBack() },
      { action: "forget-edit", label: "Forget it", press: () => this.#forget() },
    ]);
  }

  /** What she wrote since takes its place. */
  #bringBack(): void {
    const aside = this.#entry.aside.at(-1);
    const now = this.#showing.view?.draft();
    if (aside !== undefined && now !== undefined) {
      this.#entry.aside.pop();
      this.set(now);
      // What she said stayed on the screen all along, so it is as it is now.
      this.#show({ ...aside.draft, comments: now.comments, on: now.on });
      this.#showing.view?.focus();
    }
  }

  #forget(): void {
    this.#entry.aside.pop();
    this.offer(true);
    this.#article.focusTitle();
  }
}
