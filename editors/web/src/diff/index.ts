// The diff of one review: a stand-in that shows the proposed text.

import type { ReviewShow } from "../../../protocol";
import type { DiffOptions, DiffView, Draft, Layout } from "./view";

export type { DiffOptions, DiffView, Draft, Layout } from "./view";

export function openDiff(parent: HTMLElement, shown: ReviewShow, options: DiffOptions): DiffView {
  const text = document.createElement("pre");
  text.textContent = shown.proposed;
  parent.append(text);
  let layout: Layout = options.layout;
  const draft: Draft = options.draft ?? { left: [], comments: [] };
  return {
    setLayout(next) {
      layout = next;
    },
    layout: () => layout,
    nextChange() {},
    previousChange() {},
    toggleHunk() {},
    startEditing() {},
    discardEdits() {},
    isEditing: () => false,
    commentHere() {},
    draft: () => draft,
    verdict: () => ({ kind: "accept" }),
    setReadOnly() {},
    focus() {},
    destroy() {
      text.remove();
    },
  };
}
