// The area in which one review at a time is open. Only the user chooses which.

import { typesInto, part } from "../shell/dom";
import { OpenReview, type ReviewAreaDependencies } from "./open_review";
import type { Entry } from "../list/reviews";
import type { Views } from "../shell/views";
import { count } from "../shell/labels";

export class ReviewArea {
  readonly #deps: ReviewAreaDependencies;
  readonly #views: Views;
  #opened: OpenReview | null = null;
  #openListener: (id: string | null) => void = () => {};

  constructor(means: Omit<ReviewAreaDependencies, "stage" | "back" | "next">, views: Views) {
    this.#views = views;
    this.#deps = { ...means, stage: part("stage", HTMLElement), back: () => this.#back(), next: () => this.#next() };
  }

  get opened(): OpenReview | null {
    return this.#opened;
  }

  onOpen(listener: (id: string | null) => void): void {
    this.#openListener = listener;
  }

  open(entry: Entry): void {
    this.#views.show("reviews");
    this.#views.showReview();
    if (this.#opened?.entry !== entry) {
      const hadFocus = this.#opened?.article.root.contains(document.activeElement) ?? false;
      this.#opened?.close();
      entry.fresh = false;
      this.#opened = new OpenReview(entry, this.#deps);
      this.#openListener(entry.id);
      const { fileNames, notices } = this.#deps;
      notices.announce(`${fileNames.of(entry.summary).whole}, ${count(entry.summary.hunks, "hunk")}`);
      if (hadFocus) {
        this.#opened.article.focusTitle();
      }
    }
    if (this.#views.isPhone()) {
      this.#opened.article.focusTitle();
    }
  }

  /** Closes this review, because it is opened somewhere else. */
  release(entry: Entry): void {
    if (this.#opened?.entry === entry) {
      this.#opened.keepDraft();
      this.#opened.close();
      this.#opened = null;
      this.#openListener(null);
    }
  }

  keepDraft(): void {
    this.#opened?.keepDraft();
  }

  /** The model changed; without an entry, several reviews did. */
  changed(entry: Entry | null = null): void {
    if (entry === null || entry === this.#opened?.entry) {
      this.#opened?.changed();
    } else {
      this.#opened?.paint();
    }
  }

  /** The open review may have changed while disconnected. */
  reconnected(): void {
    this.#opened?.refresh();
  }

  /** Leaves the confirmation, field or editor, so that shortcuts work again. */
  leave(): void {
    const { activeElement } = document;
    this.#opened?.bar.askWhetherSure(false);
    if (activeElement instanceof HTMLElement && (typesInto(activeElement) || activeElement.isContentEditable)) {
      activeElement.blur();
      this.#opened?.article.focusTitle();
    }
  }

  #back(): void {
    this.#views.goBack();
    part("groups", HTMLElement).querySelector<HTMLElement>("[aria-current=true]")?.focus();
  }

  #next(): void {
    const next = this.#deps.reviews.nextWaiting(this.#opened?.entry.id ?? null);
    if (next !== undefined) {
      this.open(next);
    }
  }
}
