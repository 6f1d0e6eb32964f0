// Where both sides begin the same line, and so must be level.

import type { Chunk } from "@codemirror/merge";
import type { EditorView } from "@codemirror/view";
import { basePosition, firstEndingAfter } from "./chunks";
import { foldedAt } from "./collapse";

export interface Meeting {
  readonly before: number;
  readonly after: number;
}

/** After each change, after each of the `lines` of the proposed side, and at the top of what is drawn, because the
 * heights of lines that were never drawn are guesses. In the order of the text. */
export function meetingsOf(before: EditorView, after: EditorView, chunks: readonly Chunk[], lines: readonly number[]): Meeting[] {
  const all: Meeting[] = chunks.map((chunk) => ({ before: chunk.toA, after: chunk.toB }));
  for (const pos of [...lines, after.viewport.from]) {
    const index = firstEndingAfter(chunks, pos, "after");
    if ((chunks[index]?.fromB ?? Number.POSITIVE_INFINITY) <= pos || foldedAt(after.state, pos, pos).length > 0) continue;
    const base = basePosition(chunks, pos, before.state.doc);
    if (base !== null) all.push({ before: base, after: pos });
  }
  all.sort((one, other) => one.after - other.after || one.before - other.before);
  return all.filter((meeting, index) => {
    const previous = all[index - 1];
    const known = previous?.after === meeting.after || previous?.before === meeting.before;
    return !known && meeting.before <= before.state.doc.length && meeting.after <= after.state.doc.length;
  });
}

/** Those that are drawn on either side. */
export function drawn(meetings: readonly Meeting[], before: EditorView, after: EditorView): Meeting[] {
  const from = { before: before.viewport.from, after: after.viewport.from };
  const to = { before: before.viewport.to, after: after.viewport.to };
  return meetings.filter(
    (meeting) => (meeting.before >= from.before || meeting.after >= from.after) && (meeting.before <= to.before || meeting.after <= to.after),
  );
}

/** Whether the ends of both sides are drawn. */
export function atTheEnd(before: EditorView, after: EditorView): boolean {
  return before.viewport.to === before.state.doc.length && after.viewport.to === after.state.doc.length;
}
