// Marks where the file changed in the meantime: the current content on one side, the agent's on the other.

import { type Extension, type EditorState, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { ReviewConflict } from "../../../protocol";
import { Bar } from "./block";
import { element } from "../shell/dom";
import { side } from "./diff_state";
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
    const what = before ? "current content of the file" : "the file changed here in the meantime; this is the agent's version";
    const line = before ? conflict.beforeStart : shift(conflict.afterStart);
    const pos = Math.min(lineStart(state.doc, line), state.doc.length);
    const widget = new Notice(`${name}: ${what}`);
    return Decoration.widget({ widget, block: true, side: -4 }).range(state.doc.lineAt(pos).from);
  });
  return Decoration.set(notices, true);
}

/** `shift` maps a line of the proposal to a line of the editor. */
export function conflictNotices(conflicts: readonly ReviewConflict[], shift: Shift): Extension {
  if (conflicts.length === 0) return [];
  return StateField.define<DecorationSet>({
    create: (state) => noticesOf(state, conflicts, shift),
    update: (set, transaction) => set.map(transaction.changes),
    provide: (field) => EditorView.decorations.from(field),
  });
}
