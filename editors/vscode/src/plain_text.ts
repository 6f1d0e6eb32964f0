// Text that agents control (file names, prompts, their own names), made safe to show.

/** One line, without invisible characters, links or icons (VS Code renders `[yes](command:…)` and `$(check)`). */
export function plain(text: string): string {
  const oneLine = text.trim().replaceAll(/\r?\n/g, " ⏎ ");
  return oneLine.replaceAll(/[\p{Cc}\p{Cf}]/gu, "\ufffd").replaceAll(/([\]$])\(/g, "$1\u200b(");
}

/** `1 hunk`, `2 hunks`. */
export function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}
