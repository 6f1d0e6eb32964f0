// Converts a text to lines and back without losing a byte, and composes the text of a selection of hunks.

import { Text } from "@codemirror/state";
import type { ReviewHunk } from "../../../protocol";

export type Separator = "\n" | "\r\n";

/** `\r\n` only if every line of every text ends with it: otherwise a `\r` is a visible character. */
export function separatorOf(...texts: string[]): Separator {
  const plain = texts.some((text) => /(^|[^\r])\n/.test(text));
  return !plain && texts.some((text) => text.includes("\n")) ? "\r\n" : "\n";
}

export function linesOf(text: string, separator: Separator): Text {
  return Text.of(text.split(separator));
}

/** Start of a line counted from 0; past the end if there is no such line. */
export function lineStart(doc: Text, index: number): number {
  if (index < 0) return 0;
  return index < doc.lines ? doc.line(index + 1).from : doc.length + 1;
}

/** The proposal with the base's lines in place of each excluded hunk. */
export function composed(base: string, proposed: string, hunks: readonly ReviewHunk[], left: ReadonlySet<string>): string {
  if (!hunks.some((hunk) => left.has(hunk.id))) return proposed;
  const before = withEndings(base);
  const after = withEndings(proposed);
  const text: string[] = [];
  let copied = 0;
  for (const hunk of hunks) {
    if (!left.has(hunk.id)) continue;
    text.push(stretch(after, copied, hunk.afterStart));
    text.push(stretch(before, hunk.beforeStart, hunk.beforeStart + hunk.beforeCount));
    copied = hunk.afterStart + hunk.afterCount;
  }
  text.push(stretch(after, copied, after.length));
  return text.join("");
}

/** The included hunks at their positions in the result of `composed`. */
export function takenHunks(hunks: readonly ReviewHunk[], left: ReadonlySet<string>): ReviewHunk[] {
  const taken: ReviewHunk[] = [];
  let shift = 0;
  for (const hunk of hunks) {
    if (left.has(hunk.id)) {
      shift += hunk.beforeCount - hunk.afterCount;
    } else {
      taken.push(shift === 0 ? hunk : moved(hunk, shift));
    }
  }
  return taken;
}

/** Maps a line of the proposal to the result of `composed`; a line of an excluded hunk maps to one of the base's lines. */
export function movedLine(line: number, hunks: readonly ReviewHunk[], left: ReadonlySet<string>): number {
  let shift = 0;
  for (const { id, afterStart, afterCount, beforeCount } of hunks) {
    if (!left.has(id) || line < afterStart) continue;
    if (line < afterStart + afterCount) return shift + afterStart + Math.min(line - afterStart, Math.max(beforeCount - 1, 0));
    shift += beforeCount - afterCount;
  }
  return line + shift;
}

function moved(hunk: ReviewHunk, shift: number): ReviewHunk {
  const words = hunk.words.map(({ before, after }) => ({
    before,
    after: {
      start: { ...after.start, line: after.start.line + shift },
      end: { ...after.end, line: after.end.line + shift },
    },
  }));
  return { ...hunk, afterStart: hunk.afterStart + shift, words };
}

function withEndings(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function stretch(lines: readonly string[], from: number, to: number): string {
  return lines.slice(from, to).join("");
}
