// Keeps the two sides aligned: at each sync point after a change or a comment, the shorter side gets a gap.

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, BlockType, EditorView } from "@codemirror/view";
import { Block, LINE_HEIGHT } from "./block";
import { element } from "../shell/dom";
import type { SyncPoint } from "./sync_points";

class Gap extends Block {
  /** `last`: the gap follows the last line instead of preceding a line. */
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

/** Smaller differences are invisible, and correcting them would never end. */
const TOLERANCE = 0.75;

interface Laid {
  readonly pos: number;
  readonly gap: Gap;
}

/** The part of one side whose gaps are computed again. */
class Column {
  readonly #old: readonly Laid[];
  readonly #laid: Laid[] = [];
  #forgotten = 0;
  #shift = 0;

  constructor(
    readonly view: EditorView,
    readonly from: number,
    readonly to: number,
  ) {
    const old: Laid[] = [];
    view.state.field(gaps).between(from, to, (pos, _to, decoration) => {
      const widget: unknown = decoration.spec["widget"];
      if (widget instanceof Gap) old.push({ pos, gap: widget });
    });
    this.#old = old;
  }

  /** The top of the line at `pos`, counting the gaps computed so far and none of the old ones. */
  top(pos: number): number {
    this.#forget(({ pos: at, gap }) => at <= pos && !gap.last);
    const block = this.view.lineBlockAt(pos);
    const text = Array.isArray(block.type) ? block.type.find((part) => part.type === BlockType.Text) : undefined;
    return (text ?? block).top + this.#shift;
  }

  bottom(): number {
    this.#forget(() => true);
    return this.view.contentHeight + this.#shift;
  }

  lay(pos: number, height: number, last: boolean): void {
    if (height <= TOLERANCE) return;
    this.#laid.push({ pos, gap: new Gap(height, last) });
    this.#shift += height;
  }

  apply(): void {
    if (sameGaps(this.#old, this.#laid)) return;
    const add = this.#laid.map(({ pos, gap }) => {
      return Decoration.widget({ widget: gap, block: true, side: gap.last ? 9 : -1 }).range(pos);
    });
    const set = this.view.state.field(gaps).update({ filterFrom: this.from, filterTo: this.to, filter: () => false, add });
    this.view.dispatch({ effects: setGaps.of(set) });
  }

  #forget(which: (laid: Laid) => boolean): void {
    for (let next = this.#old[this.#forgotten]; next !== undefined && which(next); next = this.#old[this.#forgotten]) {
      this.#shift -= next.gap.height;
      this.#forgotten += 1;
    }
  }
}

function sameGaps(one: readonly Laid[], other: readonly Laid[]): boolean {
  if (one.length !== other.length) return false;
  return one.every(({ pos, gap }, index) => {
    const match = other[index];
    if (match === undefined || match.pos !== pos || match.gap.last !== gap.last) return false;
    return Math.abs(match.gap.height - gap.height) <= TOLERANCE;
  });
}

/** Computes the gaps between the first and the last sync point, which are in text order. Gaps outside that range stay:
 * only drawn lines change their height. */
export function alignSides(before: EditorView, after: EditorView, points: readonly SyncPoint[], toTheEnd: boolean): void {
  const first = points[0];
  const last = points[points.length - 1];
  if (first === undefined && !toTheEnd) return;
  const a = new Column(before, first?.before ?? 0, toTheEnd ? before.state.doc.length : (last?.before ?? 0));
  const b = new Column(after, first?.after ?? 0, toTheEnd ? after.state.doc.length : (last?.after ?? 0));
  for (const point of points) {
    const difference = a.top(point.before) - b.top(point.after);
    a.lay(point.before, -difference, false);
    b.lay(point.after, difference, false);
  }
  if (toTheEnd) {
    const difference = a.bottom() - b.bottom();
    a.lay(before.state.doc.length, -difference, true);
    b.lay(after.state.doc.length, difference, true);
  }
  a.apply();
  b.apply();
}

/** Computes all gaps from line counts alone: exact wherever no line wraps, so that nothing moves when it is drawn. */
export function alignUndrawn(before: EditorView, after: EditorView, points: readonly SyncPoint[]): void {
  const a = new Column(before, 0, before.state.doc.length);
  const b = new Column(after, 0, after.state.doc.length);
  let ahead = 0;
  const lay = (point: SyncPoint, last: boolean): void => {
    const lines = before.state.doc.lineAt(point.before).number - after.state.doc.lineAt(point.after).number;
    a.lay(point.before, (ahead - lines) * LINE_HEIGHT, last);
    b.lay(point.after, (lines - ahead) * LINE_HEIGHT, last);
    ahead = lines;
  };
  for (const point of points) lay(point, false);
  lay({ before: before.state.doc.length, after: after.state.doc.length }, true);
  a.apply();
  b.apply();
}
