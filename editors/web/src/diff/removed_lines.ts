// The removed lines of a chunk, shown above their replacement in the unified layout. They belong to the base and cannot
// be edited.

import { type EditorState, StateField, type Text } from "@codemirror/state";
import type { Chunk } from "@codemirror/merge";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { Block, LINE_HEIGHT } from "./block";
import { type Coloured, coloursOf } from "./syntax_colours";
import { button, element } from "../shell/dom";
import { count } from "../shell/labels";
import { lackOfLineEnd, lacksLineEnd } from "./file_end";
import { boxed } from "./hidden_characters";
import { baseText, isLeft, diffStateField } from "./diff_state";

/** More are shown on request: this widget, unlike an editor, draws all of its lines. */
const LINES_AT_ONCE = 500;
const LONGEST_LINE = 5_000;

class RemovedLines extends Block {
  constructor(
    readonly chunk: Chunk,
    readonly base: Text,
    readonly left: boolean,
  ) {
    super();
  }

  override get edge(): string {
    return this.left ? "ls-kept" : "ls-removed";
  }

  override eq(other: RemovedLines): boolean {
    return this.left === other.left && sameLines(this.chunk, other.chunk);
  }

  override toDOM(view: EditorView): HTMLElement {
    const block = element("div", { class: this.left ? "ls-removedLines ls-kept" : "ls-removedLines ls-removed" });
    const first = this.base.lineAt(this.chunk.fromA).number;
    const last = this.base.lineAt(this.chunk.endA).number;
    this.#fill(view, block, first, last);
    return block;
  }

  override get estimatedHeight(): number {
    const lines = this.base.lineAt(this.chunk.endA).number - this.base.lineAt(this.chunk.fromA).number + 1;
    return Math.min(lines, LINES_AT_ONCE) * LINE_HEIGHT;
  }

  #fill(view: EditorView, block: HTMLElement, first: number, last: number): void {
    const end = Math.min(last, first + LINES_AT_ONCE - 1);
    const from = this.base.line(first).from;
    const colours = coloursOf(view.state, this.base, from, this.base.line(end).to);
    for (let number = first; number <= end; number += 1) block.append(this.#line(number, colours));
    if (end === last) return;
    const rest = count(last - end, "more removed line");
    const more = button("show-removed", [`Show ${rest}`], () => {
      more.remove();
      this.#fill(view, block, end + 1, last);
      view.requestMeasure();
    }, { class: "ls-more" });
    block.append(more);
  }

  #line(number: number, colours: readonly Coloured[]): HTMLElement {
    const line = this.base.line(number);
    const shownTo = Math.min(line.to, line.from + LONGEST_LINE);
    const text = element("del");
    for (const piece of pieces(line.from, shownTo, this.#words(), colours)) {
      const nodes = boxed(this.base.sliceString(piece.from, piece.to));
      text.append(...(piece.name === "" ? nodes : [element("span", { class: piece.name }, ...nodes)]));
    }
    if (shownTo < line.to) text.append(element("em", {}, ` … ${count(line.to - shownTo, "more character")}`));
    if (lacksLineEnd(this.base, line.to)) text.append(lackOfLineEnd());
    if (line.length === 0) text.append(element("br"));
    return element(
      "div",
      { class: "ls-removedLine" },
      element("span", { class: "ls-removedNumber", "aria-hidden": "true" }, String(number)),
      element("span", { class: "ls-removedSign", "aria-hidden": "true" }, this.left ? "" : "−"),
      text,
    );
  }

  #words(): Coloured[] {
    if (this.chunk.fromB === this.chunk.toB) return [];
    const { fromA, changes } = this.chunk;
    return changes.map((word) => ({ from: fromA + word.fromA, to: fromA + word.toA, name: "ls-word" }));
  }
}

function sameLines(one: Chunk, other: Chunk): boolean {
  return one.fromA === other.fromA && one.toA === other.toA && one.changes === other.changes;
}

/** Splits a line wherever a word or a colour begins or ends. */
function pieces(from: number, to: number, words: readonly Coloured[], colours: readonly Coloured[]): Coloured[] {
  const cuts = new Set([from, to]);
  const near = [words, colours].map((ranges) => ranges.filter((range) => range.from < to && range.to > from));
  for (const range of near.flat()) for (const cut of [range.from, range.to]) if (cut > from && cut < to) cuts.add(cut);
  const sorted = [...cuts].sort((one, other) => one - other);
  return sorted.slice(1).map((end, index) => {
    const start = sorted[index] ?? from;
    const names = near.map((ranges) => ranges.find((range) => range.from <= start && range.to >= end)?.name ?? "");
    return { from: start, to: end, name: names.filter((name) => name !== "").join(" ") };
  });
}

function removedOf(state: EditorState): DecorationSet {
  const shown = state.field(diffStateField);
  const base = state.facet(baseText);
  const widgets = shown.chunks.flatMap((chunk, index) => {
    if (chunk.fromA === chunk.toA) return [];
    const widget = new RemovedLines(chunk, base, isLeft(shown, index));
    return [Decoration.widget({ widget, block: true, side: -2 }).range(chunk.fromB)];
  });
  return Decoration.set(widgets);
}

export const removedLines = StateField.define<DecorationSet>({
  create: removedOf,
  update(widgets, { startState, state }) {
    const [was, is] = [startState.field(diffStateField, false), state.field(diffStateField)];
    return was !== undefined && was.chunks === is.chunks && was.left === is.left ? widgets : removedOf(state);
  },
  provide: (field) => EditorView.decorations.from(field),
});
