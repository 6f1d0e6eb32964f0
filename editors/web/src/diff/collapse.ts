// Folds long unchanged regions into one row that can be expanded. Both sides fold the same lines under the same name,
// so that expanding one expands the other.

import type { Chunk } from "@codemirror/merge";
import { type EditorState, type Range, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { Bar } from "./block";
import { button, element } from "../shell/dom";
import { count } from "../shell/labels";
import { type Side, actions, side } from "./diff_state";

/** Context lines around a change, and the fewest lines worth folding. */
const CONTEXT = 3;
const FEWEST = 5;

export interface Region {
  readonly lines: number;
  /** First line on each side, from 0. The base line, which never changes, is the region's name. */
  readonly before: number;
  readonly after: number;
}

export function regionsOf(chunks: readonly Chunk[], before: Text, after: Text): Region[] {
  const regions: Region[] = [];
  let start = { before: 0, after: 0 };
  for (let index = 0; chunks.length > 0 && index <= chunks.length; index += 1) {
    const chunk = chunks[index];
    const end = { before: firstLine(before, chunk?.fromA), after: firstLine(after, chunk?.fromB) };
    const head = index === 0 ? 0 : CONTEXT;
    const tail = chunk === undefined ? 0 : CONTEXT;
    const lines = Math.min(end.before - start.before, end.after - start.after) - head - tail;
    if (lines >= FEWEST) {
      regions.push({ lines, before: start.before + head, after: start.after + head });
    }
    start = { before: firstLine(before, chunk?.toA), after: firstLine(after, chunk?.toB) };
  }
  return regions;
}

/** Index of the line at `pos`; the number of lines if that is past the end. */
function firstLine(doc: Text, pos: number | undefined): number {
  return pos === undefined || pos > doc.length ? doc.lines : doc.lineAt(pos).number - 1;
}

class Fold extends Bar {
  constructor(
    readonly region: Region,
    readonly on: Side,
  ) {
    super();
  }

  override get edge(): string {
    return "ls-barEdge ls-foldEdge";
  }

  override eq(other: Fold): boolean {
    return this.region.before === other.region.before && this.region.lines === other.region.lines;
  }

  override toDOM(view: EditorView): HTMLElement {
    const text = `Show ${count(this.region.lines, "unchanged line")}`;
    const open = (): void => view.state.facet(actions)?.expand(this.region.before);
    if (this.on === "after") {
      return element("div", { class: "ls-foldRow" }, button("expand", [text], open, { class: "ls-fold" }));
    }
    // Only the row on the proposed side is reachable by keyboard and screen reader.
    const twin = element("div", { class: "ls-foldRow ls-fold", "aria-hidden": "true" }, "⋯");
    twin.addEventListener("click", open);
    return twin;
  }
}

export const expandRegion = StateEffect.define<number>();

function foldOf(state: EditorState, region: Region): Range<Decoration> {
  const on = state.facet(side);
  const first = on === "before" ? region.before : region.after;
  const from = state.doc.line(first + 1).from;
  const to = state.doc.line(first + region.lines).to;
  return Decoration.replace({ widget: new Fold(region, on), block: true, region: region.before }).range(from, to);
}

export const folds = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    set = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(expandRegion)) set = set.update({ filter: (_from, _to, fold) => regionOf(fold) !== effect.value });
    }
    return set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export function folded(regions: readonly Region[]): ReturnType<typeof folds.init> {
  return folds.init((state) => Decoration.set(regions.map((region) => foldOf(state, region))));
}

function regionOf(fold: Decoration): number {
  const id: unknown = fold.spec["region"];
  return typeof id === "number" ? id : -1;
}

/** The folded regions that touch a range. */
export function foldedAt(state: EditorState, from: number, to: number): number[] {
  const found: number[] = [];
  state.field(folds).between(from, to, (_from, _to, fold) => void found.push(regionOf(fold)));
  return found;
}
