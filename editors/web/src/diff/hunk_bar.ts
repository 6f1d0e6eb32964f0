// The bar above each chunk: on the proposed side with its checkbox, or with a button to revert it. The base side has a
// bar of the same height, so that the lines below stay aligned.

import { Chunk } from "@codemirror/merge";
import { type EditorState, type Range, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { Bar } from "./block";
import { button, element } from "../shell/dom";
import { type Mode, type DiffState, actions, baseText, isLeft, diffStateField, side } from "./diff_state";

interface HunkBarProps {
  readonly index: number;
  readonly total: number;
  readonly id: string | undefined;
  readonly taken: boolean;
  readonly atHand: boolean;
  readonly mode: Mode;
  readonly removed: number;
  readonly added: number;
}

class HunkBar extends Bar {
  constructor(readonly head: HunkBarProps) {
    super();
  }

  override get edge(): string {
    return edgeOf(this.head.atHand);
  }

  override eq(other: HunkBar): boolean {
    const [one, another] = [this.head, other.head];
    return sameShape(one, another) && one.taken === another.taken && one.atHand === another.atHand;
  }

  override toDOM(view: EditorView): HTMLElement {
    const { head } = this;
    const bar = element("div", { class: "ls-head", "data-chunk": String(head.index) });
    bar.append(head.mode === "editing" || head.id === undefined ? this.#putBack(view) : this.#checkbox(view, head.id));
    bar.append(counts(head.removed, head.added));
    this.#paint(bar);
    return bar;
  }

  /** Updated in place, so that the pressed checkbox keeps the focus. */
  override updateDOM(bar: HTMLElement, _view: EditorView, from: HunkBar): boolean {
    if (!sameShape(this.head, from.head)) return false;
    this.#paint(bar);
    return true;
  }

  #paint(bar: HTMLElement): void {
    bar.classList.toggle("ls-atHand", this.head.atHand);
    bar.classList.toggle("ls-leftOut", !this.head.taken);
    const box = bar.querySelector("input");
    if (box !== null) box.checked = this.head.taken;
  }

  #checkbox(view: EditorView, id: string): HTMLElement {
    const { index, total, mode } = this.head;
    const box = element("input", { type: "checkbox", "data-hunk": id });
    box.disabled = mode === "closed";
    box.addEventListener("change", () => view.state.facet(actions)?.take(id, box.checked));
    box.addEventListener("focus", () => view.state.facet(actions)?.reached(index));
    const label = element("label", {}, box, `Include hunk ${index + 1} of ${total}`);
    return element("span", { class: "ls-name" }, label, element("span", { class: "ls-leftWord" }, "excluded"));
  }

  #putBack(view: EditorView): HTMLElement {
    const { index, total, mode } = this.head;
    const what = `change ${index + 1} of ${total}`;
    const name = element("span", { class: "ls-name" }, what.replace("c", "C"));
    if (mode !== "editing") return name;
    const label = `Revert ${what}`;
    const press = () => view.state.facet(actions)?.putBack(index);
    const back = button("put-back", ["Revert"], press, { "aria-label": label, title: label });
    return element("span", { class: "ls-name" }, name, back);
  }
}

function sameShape(one: HunkBarProps, other: HunkBarProps): boolean {
  const keys = ["index", "total", "id", "mode", "removed", "added"] as const;
  return keys.every((key) => one[key] === other[key]);
}

/** Only there for its height and the number of removed lines. */
class BaseBar extends Bar {
  constructor(
    readonly text: string,
    readonly removed: number,
    readonly atHand: boolean,
  ) {
    super();
  }

  override get edge(): string {
    return edgeOf(this.atHand);
  }

  override eq(other: BaseBar): boolean {
    return this.text === other.text && this.removed === other.removed && this.atHand === other.atHand;
  }

  override toDOM(): HTMLElement {
    const bar = element("div", { class: this.atHand ? "ls-head ls-atHand" : "ls-head" });
    bar.append(element("span", { class: "ls-name" }, this.text), counts(this.removed, 0));
    return bar;
  }
}

function barAt(state: EditorState, index: number, both: boolean): Range<Decoration> {
  const shown = state.field(diffStateField);
  const chunk = shown.chunks[index] ?? new Chunk([], 0, 0, 0, 0);
  const base = state.facet(baseText);
  const removed = linesIn(base, chunk.fromA, chunk.toA);
  if (state.facet(side) === "before") {
    const text = removed === 0 ? "Added" : place(base, chunk.fromA, removed);
    return bar(new BaseBar(text, removed, shown.atHand === index)).range(chunk.fromA);
  }
  const added = linesIn(state.doc, chunk.fromB, chunk.toB);
  return bar(new HunkBar(propsOf(shown, index, both ? removed : 0, added))).range(chunk.fromB);
}

function edgeOf(atHand: boolean): string {
  return atHand ? "ls-barEdge ls-atHandEdge" : "ls-barEdge";
}

function counts(removed: number, added: number): HTMLElement {
  const both = element("span", { class: "ls-counts" });
  if (removed > 0) both.append(element("span", { class: "ls-minus" }, `−${removed}`));
  if (added > 0) both.append(element("span", { class: "ls-plus" }, `+${added}`));
  return both;
}

function propsOf(shown: DiffState, index: number, removed: number, added: number): HunkBarProps {
  const { mode, chunks, ids, atHand } = shown;
  const taken = !isLeft(shown, index);
  return { index, total: chunks.length, id: ids[index], taken, atHand: atHand === index, mode, removed, added };
}

function bar(widget: Bar): Decoration {
  return Decoration.widget({ widget, block: true, side: -3 });
}

function linesIn(doc: EditorState["doc"], from: number, to: number): number {
  return from === to ? 0 : doc.lineAt(Math.min(to - 1, doc.length)).number - doc.lineAt(from).number + 1;
}

function place(doc: EditorState["doc"], from: number, count: number): string {
  const first = doc.lineAt(from).number;
  return count === 1 ? `Line ${first}` : `Lines ${first}–${first + count - 1}`;
}

/** The bars whose look changed, if nothing else did: a thousand bars are not rebuilt for one. */
function changedBars(one: DiffState, other: DiffState): number[] | null {
  if (one.chunks !== other.chunks || one.ids !== other.ids || one.mode !== other.mode) return null;
  return other.chunks.map((_chunk, index) => index).filter((index) => {
    return isLeft(one, index) !== isLeft(other, index) || (one.atHand === index) !== (other.atHand === index);
  });
}

/** `both`: one editor shows both sides, so its bars count both. */
function barsOf(both: boolean): StateField<DecorationSet> {
  return StateField.define<DecorationSet>({
    create: (state) => Decoration.set(state.field(diffStateField).chunks.map((_chunk, index) => barAt(state, index, both))),
    update(bars, { startState, state }) {
      const [was, is] = [startState.field(diffStateField, false), state.field(diffStateField)];
      if (was === is) return bars;
      const changed = was === undefined ? null : changedBars(was, is);
      if (changed === null) return Decoration.set(is.chunks.map((_chunk, index) => barAt(state, index, both)));
      for (const index of changed) {
        const head = barAt(state, index, both);
        bars = bars.update({ filterFrom: head.from, filterTo: head.to, filter: () => false, add: [head] });
      }
      return bars;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

export const baseBars = barsOf(false);
export const proposedBars = barsOf(false);
export const unifiedBars = barsOf(true);
