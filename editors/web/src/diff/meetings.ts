// Where both sides begin the same line, and so must be level.

import type { Chunk } from "@codemirror/merge";
import type { EditorView } from "@codemirror/view";
import { basePosition, firstEndingAfter } from "./chunks";
import { foldedAt } from "./collapse";

export interface Meeting {
  readonly before: number;
  readonly after: number;
}

/** After each change. */
export function everyMeeting(before: EditorView, after: EditorView, chunks: readonly Chunk[]): Meeting[] {
  return inOrder(before, after, chunks.map((chunk) => ({ before: chunk.toA, after: chunk.toB })));
}

/** Those that both sides have drawn: after each change and after each of the `lines` of the proposed side. The first is
 * at the top of what the proposed side has drawn, wherever the other one is: it makes up for the lines above that were
 * never drawn and whose heights are guesses. */
export function drawnMeetings(
  before: EditorView,
  after: EditorView,
  chunks: readonly Chunk[],
  lines: readonly number[],
): Meeting[] {
  const [a, b] = [before.viewport, after.viewport];
  const all: Meeting[] = [];
  for (let index = firstEndingAfter(chunks, b.from - 1, "after"); index < chunks.length; index += 1) {
    const chunk = chunks[index];
    if (chunk === undefined || chunk.toB > b.to) break;
    all.push({ before: chunk.toA, after: chunk.toB });
  }
  for (const pos of [...lines.filter((line) => isWithin(line, b)), b.from]) {
    const base = foldedAt(after.state, pos, pos).length > 0 ? null : basePosition(chunks, pos, before.state.doc);
    if (base !== null) all.push({ before: base, after: pos });
  }
  return inOrder(before, after, all).filter((meeting, index) => index === 0 || isWithin(meeting.before, a));
}

/** Whether the ends of both sides are drawn. */
export function atTheEnd(before: EditorView, after: EditorView): boolean {
  return before.viewport.to === before.state.doc.length && after.viewport.to === after.state.doc.length;
}

function isWithin(pos: number, { from, to }: EditorView["viewport"]): boolean {
  return from <= pos && pos <= to;
}

/** In the order of the text, each once, and none past an end. */
function inOrder(before: EditorView, after: EditorView, meetings: Meeting[]): Meeting[] {
  meetings.sort((one, other) => one.after - other.after || one.before - other.before);
  return meetings.filter((meeting, index) => {
    const previous = meetings[index - 1];
    const known = previous?.after === meeting.after || previous?.before === meeting.before;
    return !known && meeting.before <= before.state.doc.length && meeting.after <= after.state.doc.length;
  });
}
