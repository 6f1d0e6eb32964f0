// Why a change of a chat was proposed, in one line. Both texts are foreign.

import type { ReviewOrigin } from "../../../protocol";
import { plain } from "../plain_text";

const MAX_WORDS = 120;
const MAX_SHORT = 50;

/** The turn, the user's message and the agent's words before the call. */
export function whyProposed({ chat, turn, prompt, words }: ReviewOrigin): string {
  const parts = [`Chat ${chat}/${turn}`];
  if (prompt !== undefined) {
    parts.push(`: “${shortened(prompt)}”`);
  }
  if (words !== undefined) {
    parts.push(`; the agent said: “${shortened(words)}”`);
  }
  return parts.join("");
}

/** For a line that has little room. */
export function whyInShort({ chat, turn, prompt, words }: ReviewOrigin): string {
  const said = prompt ?? words;
  return said === undefined ? `Why: chat ${chat}/${turn}` : `Why: “${shortened(said, MAX_SHORT)}”`;
}

function shortened(text: string, most = MAX_WORDS): string {
  const line = plain(text.replaceAll(/\s+/g, " "));
  return line.length > most ? `${line.slice(0, most).trimEnd()}…` : line;
}
