// Converts the hub's hunks to the chunks that the editors show, one to one. The merge package's own conversion joins
// nearby differences, so its `Chunk` is filled here.

import { Change, Chunk } from "@codemirror/merge";
import type { Text } from "@codemirror/state";
import type { Position, ReviewHunk } from "../../../protocol";
import { lineStart } from "./text";

export function chunksOf(hunks: readonly ReviewHunk[], before: Text, after: Text): Chunk[] {
  return hunks.map((hunk) => {
    const a = stretch(before, hunk.beforeStart, hunk.beforeCount);
    const b = stretch(after, hunk.afterStart, hunk.afterCount);
    const words = hunk.words.map((word) => {
      const removed = inside(before, a, word.before.start, word.before.end);
      const added = inside(after, b, word.after.start, word.after.end);
      return new Change(removed.from, removed.to, added.from, added.to);
    });
    return new Chunk(words, a.from, a.to, b.from, b.to);
  });
}

interface Stretch {
  from: number;
  to: number;
}

/** `to` is one past the last line's end, as in a `Chunk`, even if the text ends there. */
function stretch(doc: Text, start: number, count: number): Stretch {
  const from = Math.min(lineStart(doc, start), doc.length);
  return { from, to: count === 0 ? from : Math.max(from, lineStart(doc, start + count)) };
}

/** Relative to the chunk, as the changes of a `Chunk` are. */
function inside(doc: Text, { from, to }: Stretch, start: Position, end: Position): Stretch {
  const at = (position: Position): number => {
    const first = lineStart(doc, position.line);
    if (first > doc.length) return to - from;
    const pos = Math.min(first + position.character, doc.lineAt(first).to);
    return Math.min(Math.max(pos, from), to) - from;
  };
  return { from: at(start), to: at(end) };
}

/** Index of the first chunk that ends after `pos` on a side. */
export function firstEndingAfter(chunks: readonly Chunk[], pos: number, on: "before" | "after"): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const chunk = chunks[middle];
    if (chunk !== undefined && (on === "before" ? chunk.toA : chunk.toB) > pos) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The base position of an unchanged position of the proposed side; `null` in a change and past the base's end. */
export function basePosition(chunks: readonly Chunk[], pos: number, base: Text): number | null {
  const index = firstEndingAfter(chunks, pos, "after");
  if ((chunks[index]?.fromB ?? Number.POSITIVE_INFINITY) <= pos) return null;
  const previous = chunks[index - 1];
  const at = previous === undefined ? pos : previous.toA + (pos - previous.toB);
  return at <= base.length ? at : null;
}

/** The edit that replaces a chunk by the base's lines, to the byte. */
export function reverting(chunk: Chunk, before: Text, after: Text): { from: number; to: number; insert: Text } {
  // If the base ends with this chunk, nothing may follow it, not even a final line ending.
  const to = chunk.toA > before.length ? after.length : Math.min(chunk.toB, after.length);
  return { from: chunk.fromB, to, insert: before.slice(chunk.fromA, Math.min(chunk.toA, before.length)) };
}
