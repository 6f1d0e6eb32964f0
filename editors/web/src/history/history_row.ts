// One history entry, as an element.

import type { HistoryEntry, ReviewOrigin } from "../../../protocol";
import { button, element, icon } from "../shell/dom";
import type { FileName } from "../shell/file_names";
import { visible } from "../shell/visible";
import { capital, ended } from "../shell/labels";

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const MARKS: Readonly<Record<HistoryEntry["ended"]["kind"], string>> = {
  accepted: "check",
  rejected: "close",
  withdrawn: "minus",
  superseded: "minus",
  failed: "warning",
};

type Undo = (made: HTMLButtonElement) => void;
/** Shows only the changes of this conversation. */
type Filter = (origin: ReviewOrigin) => void;

export function historyRow(id: string, entry: HistoryEntry, place: FileName, undo: Undo, filter: Filter): HTMLLIElement {
  const isUndo = entry.undoes !== undefined;
  const kind = isUndo ? "undo" : entry.ended.kind;
  const mark = element("span", { class: "mark" }, icon(isUndo ? "undo" : MARKS[entry.ended.kind]));
  const words = element("div", { class: "past-words" }, file(entry, place), facts(entry, filter), ...said(entry));
  const item = element("li", { class: "past", "data-entry": id, "data-kind": kind, tabindex: "-1" }, mark, words);
  if (entry.undoable && !entry.undone) {
    const label = isUndo ? "Redo" : "Undo";
    const made: HTMLButtonElement = button("undo", [icon("undo"), element("span", {}, label)], () => undo(made), {
      class: "small",
      "aria-label": `${label} ${place.whole}`,
    });
    item.append(made);
  }
  return item;
}

function file(entry: HistoryEntry, place: FileName): HTMLElement {
  const line = element("p", { class: "past-file" });
  if (place.window !== undefined) {
    line.append(element("span", { class: "in-window" }, `${place.window}: `));
  }
  line.append(element("span", { class: "folder" }, place.folder), element("span", { class: "file" }, place.name));
  if (entry.added !== undefined) {
    const added = element("span", { class: "added" }, `+${entry.added}`);
    const removed = element("span", { class: "removed" }, `−${entry.removed ?? 0}`);
    line.append(element("span", { class: "lines" }, added, " ", removed));
  }
  return line;
}

/** The outcome, the agent and the time. */
function facts(entry: HistoryEntry, filter: Filter): HTMLElement {
  const isUndo = entry.undoes !== undefined;
  const what = isUndo ? `undo of ${visible(entry.undoes ?? "")}` : ended(entry);
  const when = new Date(entry.endedAtMs);
  const line = element(
    "p",
    { class: "meta" },
    element("span", { class: "what" }, capital(what)),
    element("span", {}, visible(entry.agent)),
    element("time", { datetime: when.toISOString() }, TIME.format(when)),
  );
  const { origin } = entry;
  if (origin !== undefined) {
    const name = `${origin.chat}/${origin.turn}`;
    const title = `Only changes of this conversation${origin.prompt === undefined ? "" : `: ${visible(origin.prompt.slice(0, 200))}`}`;
    line.append(button("of-chat", [icon("chat"), element("span", {}, visible(name))], () => filter(origin), { class: "chip plain", title }));
  }
  if (entry.undone) {
    line.append(element("span", { class: "chip plain" }, isUndo ? "redone" : "undone"));
  }
  if (entry.newFile && !isUndo) {
    line.append(element("span", { class: "chip good" }, "new file"));
  }
  return line;
}

function said(entry: HistoryEntry): HTMLElement[] {
  const reason = entry.ended.kind === "rejected" ? entry.ended.reason : undefined;
  const words = entry.comments.map(({ line, text }) => `Line ${line}: “${visible(text)}”`);
  if (reason !== undefined && reason !== "") {
    words.unshift(`“${visible(reason)}”`);
  }
  return words.map((text) => element("p", { class: "said" }, text));
}
