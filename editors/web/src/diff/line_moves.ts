// Maps lines of one text to another, so that a comment stays with its line. Pure.

import type { Text } from "@codemirror/state";
import { changedPieces } from "./token_diff";

export interface Move {
  /** Counted from 0. */
  readonly line: number;
  /** The line no longer exists; `line` is where it was. */
  readonly gone: boolean;
}

export type Moves = (line: number) => Move;

/** Lazy: compares the texts when the first line is requested. */
export function movesBetween(from: Text, to: Text): Moves {
  let known: Moves | undefined;
  return (line) => (known ??= from.eq(to) ? (same) => ({ line: same, gone: false }) : compared(from, to))(line);
}

/** Lines that differ between the texts, or that only one of them has. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

function compared(from: Text, to: Text): Moves {
  const [before, after] = [wordsOf(from), wordsOf(to)];
  const stretches = changedStretches(before, after);
  return (line) => {
    let shift = 0;
    for (const stretch of stretches) {
      if (line < stretch.from) break;
      if (line < stretch.to) return within(stretch, line, before, after);
      shift = stretch.newTo - stretch.to;
    }
    return { line: line + shift, gone: false };
  };
}

/** Line endings are ignored. */
function wordsOf(doc: Text): string[] {
  return Array.from(doc.iterLines(), (line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

function changedStretches(before: readonly string[], after: readonly string[]): Stretch[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [one, other] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return changedPieces(one, other).map(({ fromA, toA, fromB, toB }) => {
    return { from: start + fromA, to: start + toA, newFrom: start + fromB, newTo: start + toB };
  });
}

function within(stretch: Stretch, line: number, before: readonly string[], after: readonly string[]): Move {
  const { from, to, newFrom, newTo } = stretch;
  const offset = line - from;
  const expected = Math.min(newFrom + offset, Math.max(newTo - 1, newFrom), Math.max(after.length - 1, 0));
  const words = before[line] ?? "";
  // A line that occurs twice in either text does not tell where it moved.
  const isOnce = before.indexOf(words) === before.lastIndexOf(words) && after.indexOf(words) === after.lastIndexOf(words);
  const moved = isOnce ? after.indexOf(words) : nearest(after, words, expected, stretch);
  if (moved >= 0) return { line: moved, gone: false };
  // The same number of lines: each is assumed to replace the one at the same offset.
  return { line: expected, gone: to - from !== newTo - newFrom };
}

/** The line with this text that is nearest to the expected one, or -1. */
function nearest(after: readonly string[], words: string, expected: number, { newFrom, newTo }: Stretch): number {
  let found = -1;
  for (let at = newFrom; at < newTo; at += 1) {
    if (after[at] === words && (found < 0 || Math.abs(at - expected) < Math.abs(found - expected))) found = at;
  }
  return found;
}
