// The blocks of a Markdown text: paragraphs, headings, lists, code, quotes and tables. Pure. A text that grows at its end
// is parsed again only from the block before its last one.

export type Block = { readonly start: number; readonly end: number } & (
  | { kind: "paragraph"; text: string }
  | { kind: "heading"; level: number; text: string }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; first: number | null; items: ListItem[] }
  | { kind: "table"; aligned: Alignment[]; head: string[]; rows: string[][] }
  | { kind: "rule" }
);

export interface ListItem {
  /** Whether its box is ticked, if it has one. */
  done: boolean | null;
  blocks: Block[];
}

export type Alignment = "left" | "center" | "right" | null;

/** Deeper quotes and lists are paragraphs. */
const DEEPEST = 6;
const MOST_COLUMNS = 64;

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}>[ \t]?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export function parseBlocks(source: string): Block[] {
  return blocksOf(linesOf(source, 0), 0);
}

/** The blocks of a text that begins with the text of `known`. */
export function parseAppended(known: readonly Block[], source: string): Block[] {
  const kept = known.slice(0, -2);
  const start = known.at(-2)?.start ?? 0;
  return [...kept, ...blocksOf(linesOf(source, start), 0)];
}

function linesOf(source: string, from: number): Line[] {
  const lines: Line[] = [];
  for (let start = from; start < source.length; ) {
    const found = source.indexOf("\n", start);
    const end = found === -1 ? source.length : found + 1;
    const text = source.slice(start, found === -1 ? end : found);
    lines.push({ text: text.endsWith("\r") ? text.slice(0, -1) : text, start, end });
    start = end;
  }
  return lines;
}

function blocksOf(lines: readonly Line[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (line === undefined || line.text.trim() === "") {
      at += 1;
      continue;
    }
    const { block, next } = blockAt(lines, at, line, depth);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines: readonly Line[], at: number, line: Line, depth: number): { block: Block; next: number } {
  const place = (next: number): { start: number; end: number } => ({ start: line.start, end: lines[next - 1]?.end ?? line.end });
  const fence = FENCE.exec(line.text);
  if (fence !== null) {
    return fenced(lines, at, fence, place);
  }
  const heading = HEADING.exec(line.text);
  if (heading !== null) {
    const block: Block = { kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "", ...place(at + 1) };
    return { block, next: at + 1 };
  }
  if (RULE.test(line.text)) {
    return { block: { kind: "rule", ...place(at + 1) }, next: at + 1 };
  }
  if (depth < DEEPEST && QUOTE.test(line.text)) {
    let next = at;
    const inner: Line[] = [];
    for (; next < lines.length; next += 1) {
      const other = lines[next];
      if (other === undefined || !QUOTE.test(other.text)) break;
      inner.push({ ...other, text: other.text.replace(QUOTE, "") });
    }
    return { block: { kind: "quote", blocks: blocksOf(inner, depth + 1), ...place(next) }, next };
  }
  if (depth < DEEPEST && ITEM.test(line.text)) {
    return list(lines, at, depth, place);
  }
  const delimiters = lines[at + 1];
  if (line.text.includes("|") && delimiters !== undefined && DELIMITERS.test(delimiters.text)) {
    const head = cells(line.text);
    const aligned = cells(delimiters.text).map(alignment);
    if (head.length === aligned.length && head.length <= MOST_COLUMNS) {
      return table(lines, at, head, aligned, place);
    }
  }
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const other = lines[next]?.text ?? "";
    if (other.trim() === "" || interrupts(other, depth)) break;
  }
  const text = lines
    .slice(at, next)
    .map((each) => each.text.replace(/^ {0,3}/, ""))
    .join("\n")
    .trimEnd();
  return { block: { kind: "paragraph", text, ...place(next) }, next };
}

/** Whether a line ends a paragraph without an empty line between. */
function interrupts(text: string, depth: number): boolean {
  const item = depth < DEEPEST ? ITEM.exec(text) : null;
  const isList = item !== null && item[3] !== "" && (!/\d/.test(item[2] ?? "") || item[2] === "1." || item[2] === "1)");
  return isList || FENCE.test(text) || HEADING.test(text) || RULE.test(text) || (depth < DEEPEST && QUOTE.test(text));
}

