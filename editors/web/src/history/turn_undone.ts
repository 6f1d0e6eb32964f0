// What became of the changes of a turn that was undone, in words.

import type { HistoryUndoTurnResult } from "../../../protocol";
import { element, icon } from "../shell/dom";
import { count, split } from "../shell/labels";
import { visible } from "../shell/visible";

export function turnUndoneWords({ changes }: HistoryUndoTurnResult): string {
  const undone = changes.filter((change) => change.undone !== undefined).length;
  return undone === changes.length ? `Undone: ${count(undone, "change")}.` : `Undone: ${undone} of ${count(changes.length, "change")}.`;
}

/** A line about all, and one for each file. */
export function turnUndone(result: HistoryUndoTurnResult): HTMLElement[] {
  const lines = result.changes.map(({ path, undone, error }) => {
    const name = element("span", { class: "file", title: visible(path) }, visible(split(path).name));
    const now = undone === undefined ? `not undone: ${visible(error ?? "no reason was given")}` : undone.removedFile ? "the new file was removed" : "the previous content is restored";
    return element("li", { "data-undone": String(undone !== undefined) }, icon(undone === undefined ? "warning" : "check"), name, element("span", {}, now));
  });
  return [element("p", {}, turnUndoneWords(result)), element("ul", { class: "undone-files" }, ...lines)];
}
