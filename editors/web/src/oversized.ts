// What is said of a change that is too large to be shown here.

import { element } from "./dom";
import type { Entry } from "./reviews";
import { visible } from "./visible";
import { count, size } from "./wording";

export function oversizedWords({ id, summary }: Entry): HTMLElement[] {
  const lines = `${count(summary.added, "line")} added and ${summary.removed} removed in ${count(summary.hunks, "hunk")}`;
  return [
    element("h3", {}, "Too large to show here"),
    element("p", {}, `${size(summary.bytes)}: ${lines}.`),
    element("p", {}, "See it in a terminal with ", element("code", {}, `linkspan show ${visible(id)}`)),
    element("p", {}, "It can be rejected here, or accepted as a whole."),
  ];
}
