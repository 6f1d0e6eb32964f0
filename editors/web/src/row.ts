// One row of the list: a button that opens its review. It changes in place, so that it never moves.

import { description } from "./description";
import { element, icon, say } from "./dom";
import type { Places } from "./places";
import { isOver, isOversized, type Entry } from "./reviews";
import { visible } from "./visible";
import { age, AGENT_GONE, capital } from "./wording";
import { howItEnded } from "./writing";

export interface Row {
  readonly item: HTMLLIElement;
  readonly button: HTMLButtonElement;
  /** Gives whether anything about it is another than when it was painted last. */
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

export function makeRow(entry: Entry, places: Places, open: (entry: Entry) => void): Row {
  const mark = element("span", { class: "mark" });
  const name = element("span", { class: "name" });
  const spoken = element("span", { class: "unseen" });
  const added = element("span", { class: "added" });
  const removed = element("span", { class: "removed" });
  const lines = element("span", { class: "lines" }, added, heard(" lines added, "), " ", removed, heard(" removed, "));
  const details = element("span", { class: "details" });
  const since = element("span", { class: "age" });
  const parts = [mark, name, spoken, lines, details, since];
  const button = element("button", { type: "button", class: "row", "data-review": entry.id }, ...parts);
  button.addEventListener("click", () => open(entry));
  const item = element("li", {}, button);

  let painted = "";
  const paintAge = (): void => {
    const old = entry.summary.ageMs + performance.now() - entry.listedAt;
    say(since, isOver(entry) ? "" : age(old));
  };
  return {
    item,
    button,
    paintAge,
    paint(isOpen) {
      const { summary } = entry;
      const state = entry.sending ? "settling" : entry.state;
      const place = places.of(summary);
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
      say(name, place.name);
      say(spoken, state === "pending" && entry.fresh ? ", not looked at yet, " : ", ");
      say(added, `+${summary.added}`);
      say(removed, `−${summary.removed}`);
      const said = description(summary);
      button.title = `${place.whole}, from ${visible(summary.agent)}${said === "" ? "" : `: ${said}`}`;
      details.replaceChildren(...paintDetails(entry, places));
      paintAge();
      return true;
    },
  };
}

function paintDetails(entry: Entry, places: Places): Node[] {
  const { summary } = entry;
  const place = places.of(summary);
  const parts: Node[] = [];
  const chip = (text: string, kind: string): void => {
    parts.push(element("span", { class: `chip ${kind}` }, text, heard(", ")));
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
      parts.push(element("span", { class: kind }, element("bdi", {}, text), heard(", ")));
    }
  };
  word("said", description(summary));
  word("agent", visible(summary.agent));
  word("window", place.window ?? "");
  word("where", place.folder.replace(/\/$/, ""));
  return parts;
}

/** Words that only a screen reader needs. */
function heard(text: string): HTMLElement {
  return element("span", { class: "unseen" }, text);
}
