// Keeps the two sides level: wherever they meet again after a change or a comment, the shorter one gets a gap.

import type { Chunk } from "@codemirror/merge";
import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, BlockType, EditorView } from "@codemirror/view";
import { Block } from "./block";
import { basePosition, firstEndingAfter } from "./chunks";
import { foldedAt } from "./collapse";
import { element } from "./element";

class Gap extends Block {
  /** `last`: it stands after the last line, not before one. */
  constructor(
    readonly height: number,
    readonly last: boolean,
  ) {
    super();
  }

  override get edge(): string {
    return "ls-gap";
  }

  override eq(other: Gap): boolean {
    return this.height === other.height && this.last === other.last;
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

  /** Where the text of the line at `pos` begins, with the gaps laid so far and none of the old ones. */
  top(pos: number): number {
    this.#forget((at, gap) => at <= pos && !gap.last);
    const block = this.view.lineBlockAt(pos);
    const text = Array.isArray(block.type) ? block.type.find((part) => part.type === BlockType.Text) : undefined;
    return (text ?? block).top + this.#shift;
  }

  bottom(): number {
    this.#forget(() => true);
    return this.view.contentHeight + this.#shift;
  }

  gap(pos: number, height: number, last: boolean): void {
    this.#builder.add(pos, pos, Decoration.widget({ widget: new Gap(height, last), block: true, side: last ? 9 : -1 }));
    this.#shift += height;
  }

  apply(): void {
    const next = this.#builder.finish();
    if (!alike(next, this.view.state.field(gaps))) this.view.dispatch({ effects: setGaps.of(next) });
  }

  #forget(which: (at: number, gap: Gap) => boolean): void {
    for (let gap = gapOf(this.#old.value); gap !== null && which(this.#old.from, gap); gap = gapOf(this.#old.value)) {
      this.#shift -= gap.height;
      this.#old.next();
    }
  }
}

function gapOf(decoration: Decoration | null): Gap | null {
  const widget: unknown = decoration?.spec["widget"];
  return widget instanceof Gap ? widget : null;
}

function alike(one: DecorationSet, other: DecorationSet): boolean {
  if (one.size !== other.size) return false;
  const a = one.iter();
  const b = other.iter();
  for (; a.value !== null && b.value !== null; a.next(), b.next()) {
    if (a.from !== b.from || Math.abs((gapOf(a.value)?.height ?? 0) - (gapOf(b.value)?.height ?? 0)) > TOLERANCE) return false;
  }
  return true;
}

/** `meetings` are in the order of the text. */
export function level(before: EditorView, after: EditorView, meetings: readonly Meeting[]): void {
  const a = new Column(before);
  const b = new Column(after);
  for (const meeting of meetings) {
    const difference = a.top(meeting.before) - b.top(meeting.after);
    if (difference < -TOLERANCE) a.gap(meeting.before, -difference, false);
    else if (difference > TOLERANCE) b.gap(meeting.after, difference, false);
  }
  const difference = a.bottom() - b.bottom();
  if (difference < -TOLERANCE) a.gap(before.state.doc.length, -difference, true);
  else if (difference > TOLERANCE) b.gap(after.state.doc.length, difference, true);
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
