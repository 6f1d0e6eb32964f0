// Reviews inside a conversation: a line for each, and the diff with its hunks and decision bar below it while it is open.
// The same parts as in the list of reviews show and decide it, so both are always in step.

import type { HistoryEntry } from "../../../protocol";
import { element, icon, setText } from "../shell/dom";
import { capital, ended } from "../shell/labels";
import { visible } from "../shell/visible";
import { howItEnded } from "../decision/file_write";
import { isWaiting, type Entry } from "../list/reviews";
import { OpenReview, type ReviewAreaDependencies } from "../review/open_review";
import { attachmentName } from "./plain_text";

export interface CardMeans extends Omit<ReviewAreaDependencies, "stage" | "back" | "next"> {
  /** Closes the review where else it is open. */
  release(entry: Entry): void;
}

const HISTORY_LIMIT = 1000;

function isPending(entry: Entry): boolean {
  return isWaiting(entry) || entry.sending;
}

interface Card {
  readonly root: HTMLElement;
  readonly head: HTMLButtonElement;
  readonly mark: HTMLElement;
  readonly name: HTMLElement;
  readonly added: HTMLElement;
  readonly removed: HTMLElement;
  readonly how: HTMLElement;
  readonly body: HTMLElement;
  open: OpenReview | null;
  /** `auto`: open while it is pending. */
  fold: "auto" | "open" | "folded";
  isSeen: boolean;
  past: HistoryEntry | undefined;
}

const MARKS: Readonly<Record<string, string>> = { pending: "dot", settling: "wait", accepted: "check", rejected: "close", failed: "warning" };

export class ReviewCards {
  readonly #means: CardMeans;
  readonly #cards = new Map<string, Card>();
  /** Where the cards scroll, and what tells which of them are near the part that is seen. */
  #messages: HTMLElement | null = null;
  #near: IntersectionObserver | null = null;
  #history: Promise<ReadonlyMap<string, HistoryEntry>> | null = null;

  constructor(means: CardMeans) {
    this.#means = means;
    means.reviews.onChange((entry) => this.#changed(entry));
  }

  /** A diff is large: only those near what is seen of the messages are built. */
  shownIn(messages: HTMLElement | null): void {
    if (messages === null || messages === this.#messages) {
      return;
    }
    this.#messages = messages;
    this.#near?.disconnect();
    const settle = (changes: IntersectionObserverEntry[]): void => {
      for (const { target, isIntersecting } of changes) {
        const id = target instanceof HTMLElement ? target.dataset["reviewCard"] : undefined;
        const card = id === undefined ? undefined : this.#cards.get(id);
        if (id !== undefined && card !== undefined) {
          card.isSeen = isIntersecting;
          this.#settle(id, card);
        }
      }
    };
    // Around the messages and not the screen: in VS Code's frame a margin around the screen does not count, and where the
    // messages have hardly any height no card would ever be seen.
    this.#near = new IntersectionObserver(settle, { root: messages, rootMargin: "400px" });
    this.#cards.forEach(({ root }) => this.#near?.observe(root));
  }

  /** The card of a review, the same element for each call. */
  of(id: string, paths: readonly string[]): HTMLElement {
    const known = this.#cards.get(id);
    if (known !== undefined) {
      return known.root;
    }
    const card = this.#make(id);
    this.#cards.set(id, card);
    const [path] = paths;
    setText(card.name, path === undefined ? "A change" : visible(attachmentName(path)));
    this.#paint(id, card);
    this.#near?.observe(card.root);
    return card.root;
  }

  /** Closes a review that is opened somewhere else. */
  release(entry: Entry): void {
    const card = this.#cards.get(entry.id);
    if (card !== undefined && card.open !== null) {
      card.fold = "folded";
      this.#settle(entry.id, card);
    }
  }

  /** The hub is back and may have other states. */
  reconnected(): void {
    this.#history = null;
    for (const [id, card] of this.#cards) {
      card.open?.refresh();
      this.#paint(id, card);
    }
  }

  keepDrafts(): void {
    this.#cards.forEach(({ open }) => open?.keepDraft());
  }

  /** The open review that has the focus, or else the first one on the screen. */
  current(): OpenReview | null {
    const open = [...this.#cards.values()].filter((card) => card.open !== null && card.root.isConnected);
    return (open.find(({ root }) => root.contains(document.activeElement)) ?? null)?.open ?? null;
  }

  #make(id: string): Card {
    const mark = element("span", { class: "mark" });
    const name = element("span", { class: "name" });
    const added = element("span", { class: "added" });
    const removed = element("span", { class: "removed" });
    const how = element("span", { class: "how" });
    const content = [mark, name, element("span", { class: "lines" }, added, " ", removed), how, icon("fold")];
    const head = element("button", { type: "button", class: "card-head", "data-action": "fold-review", "aria-expanded": "false" }, ...content);
    const body = element("div", { class: "card-body", hidden: true });
    const root = element("section", { class: "review-card", "data-review-card": id }, head, body);
    const card: Card = { root, head, mark, name, added, removed, how, body, open: null, fold: "auto", isSeen: false, past: undefined };
    head.addEventListener("click", () => {
      const entry = this.#means.reviews.get(id);
      if (entry !== undefined) {
        card.fold = card.open !== null ? "folded" : isPending(entry) ? "auto" : "open";
        this.#settle(id, card);
      }
    });
    return card;
  }

  #changed(entry: Entry | null): void {
    if (entry !== null) {
      const card = this.#cards.get(entry.id);
      if (card !== undefined) {
        card.open?.changed();
        this.#paint(entry.id, card);
      }
      return;
    }
    this.#history = null;
    for (const [id, card] of this.#cards) {
      card.open?.changed();
      this.#paint(id, card);
    }
  }