type Place = (next: number) => { start: number; end: number };

function fenced(lines: readonly Line[], at: number, fence: RegExpExecArray, place: Place): { block: Block; next: number } {
  const mark = fence[1] ?? "```";
  const indent = /^ */.exec(fence[0])?.[0].length ?? 0;
  const inner: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const text = lines[next]?.text ?? "";
    const trimmed = text.trim();
    if (trimmed.length >= mark.length && trimmed === mark.charAt(0).repeat(trimmed.length) && /^ {0,3}\S/.test(text)) {
      next += 1;
      break;
    }
    inner.push(text.slice(Math.min(indent, /^ */.exec(text)?.[0].length ?? 0)));
  }
  const language = (fence[2] ?? "").trim().split(/\s+/)[0] ?? "";
  return { block: { kind: "code", language, text: inner.join("\n"), ...place(next) }, next };
}

function list(lines: readonly Line[], at: number, depth: number, place: Place): { block: Block; next: number } {
  const first = ITEM.exec(lines[at]?.text ?? "")?.[2] ?? "-";
  const isOrdered = /\d/.test(first);
  const items: ListItem[] = [];
  let next = at;
  while (next < lines.length) {
    const line = lines[next];
    const found = line === undefined ? null : ITEM.exec(line.text);
    if (line === undefined || found === null || /\d/.test(found[2] ?? "") !== isOrdered || RULE.test(line.text)) break;
    const padding = found[3] ?? "";
    // After a wide gap the rest is code in the item; the text then starts one column after the mark.
    const width = (found[1] ?? "").length + (found[2] ?? "").length + (padding.length > 4 || padding === "" ? 1 : padding.length);
    const inner: Line[] = [{ ...line, text: line.text.slice(width) }];
    next = itemEnd(lines, next + 1, width, inner, depth);
    const task = /^\[([ xX])\][ \t]+/.exec(inner[0]?.text ?? "");
    if (task !== null) {
      inner[0] = { ...line, text: inner[0]?.text.slice(task[0].length) ?? "" };
    }
    items.push({ done: task === null ? null : task[1] !== " ", blocks: blocksOf(inner, depth + 1) });
  }
  const number = isOrdered ? Number.parseInt(first, 10) : null;
  return { block: { kind: "list", first: number, items, ...place(next) }, next };
}

/** Collects the lines of an item after its first; returns the line after them. */
function itemEnd(lines: readonly Line[], from: number, width: number, inner: Line[], depth: number): number {
  let next = from;
  for (; next < lines.length; next += 1) {
    const line = lines[next];
    if (line === undefined) break;
    const { text } = line;
    const indent = /^[ \t]*/.exec(text)?.[0].replaceAll("\t", "    ").length ?? 0;
    if (text.trim() === "") {
      const after = lines[next + 1]?.text ?? "";
      const afterIndent = /^[ \t]*/.exec(after)?.[0].replaceAll("\t", "    ").length ?? 0;
      if (after.trim() === "" || (afterIndent < width && !ITEM.test(after))) break;
      inner.push(line);
    } else if (indent >= width) {
      inner.push({ ...line, text: text.startsWith("\t") ? text.slice(1) : text.slice(width) });
    } else if (ITEM.test(text) || lines[next - 1]?.text.trim() === "" || interrupts(text, depth)) {
      break;
    } else {
      inner.push({ ...line, text: text.trimStart() });
    }
  }
  return next;
}

function table(
  lines: readonly Line[],
  at: number,
  head: string[],
  aligned: Alignment[],
  place: Place,
): { block: Block; next: number } {
  const rows: string[][] = [];
  let next = at + 2;
  for (; next < lines.length; next += 1) {
    const text = lines[next]?.text ?? "";
    if (text.trim() === "" || !text.includes("|")) break;
    const row = cells(text).slice(0, head.length);
    rows.push([...row, ...new Array<string>(head.length - row.length).fill("")]);
  }
  return { block: { kind: "table", aligned, head, rows, ...place(next) }, next };
}

function cells(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function alignment(cell: string): Alignment {
  const [left, right] = [cell.startsWith(":"), cell.endsWith(":")];
  return left && right ? "center" : right ? "right" : left ? "left" : null;
}
