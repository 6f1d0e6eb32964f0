// Differences between two lists of tokens, lines or words. Each distinct token is mapped to one character and the merge
// package compares those: its result is whole tokens, never half a character.

import { Change, diff } from "@codemirror/merge";

/** Keeps typing fast however different the two texts are. */
const EFFORT = { scanLimit: 500, timeout: 200 };

/** Characters below the surrogates. With more distinct tokens, everything counts as one change. */
const MOST_LETTERS = 0xd800;

/** Larger changes read as a rewrite, where word differences do not help. */
const MOST_FOR_WORDS = 16 * 1024;

/** As indices of the two lists. */
export function changedPieces(before: readonly string[], after: readonly string[]): readonly Change[] {
  const known = new Map<string, string>();
  const [a, b] = [spelt(before, known), spelt(after, known)];
  if (known.size > MOST_LETTERS) return [new Change(0, before.length, 0, after.length)];
  return diff(a, b, EFFORT).filter((change) => change.fromA < change.toA || change.fromB < change.toB);
}

/** As offsets in the two texts; empty if a side is empty. */
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

/** Words, whitespace, line endings and single symbols, as the hub separates them. */
function wordsOf(text: string): string[] {
  return text.match(/[\r\n]+|[^\S\r\n]+|(?:\w|[^\x00-\x7f])+|[^]/g) ?? [];
}

/** The start of each token, and the end of the last one. */
function starts(pieces: readonly string[]): number[] {
  let at = 0;
  return [0, ...pieces.map((piece) => (at += piece.length))];
}
