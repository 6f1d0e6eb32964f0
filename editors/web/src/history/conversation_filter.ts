// The line above the history while it shows only the changes of one conversation: what it is about, and for each turn with
// something to undo a button that undoes all of it.

import type { HistoryEntry, ReviewOrigin } from "../../../protocol";
import { confirmedButton } from "../chat/confirmed_button";
import { button, element, icon, setText } from "../shell/dom";
import { visible } from "../shell/visible";
import type { OpenConversation } from "../review/why_proposed";

export interface FilterMeans {
  changed(): void;
  openConversation: OpenConversation;
  undoTurn(turn: string): Promise<void>;
}

export class ConversationFilter {
  readonly root: HTMLElement;
  readonly #means: FilterMeans;
  readonly #title = element("p", { class: "filter-title" });
  readonly #turns = element("div", { class: "filter-turns" });
  #origin: ReviewOrigin | null = null;
  #shownTurns = "";

  constructor(means: FilterMeans) {
    this.#means = means;
    const open = button("open-conversation", [icon("chat"), element("span", {}, "Open the conversation")], () => this.#origin !== null && means.openConversation(this.#origin), {
      class: "small",
    });
    const all = button("all-history", [icon("close"), element("span", {}, "Show all")], () => this.choose(null), { class: "small" });
    this.root = element("section", { class: "history-filter", "aria-label": "Filter", hidden: true }, this.#title, open, all, this.#turns);
  }

  /** Id of the conversation; `null`: everything is shown. */
  get chat(): string | null {
    return this.#origin?.chat ?? null;
  }

  choose(origin: ReviewOrigin | null): void {
    this.#origin = origin;
    this.root.hidden = origin === null;
    setText(this.#title, origin === null ? "" : `Only changes of conversation ${visible(origin.chat)}`);
    this.#turns.replaceChildren();
    this.#shownTurns = "";
    this.#means.changed();
    if (origin !== null) {
      this.root.querySelector("button")?.focus({ preventScroll: true });
    }
  }

  paint(entries: readonly HistoryEntry[]): void {
    const { chat } = this;
    if (chat === null) {
      return;
    }
    const turns = new Set<number>();
    for (const { origin, undoable, undone, undoes } of entries) {
      if (origin !== undefined && undoable && !undone && undoes === undefined) {
        turns.add(origin.turn);
      }
    }
    const names = [...turns].sort((one, other) => other - one).map((turn) => `${chat}/${turn}`);
    if (names.join() !== this.#shownTurns) {
      this.#shownTurns = names.join();
      this.#turns.replaceChildren(
        ...names.map((name) => confirmedButton("undo-turn", "undo", `Undo all of ${visible(name)}`, `Undo all of ${visible(name)}?`, () => void this.#means.undoTurn(name))),
      );
    }
  }
}
