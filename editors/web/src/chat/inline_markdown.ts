// Markdown inside a line of text: emphasis, code, links. Pure; the result is a tree, never markup. HTML is text, and so
// is a link whose address is not a web or mail address.

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "emphasis" | "deleted"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] }
  | { kind: "break" };

/** Deeper nesting is text. */
const DEEPEST = 100;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const ADDRESS = /https?:\/\/[^\s<>`"'\\^{|}\u0000-\u001f]+/y;

interface Opener {
  /** `[`, or a run of `*`, `_` or `~`. */
  readonly mark: string;
  readonly length: number;
  /** Where it is in `nodes`. */
  readonly at: number;
}

export function parseInline(source: string): Inline[] {
  const nodes: Inline[] = [];
  const openers: Opener[] = [];
  /** Runs of backticks without a partner: looking again would take quadratic time. */
  const unmatched = new Set<number>();
  let plain = "";
  const flush = (): void => {
    if (plain !== "") {
      nodes.push({ kind: "text", text: plain });
      plain = "";
    }
  };
  let at = 0;
  while (at < source.length) {
    const character = source.charAt(at);
    if (character === "\\") {
      const next = source.charAt(at + 1);
      if (next === "\n") {
        flush();
        nodes.push({ kind: "break" });
        at += 2;
      } else if (ESCAPABLE.test(next)) {
        plain += next;
        at += 2;
      } else {
        plain += character;
        at += 1;
      }
    } else if (character === "`") {
      const length = runLength(source, at, "`");
      const end = unmatched.has(length) ? -1 : closingTicks(source, at + length, length);
      if (end === -1) {
        unmatched.add(length);
        plain += "`".repeat(length);
        at += length;
      } else {
        flush();
        const code = source.slice(at + length, end).replaceAll("\n", " ");
        const isPadded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "";
        nodes.push({ kind: "code", text: isPadded ? code.slice(1, -1) : code });
        at = end + length;
      }
    } else if (character === "\n") {
      // Not the end of `plain`: to look there each time takes time that grows with its length.
      if (source.endsWith("  ", at)) {
        plain = plain.trimEnd();
        flush();
        nodes.push({ kind: "break" });
      } else {
        plain += "\n";
      }
      at += 1;
    } else if (character === "[") {
      flush();
      open(openers, { mark: "[", length: 1, at: nodes.length });
      nodes.push({ kind: "text", text: "[" });
      at += 1;
    } else if (character === "]") {
      flush();
      at = closeLink(source, at, nodes, openers);
    } else if (character === "*" || character === "_" || character === "~") {
      flush();
      at = emphasis(source, at, character, nodes, openers);
    } else if (character === "<") {
      const found = /^<(https?:\/\/[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>/.exec(source.slice(at, at + 2000));
      if (found === null) {
        plain += character;
        at += 1;
      } else {
        flush();
        const address = found[1] ?? "";
        nodes.push(linked(address.includes("://") ? address : `mailto:${address}`, [{ kind: "text", text: address }]));
        at += found[0].length;
      }
    } else if (character === "h" && !/[A-Za-z0-9]/.test(source.charAt(at - 1)) && isAddress(source, at)) {
      flush();
      const address = source.slice(at, ADDRESS.lastIndex).replace(/[.,:;!?*_~)\]]+$/, "");
      nodes.push(linked(address, [{ kind: "text", text: address }]));
      at += address.length;
    } else {
      plain += character;
      at += 1;
    }
  }
  flush();
  return joined(nodes);
}