  #paint(id: string, card: Card): void {
    const entry = this.#means.reviews.get(id);
    const state = entry === undefined ? (card.past?.ended.kind ?? "unknown") : entry.sending ? "settling" : entry.state;
    if (card.root.dataset["state"] !== state) {
      card.root.dataset["state"] = state;
      card.mark.replaceChildren(icon(MARKS[state] ?? "minus"));
    }
    if (entry !== undefined) {
      const { summary } = entry;
      setText(card.name, this.#means.fileNames.of(summary).whole);
      setText(card.added, `+${summary.added}`);
      setText(card.removed, `−${summary.removed}`);
      const how = entry.state === "pending" ? (entry.sending ? "sending" : "waits for you") : howItEnded(entry);
      setText(card.how, capital(how));
    } else if (card.past !== undefined) {
      const { past } = card;
      setText(card.name, this.#means.fileNames.of(past).whole);
      setText(card.added, past.added === undefined ? "" : `+${past.added}`);
      setText(card.removed, past.removed === undefined ? "" : `−${past.removed}`);
      setText(card.how, capital(ended(past)));
    } else {
      setText(card.how, "");
      void this.#lookUp(id, card);
    }
    this.#settle(id, card);
  }

  /** Opens or closes the diff, whichever fits now. */
  #settle(id: string, card: Card): void {
    const entry = this.#means.reviews.get(id);
    const isWanted = entry !== undefined && (card.fold === "open" || (card.fold === "auto" && isPending(entry)));
    const wantsOpen = isWanted && card.root.isConnected;
    if (wantsOpen && card.open === null && card.isSeen) {
      this.#means.release(entry);
      card.body.hidden = false;
      card.body.style.setProperty("--diff-lines", String(Math.min(28, entry.summary.added + entry.summary.removed + 5 * entry.summary.hunks)));
      card.open = new OpenReview(entry, {
        ...this.#means,
        stage: card.body,
        back: () => undefined,
        next: () => this.#next(id),
      });
      entry.fresh = false;
      this.#moved(card);
    } else if (!wantsOpen && card.open !== null) {
      const hadFocus = card.body.contains(document.activeElement);
      card.open.keepDraft();
      card.open.close();
      card.open = null;
      card.body.hidden = true;
      if (hadFocus) {
        card.head.focus({ preventScroll: true });
      }
      this.#moved(card);
    }
    card.head.setAttribute("aria-expanded", String(card.open !== null));
    card.head.disabled = entry === undefined;
  }

  /** What is below a card moved when it opened or closed. */
  #moved(but: Card): void {
    for (const card of this.#cards.values()) {
      if (card !== but) {
        card.open?.moved();
      }
    }
  }

  #next(after: string): void {
    const ids = [...this.#cards.keys()];
    const place = ids.indexOf(after);
    const next = [...ids.slice(place + 1), ...ids.slice(0, place)].find((id) => {
      const entry = this.#means.reviews.get(id);
      return entry !== undefined && isWaiting(entry);
    });
    const head = next === undefined ? undefined : this.#cards.get(next)?.head;
    head?.scrollIntoView({ block: "nearest" });
    head?.focus({ preventScroll: true });
  }

  /** How a review ended that is no longer listed. */
  async #lookUp(id: string, card: Card): Promise<void> {
    this.#history ??= this.#means.connection.request("history/list", { limit: HISTORY_LIMIT, undoable: false }).then(
      ({ entries }) => new Map(entries.filter(({ undoes }) => undoes === undefined).map((entry) => [entry.review, entry])),
      () => new Map<string, HistoryEntry>(),
    );
    const past = (await this.#history).get(id);
    if (past !== undefined && this.#means.reviews.get(id) === undefined) {
      card.past = past;
      this.#paint(id, card);
    }
  }
}
