// Colours changed lines and the words that differ in them, only for the visible part.

import type { Chunk } from "@codemirror/merge";
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { firstEndingAfter } from "./chunks";
import { LACK_OF_LINE_END, lacksLineEnd } from "./file_end";
import { type Side, isLeft, diffStateField, side, stretchOf } from "./diff_state";

const WORD = Decoration.mark({ class: "ls-word" });
const LINES = {
  before: { taken: line("ls-removed"), left: line("ls-kept") },
  after: { taken: line("ls-added"), left: line("ls-left") },
};

function line(name: string): Decoration {
  return Decoration.line({ class: name });
}

export const marks = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = marked(view);
    }

    update(update: ViewUpdate): void {
      const moved = update.startState.field(diffStateField) !== update.state.field(diffStateField);
      if (moved || update.docChanged || update.viewportChanged) this.decorations = marked(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function marked(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const shown = view.state.field(diffStateField);
  const on = view.state.facet(side);
  const { from, to } = view.viewport;
  for (let index = firstEndingAfter(shown.chunks, from, on); index < shown.chunks.length; index += 1) {
    const chunk = shown.chunks[index];
    if (chunk === undefined || stretchOf(chunk, on).from > to) break;
    const stretch = stretchOf(chunk, on);
    const colour = isLeft(shown, index) ? LINES[on].left : LINES[on].taken;
    const words = chunk.fromA < chunk.toA && chunk.fromB < chunk.toB ? wordsOf(chunk, on) : [];
    let next = 0;
    for (let pos = Math.max(stretch.from, view.state.doc.lineAt(from).from); pos < stretch.to && pos <= to; ) {
      const current = view.state.doc.lineAt(pos);
      builder.add(current.from, current.from, colour);
      for (let word = words[next]; word !== undefined && word.from < current.to; word = words[next]) {
        const start = Math.max(word.from, current.from);
        const end = Math.min(word.to, current.to);
        if (start < end) builder.add(start, end, WORD);
        if (word.to > current.to) break;
        next += 1;
      }
      if (lacksLineEnd(view.state.doc, current.to)) builder.add(current.to, current.to, LACK_OF_LINE_END);
      pos = current.to + 1;
    }
  }
  return builder.finish();
}

function wordsOf(chunk: Chunk, on: Side): Array<{ from: number; to: number }> {
  return chunk.changes.map((word) =>
    on === "before"
      ? { from: chunk.fromA + word.fromA, to: chunk.fromA + word.toA }
      : { from: chunk.fromB + word.fromB, to: chunk.fromB + word.toB },
  );
}
