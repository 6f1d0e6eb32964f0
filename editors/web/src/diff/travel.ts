// Going from change to change: which one is next, and bringing it on screen.

import type { Chunk } from "@codemirror/merge";
import { EditorView } from "@codemirror/view";

/** The chunk the position is in, or -1. */
export function chunkAt(chunks: readonly Chunk[], pos: number): number {
  return chunks.findIndex((chunk) => chunk.fromB <= pos && pos <= chunk.endB);
}

/** The chunk after or before a position, round the end of the file. */
export function chunkBeyond(chunks: readonly Chunk[], pos: number, step: 1 | -1): number {
  if (step > 0) {
    const next = chunks.findIndex((chunk) => chunk.fromB > pos);
    return next < 0 ? 0 : next;
  }
  const here = chunkAt(chunks, pos);
  const previous = here >= 0 ? here - 1 : chunks.filter((chunk) => chunk.fromB < pos).length - 1;
  return previous < 0 ? chunks.length - 1 : previous;
}

/** Brings the bar of a chunk to where the eye is; moves nothing if it is there. */
export function bringIntoView(
  view: EditorView,
  root: HTMLElement,
  index: number,
  chunk: Chunk,
  then: (bar: HTMLElement) => void,
): void {
  const pos = Math.min(chunk.fromB, view.state.doc.length);
  const find = (): HTMLElement | null => root.querySelector<HTMLElement>(`[data-chunk="${index}"]`);
  if (find() === null) view.dispatch({ effects: EditorView.scrollIntoView(pos, { y: "center" }) });
  // What was far away is drawn first; only then it is known where it is.
  requestAnimationFrame(() => {
    const bar = find();
    if (bar === null) return;
    const { top } = bar.getBoundingClientRect();
    const frame = root.getBoundingClientRect();
    const highest = Math.max(frame.top, 0);
    const lowest = Math.min(frame.bottom, window.innerHeight);
    if (top < highest || top > highest + (lowest - highest) * 0.7) bar.scrollIntoView({ block: "start" });
    then(bar);
  });
}
