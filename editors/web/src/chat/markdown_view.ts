// A Markdown text on the screen, which may grow. It is built of elements and texts, never of markup; blocks that did not
// change keep their elements.

import { button, element, icon, setText } from "../shell/dom";
import { visible } from "../shell/visible";
import type { Coloured } from "./host";
import { parseInline, type Inline } from "./inline_markdown";
import { parseAppended, parseBlocks, type Block } from "./markdown";
import { readable } from "./readable";

export interface MarkdownMeans {
  colours(text: string, language: string): Promise<readonly Coloured[]>;
  announce(text: string): void;
}

/** Larger code stays without colours. */
const MOST_COLOURED = 50_000;
const COPIED_MS = 1_500;

export class MarkdownView {
  readonly root = element("div", { class: "md" });
  readonly #means: MarkdownMeans;
  #source = "";
  #blocks: Block[] = [];

  constructor(means: MarkdownMeans) {
    this.#means = means;
  }

  /** `grows`: more is expected, so that code at the end is not coloured yet. */
  set(source: string, grows: boolean): void {
    const before = this.#blocks;
    const isLonger = this.#source !== "" && source.startsWith(this.#source);
    this.#blocks = isLonger ? parseAppended(before, source) : parseBlocks(source);
    this.#blocks.forEach((block, place) => {
      const old = before[place];
      const isLast = grows && place === this.#blocks.length - 1;
      const shown = this.root.children[place];
      if (shown === undefined) {
        this.root.append(this.#made(block, isLast));
      } else if (old === block || (old !== undefined && isLonger && isSameText(old, block, this.#source, source))) {
        this.#finish(shown, block, isLast);
      } else if (!isLonger || old === undefined || !grown(shown, old, block)) {
        shown.replaceWith(this.#made(block, isLast));
      } else {
        this.#finish(shown, block, isLast);
      }
    });
    while (this.root.children.length > this.#blocks.length) {
      this.root.lastElementChild?.remove();
    }
    this.#source = source;
  }

  #made(block: Block, isLast: boolean): Element {
    const made = this.#block(block);
    this.#finish(made, block, isLast);
    return made;
  }

  /** Code is coloured once it is complete. */
  #finish(shown: Element, block: Block, isLast: boolean): void {
    const code = block.kind === "code" && !isLast ? shown.querySelector("code:not([data-coloured])") : null;
    if (code !== null && block.kind === "code") {
      this.#colour(code, block.text, block.language);
    }
  }

  #colour(code: Element, text: string, language: string): void {
    code.setAttribute("data-coloured", "");
    if (language === "" || text.length > MOST_COLOURED || readable(text) !== text) {
      return;
    }
    void this.#means.colours(text, language).then((coloured) => {
      if (code.textContent !== text || coloured.length === 0) {
        return;
      }
      const parts: Array<Node | string> = [];
      let at = 0;
      for (const { from, to, name } of coloured) {
        if (from >= at && to > from && to <= text.length) {
          parts.push(text.slice(at, from), element("span", { class: name }, text.slice(from, to)));
          at = to;
        }
      }
      code.replaceChildren(...parts, text.slice(at));
    });
  }

  #block(block: Block): Element {
    switch (block.kind) {
      case "paragraph":
        return element("p", {}, ...inline(block.text));
      case "heading":
        // The page and the conversation have the levels above.
        return element("div", { role: "heading", "aria-level": String(Math.min(6, block.level + 2)), class: `h h${block.level}` }, ...inline(block.text));
      case "rule":
        return element("hr");
      case "quote":
        return element("blockquote", {}, ...this.#nested(block.blocks));
      case "code":
        return this.#code(block.text, block.language);
      case "list": {
        const items = block.items.map(({ done, blocks }) => {
          const [only] = blocks;
          const isTight = blocks.length === 1 && only?.kind === "paragraph";
          const content = isTight ? inline(only.text) : this.#nested(blocks);
          const box = done === null ? [] : [element("span", { class: "box", role: "img", "aria-label": done ? "done" : "not done" }, done ? "☑ " : "☐ ")];
          return element("li", { class: done === null ? undefined : "task" }, ...box, ...content);
        });
        const start = block.first === null || block.first === 1 ? undefined : String(block.first);
        return block.first === null ? element("ul", {}, ...items) : element("ol", { start }, ...items);
      }
      case "table": {
        const cell = (tag: "th" | "td", text: string, place: number): HTMLElement =>
          element(tag, { class: block.aligned[place] ?? undefined }, ...inline(text));
        const head = element("tr", {}, ...block.head.map((text, place) => cell("th", text, place)));
        const rows = block.rows.map((row) => element("tr", {}, ...row.map((text, place) => cell("td", text, place))));
        const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
        return element("div", { class: "wide-block", tabindex: "0", role: "region", "aria-label": "Table" }, table);
      }
    }
  }

  #nested(blocks: readonly Block[]): Element[] {
    return blocks.map((block) => this.#made(block, false));
  }

  #code(text: string, language: string): Element {
    const label = language === "" ? "Code" : visible(language.slice(0, 40));
    const code = element("code", {}, readable(text));
    const copy = copyButton(() => code.textContent ?? "", this.#means.announce);
    return element(
      "figure",
      { class: "code" },
      element("figcaption", {}, element("span", {}, language === "" ? "" : label), copy),
      element("pre", { tabindex: "0", role: "region", "aria-label": label }, code),
    );
  }
}

