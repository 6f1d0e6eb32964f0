// What both editors know about the review they show: the changed stretches, which of them are taken, and what may be
// done. The proposed side is the truth; the side before is told by it.

import type { Chunk } from "@codemirror/merge";
import { Facet, StateEffect, StateField, Text } from "@codemirror/state";
import { chunksAfterEdit } from "./edited";

/** `closed`: nothing can be done any more. */
export type Mode = "deciding" | "editing" | "closed";
export type Side = "before" | "after";

export interface Shown {
  readonly chunks: readonly Chunk[];
  /** The hub's name of each chunk; none while the text is edited. */
  readonly ids: readonly string[];
  readonly left: ReadonlySet<string>;
  /** Index of the chunk at hand, -1 before the person has been at any. */
  readonly atHand: number;
  readonly mode: Mode;
}

/** What a press on something inside an editor does. */
export interface Actions {
  take(id: string, taken: boolean): void;
  reached(index: number): void;
  putBack(index: number): void;
  expand(region: number): void;
  comment(pos: number): void;
}

export const setShown = StateEffect.define<Shown>();
export const side = Facet.define<Side, Side>({ combine: (values) => values[0] ?? "after" });
export const baseText = Facet.define<Text, Text>({ combine: (values) => values[0] ?? Text.empty });
export const actions = Facet.define<Actions, Actions | undefined>({ combine: (values) => values[0] });

export const shownField = StateField.define<Shown>({
  create: () => ({ chunks: [], ids: [], left: new Set(), atHand: -1, mode: "closed" }),
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(setShown)) shown = effect.value;
    if (!transaction.docChanged) return shown;
    const { startState, state, newDoc, changes } = transaction;
    return { ...shown, chunks: chunksAfterEdit(shown.chunks, state.facet(baseText), startState.doc, newDoc, changes) };
  },
});

export function isLeft(shown: Shown, index: number): boolean {
  const id = shown.ids[index];
  return id !== undefined && shown.left.has(id);
}

export function stretchOf(chunk: Chunk, on: Side): { from: number; to: number } {
  return on === "before" ? { from: chunk.fromA, to: chunk.toA } : { from: chunk.fromB, to: chunk.toB };
}
