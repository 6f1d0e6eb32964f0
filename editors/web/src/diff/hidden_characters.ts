// Shows invisible and bidirectional control characters as boxes with their code, except the tab.

import type { Extension } from "@codemirror/state";
import { highlightSpecialChars } from "@codemirror/view";
import { element } from "../shell/dom";
import { HIDDEN } from "../shell/visible";

const BOXED = new RegExp(`(?!\t)${HIDDEN.source}`, "gu");

const NAMES: Readonly<Record<number, string>> = {
  0x0: "null",
  0xd: "carriage return",
  0x1b: "escape",
  0xad: "soft hyphen",
  0x200b: "zero width space",
  0x200c: "zero width non-joiner",
  0x200d: "zero width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "end of embedding",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "end of isolate",
  0xfeff: "byte order mark",
};

function box(code: number): HTMLElement {
  const point = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const name = NAMES[code];
  const title = name === undefined ? `${point}, invisible character` : `${point}, ${name}`;
  // Lines that end with it are ordinary in many files; a large box on each would hide the text.
  const kind = code === 0xd ? "ls-hidden ls-return" : "ls-hidden";
  return element("span", { class: kind, title, role: "img", "aria-label": title }, code === 0xd ? "CR" : point);
}

export const hiddenCharacters: Extension = highlightSpecialChars({ specialChars: BOXED, render: (code) => box(code) });

/** A text as nodes, with boxes for invisible characters. */
export function boxed(text: string): Node[] {
  const nodes: Node[] = [];
  let copied = 0;
  for (const found of text.matchAll(BOXED)) {
    if (found.index > copied) nodes.push(document.createTextNode(text.slice(copied, found.index)));
    nodes.push(box(found[0].codePointAt(0) ?? 0));
    copied = found.index + found[0].length;
  }
  if (copied < text.length) nodes.push(document.createTextNode(text.slice(copied)));
  return nodes;
}