/** Copies a text, and shows for a moment that it did. */
export function copyButton(text: () => string, announce: (text: string) => void): HTMLButtonElement {
  const label = element("span", {}, "Copy");
  const made = button("copy", [label], () => {
    navigator.clipboard.writeText(text()).then(
      () => {
        setText(label, "Copied");
        announce("Copied");
        setTimeout(() => setText(label, "Copy"), COPIED_MS);
      },
      () => setText(label, "Not copied"),
    );
  });
  made.className = "quiet copy";
  made.prepend(icon("copy"));
  return made;
}

function isSameText(old: Block, block: Block, before: string, now: string): boolean {
  const isSamePlace = old.kind === block.kind && old.start === block.start && old.end === block.end;
  // A text that grows is the same up to its old length.
  return isSamePlace && old.end <= before.length && old.end <= now.length;
}

/** Adds what a paragraph of plain text or code has more than before; `false` if its element has to be built again. */
function grown(shown: Element, old: Block, block: Block): boolean {
  if (old.kind !== "code" || block.kind !== "code" || old.language !== block.language || !block.text.startsWith(old.text)) {
    return false;
  }
  const last = shown.querySelector("code:not([data-coloured])")?.lastChild;
  if (!(last instanceof Text)) {
    return false;
  }
  last.appendData(readable(block.text.slice(old.text.length)));
  return true;
}

export function inline(text: string): Array<Node | string> {
  return parseInline(text).map(inlineNode);
}

function inlineNode(node: Inline): Node | string {
  switch (node.kind) {
    case "text":
      return readable(node.text);
    case "code":
      return element("code", {}, readable(node.text));
    case "break":
      return element("br");
    case "strong":
      return element("strong", {}, ...node.children.map(inlineNode));
    case "emphasis":
      return element("em", {}, ...node.children.map(inlineNode));
    case "deleted":
      return element("del", {}, ...node.children.map(inlineNode));
    case "link": {
      const link = element(
        "a",
        { href: node.href, target: "_blank", rel: "noopener noreferrer", title: visible(node.href) },
        ...node.children.map(inlineNode),
      );
      const other = otherHost(link.textContent ?? "", node.href);
      return other === null ? link : element("span", {}, link, ` (${visible(other)})`);
    }
  }
}

/** The host of an address whose text names another one. */
function otherHost(text: string, href: string): string | null {
  const named = /^\s*(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]|\s*$)/i.exec(text)?.[1];
  const { hostname } = new URL(href);
  return named === undefined || hostname === "" || named.toLowerCase() === hostname ? null : hostname;
}
