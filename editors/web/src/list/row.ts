// One row of the list: a button that opens its review. It is updated in place, so that it never moves.

import { description } from "./description";
import { element, icon, setText } from "../shell/dom";
import type { FileNames } from "../shell/file_names";
import { isOver, isOversized, type Entry } from "./reviews";
import { visible } from "../shell/visible";
import { age, AGENT_GONE, capital } from "../shell/labels";
import { howItEnded } from "../decision/file_write";

export interface Row {
  readonly item: HTMLLIElement;
  readonly button: HTMLButtonElement;
  /** Returns whether anything differs from the last paint. */
  paint(open: boolean): boolean;
  paintAge(): void;
}

const MARKS: Readonly<Record<Entry["state"], string>> = {
  pending: "dot",
  settling: "wait",
  accepted: "check",
  rejected: "close",
  withdrawn: "minus",
  superseded: "minus",
  failed: "warning",
};

export function makeRow(entry: Entry, fileNames: FileNames, open: (entry: Entry) => void): Row {
  const mark = element("span", { class: "mark" });
  const name = element("span", { class: "name" });
  const spoken = element("span", { class: "unseen" });
  const added = element("span", { class: "added" });
  const removed = element("span", { class: "removed" });
  const lines = element("span", { class: "lines" }, added, screenReaderOnly(" lines added, "), " ", removed, screenReaderOnly(" removed, "));
  const details = element("span", { class: "details" });
  const since = element("span", { class: "age" });
  const parts = [mark, name, spoken, lines, details, since];
  const button = element("button", { type: "button", class: "row", "data-review": entry.id }, ...parts);
  button.addEventListener("click", () => open(entry));
  const item = element("li", {}, button);

  let painted = "";
  const paintAge = (): void => {
    const old = entry.summary.ageMs + performance.now() - entry.listedAt;
    setText(since, isOver(entry) ? "" : age(old));
  };
  return {
    item,
    button,
    paintAge,
    paint(isOpen) {
      const { summary } = entry;
      const state = entry.sending ? "settling" : entry.state;
      const place = fileNames.of(summary);
      const { fresh, sending, revision } = entry;
      const how = howItEnded(entry);
      const now = JSON.stringify([isOpen, state, fresh, how, sending, revision, place, { ...summary, ageMs: 0 }]);
      if (now === painted) {
        return false;
      }
      painted = now;
      const isMissing = entry.onDisk === "missing";
      const drawing = isMissing ? "warning" : state === "pending" && !entry.fresh ? "ring" : MARKS[state];
      if (mark.dataset["mark"] !== drawing) {
        mark.dataset["mark"] = drawing;
        mark.replaceChildren(icon(drawing));
      }
      button.dataset["state"] = state;
      button.dataset["onDisk"] = entry.onDisk;
      button.classList.toggle("over", isOver(entry));
      if (isOpen) {
        button.setAttribute("aria-current", "true");
      } else {
        button.removeAttribute("aria-current");
      }
      setText(name, place.name);
      setText(spoken, state === "pending" && entry.fresh ? ", not opened yet, " : ", ");
      setText(added, `+${summary.added}`);
      setText(removed, `−${summary.removed}`);
      const said = description(summary);
      button.title = `${place.whole}, from ${visible(summary.agent)}${said === "" ? "" : `: ${said}`}`;
      details.replaceChildren(...paintDetails(entry, fileNames));
      paintAge();
      return true;
    },
  };
}

function paintDetails(entry: Entry, fileNames: FileNames): Node[] {
  const { summary } = entry;
  const place = fileNames.of(summary);
  const parts: Node[] = [];
  const chip = (text: string, kind: string): void => {
    parts.push(element("span", { class: `chip ${kind}` }, text, screenReaderOnly(", ")));
  };
  if (entry.sending) {
    chip("sending", "plain");
  } else if (entry.state === "settling") {
    chip("being written", "plain");
  } else if (entry.how !== "") {
    parts.push(element("span", { class: "how" }, capital(howItEnded(entry))));
    return parts;
  }
  if (summary.conflicts > 0) chip("conflict", "bad");
  if (summary.newFile) chip("new file", "good");
  if (isOversized(entry)) chip("large", "plain");
  if (summary.ownerGone) chip(AGENT_GONE, "plain");
  const word = (kind: string, text: string): void => {
    if (text !== "") {
      parts.push(element("span", { class: kind }, element("bdi", {}, text), screenReaderOnly(", ")));
    }
  };
  word("said", description(summary));
  word("agent", visible(summary.agent));
  word("window", place.window ?? "");
  word("where", place.folder.replace(/\/$/, ""));
  return parts;
}

/** Text for screen readers only. */
function screenReaderOnly(text: string): HTMLElement {
  return element("span", { class: "unseen" }, text);
}
