// Differences between two lists of pieces, be they lines or words. Each piece is given a letter of its own and the
// merge package compares the letters: its result is whole pieces then, and never half a character.

import { Change, diff } from "@codemirror/merge";

/** Typing stays quick however unlike the two texts are. */
const EFFORT = { scanLimit: 500, timeout: 200 };

/** Letters below those that only count in pairs. More pieces than that, and all of it is one change. */
const MOST_LETTERS = 0xd800;

/** Beyond it, a reader sees a rewrite, and words do not help. */
const MOST_FOR_WORDS = 16 * 1024;

/** In indices of the two lists. */
export function changedPieces(before: readonly string[], after: readonly string[]): readonly Change[] {
  const known = new Map<string, string>();
  const [a, b] = [spelt(before, known), spelt(after, known)];
  if (known.size > MOST_LETTERS) return [new Change(0, before.length, 0, after.length)];
  return diff(a, b, EFFORT).filter((change) => change.fromA < change.toA || change.fromB < change.toB);
}

/** In offsets in the two texts; none where a side is empty. */
export function changedWords(before: string, after: string): readonly Change[] {
  if (before === "" || after === "" || before.length + after.length > MOST_FOR_WORDS) return [];
  const [a, b] = [wordsOf(before), wordsOf(after)];
  const [startsA, startsB] = [starts(a), starts(b)];
  return changedPieces(a, b).map(({ fromA, toA, fromB, toB }) => {
    return new Change(startsA[fromA] ?? 0, startsA[toA] ?? 0, startsB[fromB] ?? 0, startsB[toB] ?? 0);
  });
}

function spelt(pieces: readonly string[], known: Map<string, string>): string {
  return pieces.map((piece) => letterOf(piece, known)).join("");
}

function letterOf(piece: string, known: Map<string, string>): string {
  const letter = known.get(piece) ?? String.fromCharCode(known.size);
  known.set(piece, letter);
  return letter;
}

/** Words, blanks, line ends and single signs, as the hub tells them apart. */
function wordsOf(text: string): string[] {
  return text.match(/[\r\n]+|[^\S\r\n]+|(?:\w|[^\x00-\x7f])+|[^]/g) ?? [];
}

/** Where each piece starts, and where the last one ends. */
function starts(pieces: readonly string[]): number[] {
  let at = 0;
  return [0, ...pieces.map((piece) => (at += piece.length))];
}
