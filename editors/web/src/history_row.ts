// One line of the past, as an element.

import type { HistoryEntry } from "../../protocol";
import { button, element, icon } from "./dom";
import type { Place } from "./places";
import { visible } from "./visible";
import { capital, ended } from "./wording";

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function pastRow(id: string, entry: HistoryEntry, place: Place, undo: (made: HTMLButtonElement) => void): HTMLLIElement {
  const isUndo = entry.undoes !== undefined;
  const what = isUndo ? `undo of ${visible(entry.undoes ?? "")}` : ended(entry);
  const mark = isUndo ? "undo" : entry.ended.kind === "accepted" ? "check" : entry.ended.kind === "rejected" ? "close" : entry.ended.kind === "failed" ? "warning" : "minus";
  const when = new Date(entry.endedAtMs);
  const facts: Array<Node | string> = [
    element("span", { class: "what" }, capital(what)),
    element("span", {}, visible(entry.agent)),
    element("time", { datetime: when.toISOString() }, TIME.format(when)),
  ];
  if (entry.undone) facts.push(element("span", { class: "chip plain" }, isUndo ? "put in again" : "undone"));
  if (entry.newFile && !isUndo) facts.push(element("span", { class: "chip good" }, "new file"));
  const lines = entry.added === undefined ? undefined : element(
    "span",
    { class: "lines" },
    element("span", { class: "added" }, `+${entry.added}`),
    " ",
    element("span", { class: "removed" }, `−${entry.removed ?? 0}`),
  );
  const said = [
    entry.ended.kind === "rejected" && entry.ended.reason !== undefined ? `“${visible(entry.ended.reason)}”` : "",
    ...entry.comments.map((comment) => `Line ${comment.line}: “${visible(comment.text)}”`),
  ].filter((text) => text !== "");
  const words = element(
    "div",
    { class: "past-words" },
    element("p", { class: "past-file" }, place.window === undefined ? undefined : element("span", { class: "in-window" }, `${place.window}: `), element("span", { class: "folder" }, place.folder), element("span", { class: "file" }, place.name), lines),
    element("p", { class: "meta" }, ...facts),
    ...said.map((text) => element("p", { class: "said" }, text)),
  );
  const item = element("li", { class: "past", "data-entry": id, "data-kind": isUndo ? "undo" : entry.ended.kind, tabindex: "-1" }, element("span", { class: "mark" }, icon(mark)), words);
  if (entry.undoable && !entry.undone) {
    const label = isUndo ? "Redo" : "Undo";
    const made: HTMLButtonElement = button("undo", [icon("undo"), element("span", {}, label)], () => undo(made), { class: "small", "aria-label": `${label} ${place.whole}` });
    item.append(made);
  }
  return item;
}
