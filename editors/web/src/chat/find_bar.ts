// Search in the open conversation. It looks in all items, also those that have no elements; matches on the screen are
// highlighted without changing them.

import { button, element, icon, setText } from "../shell/dom";

export interface FindMeans {
  /** Everything is known that is searched. */
  load(): Promise<void>;
  /** Places of the items that contain the words. */
  find(words: string): readonly number[];
  /** Shows an item, and returns its element. */
  reveal(index: number): HTMLElement | undefined;
  /** The element with everything that is on the screen. */
  scope(): HTMLElement | undefined;
  closed(): void;
}

const HIGHLIGHT = "chat-find";
/** More highlights than this slow the browser down. */
const MOST = 500;

export class FindBar {
  readonly root: HTMLElement;
  readonly #means: FindMeans;
  readonly #field = element("input", { type: "search", "data-field": "find", "aria-label": "Find in this conversation", placeholder: "Find" });
  readonly #count = element("span", { class: "hint", role: "status" });
  #found: readonly number[] = [];
  #at = 0;

  constructor(means: FindMeans) {
    this.#means = means;
    const tool = (action: string, drawing: string, label: string, press: () => void): HTMLButtonElement =>
      button(action, [icon(drawing)], press, { class: "quiet", title: label, "aria-label": label });
    this.root = element(
      "search",
      { class: "find-bar", hidden: true },
      this.#field,
      this.#count,
      tool("find-previous", "up", "Previous match", () => this.#move(-1)),
      tool("find-next", "down", "Next match", () => this.#move(1)),
      tool("find-close", "close", "Close", () => this.close()),
    );
    this.#field.addEventListener("input", () => this.#look());
    this.#field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.#move(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        event.preventDefault();
        this.close();
      }
    });
  }

  open(): void {
    this.root.hidden = false;
    this.#field.focus();
    this.#field.select();
    setText(this.#count, "Loading…");
    void this.#means.load().then(() => {
      if (!this.root.hidden) {
        this.#look();
      }
    });
  }

  close(): void {
    if (!this.root.hidden) {
      this.root.hidden = true;
      CSS.highlights.delete(HIGHLIGHT);
      this.#means.closed();
    }
  }

  /** The latest match first: that is where the user is. */
  #look(): void {
    this.#found = this.#means.find(this.#field.value.trim());
    this.#at = this.#found.length - 1;
    this.#show();
  }

  #move(by: 1 | -1): void {
    if (this.#found.length > 0) {
      this.#at = (this.#at + by + this.#found.length) % this.#found.length;
      this.#show();
    }
  }

  #show(): void {
    const index = this.#found[this.#at];
    const words = this.#field.value.trim();
    setText(this.#count, words === "" ? "" : index === undefined ? "Not found" : `${this.#at + 1} of ${this.#found.length}`);
    const shown = index === undefined ? undefined : this.#means.reveal(index);
    for (const old of this.#means.scope()?.querySelectorAll(".found") ?? []) {
      old.classList.remove("found");
    }
    shown?.classList.add("found");
    this.#highlight(words.toLocaleLowerCase());
  }

  #highlight(words: string): void {
    const scope = this.#means.scope();
    const ranges: Range[] = [];
    if (scope !== undefined && words !== "") {
      const walker = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null && ranges.length < MOST; node = walker.nextNode()) {
        const text = (node.nodeValue ?? "").toLocaleLowerCase();
        for (let at = text.indexOf(words); at !== -1 && at + words.length <= (node.nodeValue ?? "").length; at = text.indexOf(words, at + words.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + words.length);
          ranges.push(range);
        }
      }
    }
    CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges));
  }
}