/** The address of a link that may be followed, or `null`. */
export function safeAddress(address: string): string | null {
  try {
    const url = new URL(address);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** A link, or its text with the address after it, if it must not be followed. */
function linked(address: string, children: Inline[]): Inline {
  const href = safeAddress(address);
  if (href !== null) {
    return { kind: "link", href, children };
  }
  // The name of a file: agents link them, and here there is nothing behind such a link.
  const code: Inline = { kind: "code", text: address };
  const isSame = children.length === 1 && children[0]?.kind === "text" && children[0].text === address;
  return isSame ? code : { kind: "emphasis", children: [...children, { kind: "text", text: " (" }, code, { kind: "text", text: ")" }] };
}

function isAddress(source: string, at: number): boolean {
  ADDRESS.lastIndex = at;
  return ADDRESS.test(source);
}

function open(openers: Opener[], opener: Opener): void {
  if (openers.length >= DEEPEST) {
    openers.shift();
  }
  openers.push(opener);
}

/** The place of the last one with either mark, or -1. */
function lastPlace(openers: readonly Opener[], one: string, other: string): number {
  let place = openers.length - 1;
  while (place >= 0 && openers[place]?.mark !== one && openers[place]?.mark !== other) {
    place -= 1;
  }
  return place;
}

function runLength(source: string, from: number, character: string): number {
  let to = from;
  while (source.charAt(to) === character) {
    to += 1;
  }
  return to - from;
}

function closingTicks(source: string, from: number, length: number): number {
  for (let at = source.indexOf("`", from); at !== -1; ) {
    const found = runLength(source, at, "`");
    if (found === length) {
      return at;
    }
    at = source.indexOf("`", at + found);
  }
  return -1;
}

/** Handles a `]`; returns where to continue. */
function closeLink(source: string, at: number, nodes: Inline[], openers: Opener[]): number {
  const place = lastPlace(openers, "[", "[");
  const opener = openers[place];
  const found = /^\]\(\s*(?:<([^<>\n]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)/.exec(
    source.slice(at, at + 4000),
  );
  if (opener === undefined || found === null) {
    if (opener !== undefined) {
      openers.length = place;
    }
    nodes.push({ kind: "text", text: "]" });
    return at + 1;
  }
  const children = joined(nodes.splice(opener.at).slice(1));
  openers.length = place;
  // The mark of a picture: only its description is shown.
  const before = nodes.at(-1);
  if (before?.kind === "text" && before.text.endsWith("!")) {
    before.text = before.text.slice(0, -1);
  }
  nodes.push(linked(found[1] ?? found[2] ?? "", children));
  return at + found[0].length;
}

function emphasis(source: string, at: number, mark: string, nodes: Inline[], openers: Opener[]): number {
  const length = runLength(source, at, mark);
  const before = source.charAt(at - 1);
  const after = source.charAt(at + length);
  const isInWord = mark === "_" && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after);
  const canOpen = after !== "" && !/\s/.test(after) && !isInWord;
  const canClose = before !== "" && !/\s/.test(before) && !isInWord;
  let left = length;
  while (canClose && left > 0) {
    const place = lastPlace(openers, mark, "[");
    const opener = openers[place];
    if (opener === undefined || opener.mark === "[") {
      break;
    }
    const used = Math.min(left, opener.length, 2);
    if (mark === "~" && used !== 2) {
      break;
    }
    const children = joined(nodes.splice(opener.at).slice(1));
    openers.length = place;
    const kind = mark === "~" ? "deleted" : used === 2 ? "strong" : "emphasis";
    if (opener.length > used) {
      open(openers, { mark, length: opener.length - used, at: nodes.length });
      nodes.push({ kind: "text", text: mark.repeat(opener.length - used) });
    }
    nodes.push({ kind, children });
    left -= used;
  }
  if (left > 0) {
    if (canOpen) {
      open(openers, { mark, length: left, at: nodes.length });
    }
    nodes.push({ kind: "text", text: mark.repeat(left) });
  }
  return at + length;
}

/** With neighbouring texts made one. */
function joined(nodes: readonly Inline[]): Inline[] {
  const result: Inline[] = [];
  for (const node of nodes) {
    const last = result.at(-1);
    if (node.kind === "text" && last?.kind === "text") {
      result[result.length - 1] = { kind: "text", text: last.text + node.text };
    } else {
      result.push(node);
    }
  }
  return result;
}
