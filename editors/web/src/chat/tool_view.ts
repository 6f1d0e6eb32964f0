// A tool call: what it does and how far it is, its output (folded), and what the user can decide about it.

import type { ChatItem } from "../../../protocol";
import { button, element, icon, setText } from "../shell/dom";
import { split } from "../shell/labels";
import { visible } from "../shell/visible";
import type { ChatHost } from "./host";
import { STATE_ICONS, STATE_WORDS } from "./item_view";
import { copyButton } from "./markdown_view";
import { output } from "./readable";

/** A browser lays out longer texts slowly; the whole can be copied. */
const MOST_SHOWN = 60_000;

const KIND_ICONS: Readonly<Record<string, string>> = {
  edit: "edit",
  delete: "close",
  move: "next",
  search: "find",
  execute: "terminal",
  read: "file",
  fetch: "down",
};

export class ToolView {
  readonly root: HTMLElement;
  readonly #host: ChatHost;
  readonly #state = element("span", { class: "state" });
  readonly #spoken = element("span", { class: "unseen" });
  readonly #kind = element("span", { class: "tool-kind" });
  readonly #title = element("span", { class: "tool-title" });
  readonly #fold: HTMLDetailsElement;
  readonly #paths = element("ul", { class: "files", "aria-label": "Files" });
  readonly #code = element("code");
  readonly #cut = element("p", { class: "cut", hidden: true });
  readonly #box: HTMLElement;
  readonly #decide = element("div", { class: "decide" });
  #text = "";
  #filled = "";
  #drawn = "";

  constructor(host: ChatHost) {
    this.#host = host;
    const copy = copyButton(() => this.#text, host.announce);
    const pre = element("pre", { tabindex: "0", role: "region", "aria-label": "Output" }, this.#code);
    this.#box = element("figure", { class: "code" }, element("figcaption", {}, element("span", {}, "Output"), copy), pre, this.#cut);
    const summary = element("summary", {}, this.#state, this.#kind, this.#title, this.#spoken, icon("fold"));
    this.#fold = element("details", { class: "fold call" }, summary, this.#paths, this.#box);
    this.#fold.addEventListener("toggle", () => this.#fill());
    this.root = element("section", { class: "tool-call" }, this.#fold, this.#decide);
  }

  paint(item: ChatItem): void {
    if (item.kind !== "tool") return;
    const { state, toolKind, title, paths = [], reviews = [], ask } = item;
    const drawn = JSON.stringify([state, toolKind, title, paths]);
    if (drawn !== this.#drawn) {
      this.#drawn = drawn;
      this.root.dataset["state"] = state;
      this.#state.replaceChildren(icon(STATE_ICONS[state]));
      this.#kind.replaceChildren(icon(KIND_ICONS[toolKind ?? ""] ?? "gear"));
      setText(this.#title, visible(title));
      setText(this.#spoken, `, ${STATE_WORDS[state]}`);
      this.#paths.hidden = paths.length === 0;
      this.#paths.replaceChildren(...paths.map((path) => element("li", {}, this.#file(path))));
    }
    this.#text = item.output ?? "";
    this.#fold.classList.toggle("empty-fold", this.#text === "" && paths.length === 0);
    this.#fill();
    const wanted = reviews.map((review) => this.#host.review(review, paths));
    const question = ask === undefined ? undefined : this.#host.question(ask);
    if (question !== undefined) {
      wanted.push(question);
    }
    const shown = this.#decide.children;
    if (shown.length !== wanted.length || wanted.some((each, place) => shown[place] !== each)) {
      this.#decide.replaceChildren(...wanted);
    }
  }

  #file(path: string): HTMLElement {
    const name = visible(split(path).name);
    const { openFile } = this.#host;
    if (openFile === undefined) {
      return element("span", { class: "chip plain", title: visible(path) }, name);
    }
    return button("open-file", [name], () => openFile(path, undefined), { class: "chip plain", title: visible(path) });
  }

  /** A folded output costs nothing. */
  #fill(): void {
    this.#box.hidden = this.#text === "";
    if (!this.#fold.open || this.#filled === this.#text) {
      return;
    }
    this.#filled = this.#text;
    const rest = this.#text.length - MOST_SHOWN;
    this.#cut.hidden = rest <= 0;
    setText(this.#cut, `The first ${rest} characters are not shown; Copy has them.`);
    setText(this.#code, output(rest > 0 ? this.#text.slice(rest) : this.#text));
  }
}
