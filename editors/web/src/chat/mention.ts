// Completion of file names after an `@`. Pure.

import { split } from "../shell/labels";

export interface Mention {
  /** Where the `@` is. */
  readonly at: number;
  readonly words: string;
}

const MOST = 8;

/** The mention that is being typed at the caret. */
export function mentionAt(text: string, caret: number): Mention | null {
  const found = /(?:^|[\s(])@([^\s@]{0,200})$/.exec(text.slice(0, caret));
  const words = found?.[1];
  return words === undefined ? null : { at: caret - words.length - 1, words };
}

/** The paths that match best: those whose names begin with the words, then those that contain them, in given order. */
export function matching(paths: readonly string[], words: string): string[] {
  const wanted = words.toLowerCase();
  const rank = (path: string): number => {
    const name = split(path).name.toLowerCase();
    if (name.startsWith(wanted)) return 0;
    if (name.includes(wanted)) return 1;
    return path.toLowerCase().includes(wanted) ? 2 : 3;
  };
  const ranked = [...new Set(paths)].map((path) => ({ path, rank: rank(path) })).filter((each) => each.rank < 3);
  return ranked
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MOST)
    .map(({ path }) => path);
}

/** The text after a choice, and where the caret is then. */
export function chosen(text: string, { at, words }: Mention, path: string): { text: string; caret: number } {
  const name = `@${split(path).name} `;
  const rest = text.slice(at + 1 + words.length).replace(/^ /, "");
  return { text: text.slice(0, at) + name + rest, caret: at + name.length };
}
