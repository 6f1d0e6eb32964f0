// The diff of the open review as it is on the screen: puts it there, with what the person did to it, and keeps that.
// It asks the hub nothing.

import type { ReviewShow } from "../../protocol";
import type { Article } from "./article";
import type { DiffView, Draft, OpenDiff } from "./diff/view";
import { nonce } from "./diff_loader";
import { fittingLayout, wishLayout } from "./layout";
import { isWaiting, workOf, type Entry } from "./reviews";

/** Each key in a large text would cost a look at all of it. */
const TYPING_MS = 40;

export interface ShowingHears {
  /** What a decision would be about came or changed on the screen. */
  touched(): void;
  /** What can be done changed, or how it is laid out. */
  changed(): void;
  /** She chose, wrote or said something; from within what the diff is just doing. */
  draftChanged(): void;
  announce(text: string): void;
}

export class Showing {
  readonly #entry: Entry;
  readonly #article: Article;
  readonly #hears: ShowingHears;
  readonly #resized: ResizeObserver;
  #view: DiffView | null = null;
  #shown: ReviewShow | null = null;
  #isOpen = false;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(entry: Entry, article: Article, hears: ShowingHears) {
    this.#entry = entry;
    this.#article = article;
    this.#hears = hears;
    this.#resized = new ResizeObserver(() => this.#fitLayout());
    this.#resized.observe(article.diff);
  }

  get view(): DiffView | null {
    return this.#view;
  }

  get shown(): ReviewShow | null {
    return this.#shown;
  }

  /** `null`: there is nothing to choose among. */
  get takesChoices(): boolean | null {
    return this.#view === null ? null : this.#isOpen;
  }

  put(openDiff: OpenDiff, shown: ReviewShow, draft: Draft | undefined): void {
    const { diff } = this.#article;
    const hadFocus = diff.contains(document.activeElement);
    const top = diff.firstElementChild?.scrollTop ?? 0;
    this.#view?.destroy();
    diff.replaceChildren();
    this.#shown = shown;
    this.#isOpen = isWaiting(this.#entry);
    this.#view = openDiff(diff, shown, {
      layout: fittingLayout(diff.clientWidth),
      nonce: nonce(),
      readOnly: !this.#isOpen,
      ...(draft === undefined ? {} : { draft }),
      changed: () => this.#draftChanged(),
      announce: this.#hears.announce,
    });
    diff.firstElementChild?.scrollTo(0, top);
    if (hadFocus) {
      this.#view.focus();
    }
    this.#article.setRevision(shown.revision);
    this.#hears.touched();
    this.#hears.changed();
  }

  /** Keeps what she did, for when she comes back to it. */
  keepDraft(): void {
    if (this.#view !== null && this.#shown !== null && this.#isOpen) {
      this.#entry.work = workOf(this.#view.draft(), this.#shown);
    }
  }

  takeNoMoreChoices(): void {
    this.keepDraft();
    this.#isOpen = false;
    this.#view?.setReadOnly();
  }

  /** Makes place for something else. */
  remove(): void {
    this.keepDraft();
    clearTimeout(this.#typing);
    this.#typing = undefined;
    this.#view?.destroy();
    this.#view = null;
    this.#shown = null;
  }

  close(): void {
    this.#resized.disconnect();
    this.remove();
  }

  /** She is about to say something, perhaps in other words, and has not saved it. */
  hasCommentInHand(): boolean {
    const box = this.#article.diff.querySelector<HTMLTextAreaElement>("[data-field=comment]");
    return box !== null && (box.value.trim() !== "" || box === document.activeElement);
  }

  toggleLayout(): void {
    if (this.#view !== null) {
      const layout = this.#view.layout() === "split" ? "unified" : "split";
      wishLayout(layout, this.#article.diff.clientWidth);
      this.#fitLayout();
      this.#hears.announce(layout === "split" ? "Side by side" : "Unified");
    }
  }

  #fitLayout(): void {
    const { clientWidth } = this.#article.diff;
    if (this.#view !== null && clientWidth > 0 && this.#view.layout() !== fittingLayout(clientWidth)) {
      this.#view.setLayout(fittingLayout(clientWidth));
      this.#hears.changed();
    }
  }

  #draftChanged(): void {
    this.#hears.draftChanged();
    this.#typing ??= setTimeout(() => {
      this.#typing = undefined;
      this.#hears.changed();
    }, TYPING_MS);
  }
}
