// Texts of several lines, made safe to show: line ends, tabs and emoji stay, every other hidden character is visible.

import { HIDDEN, visible } from "../shell/visible";

/** The colours and movements of a terminal. Outputs are full of them, and they say nothing here. */
const TERMINAL_CODES = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** Joins or styles an emoji that is before it. */
const EMOJI_PART = /(\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)[\ufe0f\u200d]$/u;

export function readable(text: string): string {
  const unix = text.replaceAll("\r\n", "\n");
  return unix.replace(HIDDEN, (character, place: number) => {
    if (character === "\n" || character === "\t") {
      return character;
    }
    const isJoiner = character === "\ufe0f" || character === "\u200d";
    return isJoiner && EMOJI_PART.test(unix.slice(Math.max(0, place - 3), place + 1)) ? character : visible(character);
  });
}

/** What a program printed. */
export function output(text: string): string {
  return readable(text.replace(TERMINAL_CODES, ""));
}
