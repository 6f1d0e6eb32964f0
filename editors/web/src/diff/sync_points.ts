// Positions at which both sides start the same line and so must be aligned.

import type { Chunk } from "@codemirror/merge";
import type { EditorView } from "@codemirror/view";
import { basePosition, firstEndingAfter } from "./chunks";
import { foldedAt } from "./collapse";

export interface SyncPoint {
  readonly before: number;
  readonly after: number;
}

/** After each change. */
export function everySyncPoint(before: EditorView, after: EditorView, chunks: readonly Chunk[]): SyncPoint[] {
  return inOrder(before, after, chunks.map((chunk) => ({ before: chunk.toA, after: chunk.toB })));
}

/** The sync points that both sides have drawn: after each change and after each of the `lines` of the proposed side. The
 * first is at the top of the proposed side's drawn part, wherever the other side is: it corrects for the lines above
 * that were never drawn and whose heights are estimates. */
export function drawnSyncPoints(
  before: EditorView,
  after: EditorView,
  chunks: readonly Chunk[],
  lines: readonly number[],
): SyncPoint[] {
  const [a, b] = [before.viewport, after.viewport];
  const all: SyncPoint[] = [];
  for (let index = firstEndingAfter(chunks, b.from - 1, "after"); index < chunks.length; index += 1) {
    const chunk = chunks[index];
    if (chunk === undefined || chunk.toB > b.to) break;
    all.push({ before: chunk.toA, after: chunk.toB });
  }
  for (const pos of [...lines.filter((line) => isWithin(line, b)), b.from]) {
    const base = foldedAt(after.state, pos, pos).length > 0 ? null : basePosition(chunks, pos, before.state.doc);
    if (base !== null) all.push({ before: base, after: pos });
  }
  return inOrder(before, after, all).filter((point, index) => index === 0 || isWithin(point.before, a));
}

/** Whether the ends of both sides are drawn. */
export function atTheEnd(before: EditorView, after: EditorView): boolean {
  return before.viewport.to === before.state.doc.length && after.viewport.to === after.state.doc.length;
}

function isWithin(pos: number, { from, to }: EditorView["viewport"]): boolean {
  return from <= pos && pos <= to;
}

/** In text order, without duplicates, and none past an end. */
function inOrder(before: EditorView, after: EditorView, points: SyncPoint[]): SyncPoint[] {
  points.sort((one, other) => one.after - other.after || one.before - other.before);
  return points.filter((point, index) => {
    const previous = points[index - 1];
    const known = previous?.after === point.after || previous?.before === point.before;
    return !known && point.before <= before.state.doc.length && point.after <= after.state.doc.length;
  });
}
