// Completion of file names after an `@`. Pure.

import type { ChatAttachment } from "../../../protocol";
import { split } from "../shell/labels";
import { lines } from "./plain_text";

/** Something that an `@` can mean. */
export interface Candidate {
  /** What stands after the `@` then. */
  readonly name: string;
  readonly where: string;
  readonly attachment: ChatAttachment;
}

export interface Mention {
  /** Where the `@` is. */
  readonly at: number;
  readonly words: string;
}

const MOST = 8;
const MOST_SYMBOLS = 4;

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

/** What the words may mean: the selection, then files, then symbols. */
export function candidates(found: Found, words: string): Candidate[] {
  const { paths, selection, symbols = [] } = found;
  const selected: Candidate[] =
    selection !== undefined && "selection".startsWith(words.toLowerCase())
      ? [{ name: "selection", where: selection.path + lines(selection.firstLine, selection.lastLine), attachment: selection }]
      : [];
  const files = matching(paths, words).map((path) => ({ name: split(path).name, where: path, attachment: { path } }));
  const named = symbols.slice(0, MOST_SYMBOLS).map(({ name, ...attachment }) => ({
    name: name.replaceAll(/\s+/g, ""),
    where: attachment.path + lines(attachment.firstLine, attachment.lastLine),
    attachment,
  }));
  return [...selected, ...files, ...named];
}

export interface Found {
  readonly paths: readonly string[];
  readonly selection?: ChatAttachment | undefined;
  /** Functions, types and the like, where the editor knows them. */
  readonly symbols?: ReadonlyArray<ChatAttachment & { readonly name: string }>;
}

/** The text after a choice, and where the caret is then. */
export function chosen(text: string, { at, words }: Mention, path: string): { text: string; caret: number } {
  const name = `@${split(path).name} `;
  const rest = text.slice(at + 1 + words.length).replace(/^ /, "");
  return { text: text.slice(0, at) + name + rest, caret: at + name.length };
}
