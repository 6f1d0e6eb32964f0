// Moves between changes: finds the next one and scrolls it into view.

import type { Chunk } from "@codemirror/merge";
import { EditorView } from "@codemirror/view";
import { BAR_HEIGHT } from "./block";
import { firstEndingAfter } from "./chunks";

/** Index of the chunk that contains the position, or -1. */
export function chunkAt(chunks: readonly Chunk[], pos: number): number {
  return chunks.findIndex((chunk) => chunk.fromB <= pos && pos <= chunk.endB);
}

/** Index of the chunk after or before a position, wrapping around the end of the file. */
export function chunkBeyond(chunks: readonly Chunk[], pos: number, step: 1 | -1): number {
  if (step > 0) {
    const next = chunks.findIndex((chunk) => chunk.fromB > pos);
    return next < 0 ? 0 : next;
  }
  const here = chunkAt(chunks, pos);
  const previous = here >= 0 ? here - 1 : chunks.filter((chunk) => chunk.fromB < pos).length - 1;
  return previous < 0 ? chunks.length - 1 : previous;
}

/** The chunks that are at least partly on the screen, from top to bottom. */
export function chunksInView(view: EditorView, root: HTMLElement, chunks: readonly Chunk[]): number[] {
  const { top, bottom } = frameOf(root);
  const { from, to } = view.viewport;
  const seen: number[] = [];
  for (let index = firstEndingAfter(chunks, from - 1, "after"); index < chunks.length; index += 1) {
    const chunk = chunks[index];
    if (chunk === undefined || chunk.fromB > to) break;
    const first = view.lineBlockAt(Math.min(chunk.fromB, view.state.doc.length)).top + view.documentTop;
    const last = view.lineBlockAt(Math.min(chunk.endB, view.state.doc.length)).bottom + view.documentTop;
    if (first + BAR_HEIGHT <= bottom && last > top) seen.push(index);
  }
  return seen;
}

/** The visible part of an element. */
function frameOf(root: HTMLElement): { top: number; bottom: number } {
  const { top, bottom } = root.getBoundingClientRect();
  return { top: Math.max(top, 0), bottom: Math.min(bottom, window.innerHeight) };
}

/** Scrolls a chunk's bar into the upper part of the view; does nothing if it is already there. */
export function bringIntoView(
  view: EditorView,
  root: HTMLElement,
  index: number,
  chunk: Chunk,
  then: (bar: HTMLElement) => void,
  upper = 0.7,
): void {
  const pos = Math.min(chunk.fromB, view.state.doc.length);
  const find = (): HTMLElement | null => root.querySelector<HTMLElement>(`[data-chunk="${index}"]`);
  if (find() === null) view.dispatch({ effects: EditorView.scrollIntoView(pos, { y: "center" }) });
  // A distant chunk has to be drawn before its position is known.
  requestAnimationFrame(() => {
    const bar = find();
    if (bar === null) return;
    const { top } = bar.getBoundingClientRect();
    const frame = frameOf(root);
    if (top < frame.top || top > frame.top + (frame.bottom - frame.top) * upper) bar.scrollIntoView({ block: "start" });
    then(bar);
  });
}
