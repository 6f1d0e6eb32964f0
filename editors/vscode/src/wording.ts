// Words of strangers in front of a person: agents choose file names, questions and their own names.

/** One line, nothing invisible, no link and no icon (VS Code makes them of `[yes](command:…)` and `$(check)`). */
export function plain(text: string): string {
  const oneLine = text.trim().replaceAll(/\r?\n/g, " ⏎ ");
  return oneLine.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\ufffd").replaceAll(/([\]$])\(/g, "$1\u200b(");
}

/** `1 hunk`, `2 hunks`. */
export function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}
