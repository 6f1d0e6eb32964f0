// Updates the changed chunks while the user edits the text, in whole lines as the hub counts them: a line includes its
// ending, and the last one may lack it. Only the lines an edit can have touched are compared again.

import { Chunk } from "@codemirror/merge";
import { type ChangeDesc, ChangeSet, type Text } from "@codemirror/state";
import { changedPieces, changedWords } from "./token_diff";
import { lineStart } from "./text";

/** From the start of one line to the start of another, or past the end of the text. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The chunks of another text, treated as one edit of a text whose chunks are known. */
export function chunksOfEdited(chunks: readonly Chunk[], base: Text, doc: Text, next: Text): Chunk[] {
  const [one, other] = [doc.toString(), next.toString()];
  if (one === other) return [...chunks];
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one.charCodeAt(start) === other.charCodeAt(start)) start += 1;
  let end = 0;
  while (end < most - start && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end)) end += 1;
  const change = { from: start, to: one.length - end, insert: next.slice(start, other.length - end) };
  return chunksAfterEdit(chunks, base, doc, next, ChangeSet.of(change, doc.length));
}

/** `doc` and `chunks` before the edit, `next` after it. */
export function chunksAfterEdit(chunks: readonly Chunk[], base: Text, doc: Text, next: Text, changes: ChangeDesc): Chunk[] {
  let { from, to } = touchedLines(doc, changes);
  let first = chunks.findIndex((chunk) => chunk.toB >= from);
  if (first < 0) first = chunks.length;
  let after = first;
  for (let chunk = chunks[after]; chunk !== undefined && chunk.fromB <= to; chunk = chunks[after]) {
    from = Math.min(from, chunk.fromB);
    to = Math.max(to, chunk.toB);
    after += 1;
  }
  const above = chunks[first - 1];
  const last = chunks[after - 1];
  const fromA = above === undefined ? from : above.toA + (from - above.toB);
  let toA = last === undefined ? to : last.toA + (to - last.toB);
  // If one side ends here, so does the other, except for the empty line after a final line ending.
  if (toA > base.length || to > doc.length) [toA, to] = [base.length + 1, doc.length + 1];
  const growth = next.length - doc.length;
  const fresh = compared(base, { from: fromA, to: toA }, next, { from, to: to + growth });
  const below = chunks.slice(after).map(({ changes: words, fromA: start, toA: end, fromB, toB }) => {
    return new Chunk(words, start, end, fromB + growth, toB + growth);
  });
  return [...chunks.slice(0, first), ...fresh, ...below];
}

function touchedLines(doc: Text, changes: ChangeDesc): Stretch {
  let from = doc.length;
  let to = 0;
  changes.iterChangedRanges((start, end) => {
    from = Math.min(from, start);
    to = Math.max(to, end);
  });
  return { from: doc.lineAt(from).from, to: doc.lineAt(to).to + 1 };
}

function compared(before: Text, a: Stretch, after: Text, b: Stretch): Chunk[] {
  const [firstA, firstB] = [lineIndex(before, a.from), lineIndex(after, b.from)];
  return changedPieces(linesIn(before, a), linesIn(after, b)).map((change) => {
    const removed = lines(before, firstA + change.fromA, firstA + change.toA);
    const added = lines(after, firstB + change.fromB, firstB + change.toB);
    const words = changedWords(before.sliceString(removed.from, removed.to), after.sliceString(added.from, added.to));
    return new Chunk(words, removed.from, removed.to, added.from, added.to);
  });
}

function linesIn(doc: Text, { from, to }: Stretch): string[] {
  if (from > doc.length || from >= to) return [];
  const first = doc.lineAt(from).number;
  const last = doc.lineAt(Math.min(to - 1, doc.length)).number;
  const found = [...doc.iterLines(first, last + 1)].map((text, index) => (first + index < doc.lines ? `${text}\n` : text));
  if (found[found.length - 1] === "") found.pop();
  return found;
}

function lineIndex(doc: Text, pos: number): number {
  return pos > doc.length ? doc.lines : doc.lineAt(pos).number - 1;
}

function lines(doc: Text, first: number, end: number): Stretch {
  const from = Math.min(lineStart(doc, first), doc.length);
  return { from, to: first === end ? from : lineStart(doc, end) };
}
