// The diff of the open review on the screen: mounts it with the user's draft and keeps that draft. Sends nothing to
// the hub.

import type { ReviewShow } from "../../../protocol";
import type { Article } from "./article";
import type { DiffView, Draft, OpenDiff } from "../diff/view";
import { nonce } from "./diff_loader";
import { fittingLayout, rememberLayout } from "./layout";
import { isWaiting, workOf, type Entry } from "../list/reviews";

/** Updating on each key would examine all of a large text each time. */
const TYPING_MS = 40;

export interface DiffPaneEvents {
  /** The state that a decision would be about appeared or changed on the screen. */
  touched(): void;
  /** The available actions or the layout changed. */
  changed(): void;
  /** The user changed the draft; called from within an update of the diff. */
  draftChanged(): void;
  announce(text: string): void;
}

export class DiffPane {
  readonly #entry: Entry;
  readonly #article: Article;
  readonly #events: DiffPaneEvents;
  readonly #resized: ResizeObserver;
  #view: DiffView | null = null;
  #shown: ReviewShow | null = null;
  #isOpen = false;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(entry: Entry, article: Article, events: DiffPaneEvents) {
    this.#entry = entry;
    this.#article = article;
    this.#events = events;
    this.#resized = new ResizeObserver(() => this.#fitLayout());
    this.#resized.observe(article.diff);
  }

  get view(): DiffView | null {
    return this.#view;
  }

  get shown(): ReviewShow | null {
    return this.#shown;
  }

  /** `null`: there is no diff. */
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
      announce: this.#events.announce,
    });
    diff.firstElementChild?.scrollTo(0, top);
    if (hadFocus) {
      this.#view.focus();
    }
    this.#article.setRevision(shown.revision);
    this.#events.touched();
    this.#events.changed();
  }

  /** Stores the draft for when the review is opened again. */
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

  /** Removes the diff, so that something else can be shown. */
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

  /** Whether a comment is being written, or edited, and not saved yet. */
  hasCommentInHand(): boolean {
    const box = this.#article.diff.querySelector<HTMLTextAreaElement>("[data-field=comment]");
    return box !== null && (box.value.trim() !== "" || box === document.activeElement);
  }

  toggleLayout(): void {
    if (this.#view !== null) {
      const layout = this.#view.layout() === "split" ? "unified" : "split";
      rememberLayout(layout, this.#article.diff.clientWidth);
      this.#fitLayout();
      this.#events.announce(layout === "split" ? "Side by side" : "Unified");
    }
  }

  #fitLayout(): void {
    const { clientWidth } = this.#article.diff;
    if (this.#view !== null && clientWidth > 0 && this.#view.layout() !== fittingLayout(clientWidth)) {
      this.#view.setLayout(fittingLayout(clientWidth));
      this.#events.changed();
    }
  }

  #draftChanged(): void {
    this.#events.draftChanged();
    this.#typing ??= setTimeout(() => {
      this.#typing = undefined;
      this.#events.changed();
    }, TYPING_MS);
  }
}
