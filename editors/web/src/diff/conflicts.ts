// Says where the file changed meanwhile: what it holds now on one side, what the agent wants on the other.

import { type Extension, type EditorState, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { ReviewConflict } from "../../../protocol";
import { Bar } from "./block";
import { element } from "../dom";
import { side } from "./shown";
import { lineStart } from "./text";

class Notice extends Bar {
  constructor(readonly text: string) {
    super();
  }

  override get edge(): string {
    return "ls-barEdge ls-conflictEdge";
  }

  override eq(other: Notice): boolean {
    return this.text === other.text;
  }

  override toDOM(): HTMLElement {
    return element("div", { class: "ls-conflict", role: "note", title: this.text, "data-conflict": "" }, this.text);
  }
}

type Shift = (line: number) => number;

function noticesOf(state: EditorState, conflicts: readonly ReviewConflict[], shift: Shift): DecorationSet {
  const before = state.facet(side) === "before";
  const notices = conflicts.map((conflict, index) => {
    const name = `Conflict ${index + 1} of ${conflicts.length}`;
    const what = before ? "what the file holds now" : "the file changed here meanwhile; this is what the agent wants";
    const line = before ? conflict.beforeStart : shift(conflict.afterStart);
    const pos = Math.min(lineStart(state.doc, line), state.doc.length);
    const widget = new Notice(`${name}: ${what}`);
    return Decoration.widget({ widget, block: true, side: -4 }).range(state.doc.lineAt(pos).from);
  });
  return Decoration.set(notices, true);
}

/** `shift` is where a line of the proposal is in what the editor holds. */
export function conflictNotices(conflicts: readonly ReviewConflict[], shift: Shift): Extension {
  if (conflicts.length === 0) return [];
  return StateField.define<DecorationSet>({
    create: (state) => noticesOf(state, conflicts, shift),
    update: (set, transaction) => set.map(transaction.changes),
    provide: (field) => EditorView.decorations.from(field),
  });
}
