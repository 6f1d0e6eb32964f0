// Keeps the two sides level: wherever they meet again after a change or a comment, the shorter one gets a gap.

import type { Chunk } from "@codemirror/merge";
import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import { basePosition, firstEndingAfter } from "./chunks";
import { foldedAt } from "./collapse";
import { element } from "./element";

class Gap extends WidgetType {
  constructor(readonly height: number) {
    super();
  }

  override eq(other: Gap): boolean {
    return this.height === other.height;
  }

  override toDOM(): HTMLElement {
    const gap = element("div", { class: "ls-gap", "aria-hidden": "true" });
    gap.style.height = `${this.height}px`;
    return gap;
  }

  override updateDOM(gap: HTMLElement): boolean {
    gap.style.height = `${this.height}px`;
    return true;
  }

  override get estimatedHeight(): number {
    return this.height;
  }
}

const setGaps = StateEffect.define<DecorationSet>();

export const gaps = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    for (const effect of transaction.effects) if (effect.is(setGaps)) return effect.value;
    return set.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** A place where both sides begin the same line. */
export interface Meeting {
  readonly before: number;
  readonly after: number;
}

/** Less is not seen, and chasing it would never end. */
const TOLERANCE = 0.75;

/** One side while the gaps are laid out anew. */
class Column {
  readonly #builder = new RangeSetBuilder<Decoration>();
  readonly #old;
  #shift = 0;

  constructor(readonly view: EditorView) {
    this.#old = view.state.field(gaps).iter();
  }

  /** Where the line at `pos` begins, with the gaps laid so far and none of the old ones. */
  top(pos: number): number {
    this.#forget(pos);
    return this.view.lineBlockAt(pos).top + this.#shift;
  }

  bottom(): number {
    this.#forget(Number.POSITIVE_INFINITY);
    return this.view.contentHeight + this.#shift;
  }

  gap(pos: number, height: number, where: -1 | 1): void {
    this.#builder.add(pos, pos, Decoration.widget({ widget: new Gap(height), block: true, side: where < 0 ? -9 : 9 }));
    this.#shift += height;
  }

  apply(): void {
    const next = this.#builder.finish();
    if (!alike(next, this.view.state.field(gaps))) this.view.dispatch({ effects: setGaps.of(next) });
  }

  #forget(before: number): void {
    for (; this.#old.value !== null && this.#old.from < before; this.#old.next()) this.#shift -= heightOf(this.#old.value);
  }
}

function heightOf(gap: Decoration): number {
  const widget: unknown = gap.spec["widget"];
  return widget instanceof Gap ? widget.height : 0;
}

function alike(one: DecorationSet, other: DecorationSet): boolean {
  if (one.size !== other.size) return false;
  const a = one.iter();
  const b = other.iter();
  for (; a.value !== null && b.value !== null; a.next(), b.next()) {
    if (a.from !== b.from || Math.abs(heightOf(a.value) - heightOf(b.value)) > TOLERANCE) return false;
  }
  return true;
}

/** `meetings` are in the order of the text. */
export function level(before: EditorView, after: EditorView, meetings: readonly Meeting[]): void {
  const a = new Column(before);
  const b = new Column(after);
  for (const meeting of meetings) {
    const difference = a.top(meeting.before) - b.top(meeting.after);
    if (difference < -TOLERANCE) a.gap(meeting.before, -difference, -1);
    else if (difference > TOLERANCE) b.gap(meeting.after, difference, -1);
  }
  const difference = a.bottom() - b.bottom();
  if (difference < -TOLERANCE) a.gap(before.state.doc.length, -difference, 1);
  else if (difference > TOLERANCE) b.gap(after.state.doc.length, difference, 1);
  a.apply();
  b.apply();
}

/** Where the sides meet again: after each change, after each of the `lines` of the proposed side, and at the top of
 * what is on screen, because the heights of lines that were never drawn are guesses. */
export function meetings(before: EditorView, after: EditorView, chunks: readonly Chunk[], lines: readonly number[]): Meeting[] {
  const all = chunks.map((chunk) => ({ before: chunk.toA, after: chunk.toB }));
  for (const pos of [...lines, after.viewport.from]) {
    const index = firstEndingAfter(chunks, pos);
    if ((chunks[index]?.fromB ?? Number.POSITIVE_INFINITY) <= pos || foldedAt(after.state, pos, pos).length > 0) continue;
    const base = basePosition(chunks, pos, before.state.doc);
    if (base !== null) all.push({ before: base, after: pos });
  }
  all.sort((one, other) => one.after - other.after || one.before - other.before);
  return all.filter((meeting, index) => {
    const previous = all[index - 1];
    const known = previous?.after === meeting.after || previous?.before === meeting.before;
    return !known && meeting.before <= before.state.doc.length && meeting.after <= after.state.doc.length;
  });
}
