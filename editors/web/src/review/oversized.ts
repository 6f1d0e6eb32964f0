// The text shown for a change that is too large for this page.

import { element } from "../shell/dom";
import type { Entry } from "../list/reviews";
import { visible } from "../shell/visible";
import { count, size } from "../shell/labels";

export function oversizedText({ id, summary }: Entry): HTMLElement[] {
  const lines = `${count(summary.added, "line")} added and ${summary.removed} removed in ${count(summary.hunks, "hunk")}`;
  return [
    element("h3", {}, "Too large to show here"),
    element("p", {}, `${size(summary.bytes)}: ${lines}.`),
    element("p", {}, "Show it in a terminal: ", element("code", {}, `linkspan show ${visible(id)}`)),
    element("p", {}, "Here you can reject it, or accept it as a whole."),
  ];
}
