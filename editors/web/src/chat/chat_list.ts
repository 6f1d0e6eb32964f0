// The list of conversations. Rows are updated in place, and the order changes only while the pointer is elsewhere.

import type { ChatState, ChatSummary } from "../../../protocol";
import { button, element, icon, setText } from "../shell/dom";
import { age, split } from "../shell/labels";
import { visible } from "../shell/visible";

export interface ChatListMeans {
  open(chat: string): void;
  startNew(): void;
}

const AGES_EVERY_MS = 15_000;

export const STATE_LABELS: Readonly<Record<ChatState["kind"], string>> = {
  starting: "starting",
  idle: "",
  working: "working",
  stopped: "stopped",
};

interface Row {
  readonly item: HTMLLIElement;
  paint(summary: ChatSummary, isOpen: boolean): void;
}

export class ChatList {
  readonly root: HTMLElement;
  readonly #means: ChatListMeans;
  readonly #list = element("ol", { class: "chats" });
  readonly #new: HTMLButtonElement;
  readonly #rows = new Map<string, Row>();
  #chats: readonly ChatSummary[] = [];
  #open: string | null = null;

  constructor(means: ChatListMeans) {
    this.#means = means;
    this.#new = button("new-chat", [icon("plus"), element("span", {}, "New conversation")], means.startNew, { class: "new-chat" });
    this.root = element("nav", { class: "chat-list", "aria-label": "Conversations" }, this.#new, this.#list);
    this.#list.addEventListener("pointerleave", () => this.paint(this.#chats, this.#open));
    setInterval(() => this.paint(this.#chats, this.#open), AGES_EVERY_MS);
  }

  paint(chats: readonly ChatSummary[], open: string | null): void {
    this.#chats = chats;
    this.#open = open;
    const there = new Set(chats.map(({ chat }) => chat));
    for (const [chat, row] of this.#rows) {
      if (!there.has(chat)) {
        row.item.remove();
        this.#rows.delete(chat);
      }
    }
    const mayMove = !this.#list.matches(":hover");
    let before: Element | null = null;
    for (const summary of chats) {
      let row = this.#rows.get(summary.chat);
      const isNew = row === undefined;
      row ??= makeRow(summary.chat, this.#means.open);
      this.#rows.set(summary.chat, row);
      row.paint(summary, summary.chat === open);
      const wanted: Element | null = before === null ? this.#list.firstElementChild : before.nextElementSibling;
      if (row.item !== wanted && (isNew || mayMove)) {
        this.#list.insertBefore(row.item, wanted);
      }
      before = row.item;
    }
    if (open === null) {
      this.#new.setAttribute("aria-current", "true");
    } else {
      this.#new.removeAttribute("aria-current");
    }
  }

  focusCurrent(): void {
    this.root.querySelector<HTMLElement>("[aria-current=true]")?.focus();
  }
}

function makeRow(chat: string, open: (chat: string) => void): Row {
  const mark = element("span", { class: "mark" });
  const title = element("span", { class: "name" });
  const details = element("span", { class: "details" });
  const since = element("span", { class: "age" });
  const made = button("open-chat", [mark, title, details, since], () => open(chat), { class: "row", "data-chat": chat });
  const item = element("li", {}, made);
  let drawn = "";
  return {
    item,
    paint(summary, isOpen) {
      const { state, agentName, folder } = summary;
      made.dataset["state"] = state.kind;
      if (isOpen) {
        made.setAttribute("aria-current", "true");
      } else {
        made.removeAttribute("aria-current");
      }
      const drawing = state.kind === "working" || state.kind === "starting" ? "wait" : "chat";
      if (drawn !== drawing) {
        drawn = drawing;
        mark.replaceChildren(icon(drawing));
      }
      setText(title, visible(summary.title.trim()) || "New conversation");
      const parts = [agentName, split(folder.replace(/\/$/, "")).name, STATE_LABELS[state.kind]].filter((part) => part !== "");
      setText(details, parts.map(visible).join(" · "));
      made.title = visible(folder);
      setText(since, age(Date.now() - summary.changedMs));
    },
  };
}
