// Makes text from files, agents and editors safe to show: no character in it can hide or change how the rest reads.
// The set is the one in `crates/editor-api/src/visible.rs`.

export const HIDDEN = new RegExp(
  "[\\u{0}-\\u{1f}\\u{7f}-\\u{9f}\\u{ad}\\u{34f}\\u{61c}\\u{115f}\\u{1160}\\u{17b4}\\u{17b5}\\u{180b}-\\u{180f}" +
    "\\u{200b}-\\u{200f}\\u{2028}-\\u{202e}\\u{2060}-\\u{206f}\\u{3164}\\u{fe00}-\\u{fe0f}\\u{feff}\\u{ffa0}" +
    "\\u{fff9}-\\u{fffb}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu",
);

const SHORT: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** One line in which every hidden character is visible. */
export function visible(text: string): string {
  return text.replace(
    HIDDEN,
    (character) => SHORT[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
