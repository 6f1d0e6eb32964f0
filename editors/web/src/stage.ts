// Where one review is open at a time. Which one, only the person says.

import { typesInto, part } from "./dom";
import { Opened, type Surroundings } from "./opened";
import type { Entry } from "./reviews";
import type { Views } from "./views";
import { count } from "./wording";

export class Stage {
  readonly #around: Surroundings;
  readonly #views: Views;
  #opened: Opened | null = null;
  #heard: (id: string | null) => void = () => {};

  constructor(means: Omit<Surroundings, "stage" | "back" | "next">, views: Views) {
    this.#views = views;
    this.#around = { ...means, stage: part("stage", HTMLElement), back: () => this.#back(), next: () => this.#next() };
  }

  get opened(): Opened | null {
    return this.#opened;
  }

  onOpen(heard: (id: string | null) => void): void {
    this.#heard = heard;
  }

  open(entry: Entry): void {
    this.#views.show("reviews");
    this.#views.showReview();
    if (this.#opened?.entry !== entry) {
      const hadFocus = this.#opened?.article.root.contains(document.activeElement) ?? false;
      this.#opened?.close();
      entry.fresh = false;
      this.#opened = new Opened(entry, this.#around);
      this.#heard(entry.id);
      const { places, notices } = this.#around;
      notices.announce(`${places.of(entry.summary).whole}, ${count(entry.summary.hunks, "hunk")}`);
      if (hadFocus) {
        this.#opened.article.focusTitle();
      }
    }
    if (this.#views.isPhone()) {
      this.#opened.article.focusTitle();
    }
  }

  keepDraft(): void {
    this.#opened?.keepDraft();
  }

  /** The model changed; without an entry, many of it. */
  changed(entry: Entry | null = null): void {
    if (entry === null || entry === this.#opened?.entry) {
      this.#opened?.changed();
    } else {
      this.#opened?.paint();
    }
  }

  /** What is open may be another one by now. */
  reconnected(): void {
    this.#opened?.refresh();
  }

  /** Out of the question, the field or the editor, back to where single keys work. */
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
    const next = this.#around.reviews.nextWaiting(this.#opened?.entry.id ?? null);
    if (next !== undefined) {
      this.open(next);
    }
  }
}
