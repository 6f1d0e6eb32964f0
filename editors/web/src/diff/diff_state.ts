// State that both editors share: the changed chunks, which of them are included, and what the user may do. The proposed
// side owns it; the base side receives copies.

import type { Chunk } from "@codemirror/merge";
import { Facet, StateEffect, StateField, Text } from "@codemirror/state";
import { chunksAfterEdit } from "./chunk_update";

/** `closed`: read-only. */
export type Mode = "deciding" | "editing" | "closed";
export type Side = "before" | "after";

export interface DiffState {
  readonly chunks: readonly Chunk[];
  /** The hub's hunk id of each chunk; empty while the text is edited. */
  readonly ids: readonly string[];
  readonly left: ReadonlySet<string>;
  /** Index of the current chunk, -1 before the user went to any. */
  readonly atHand: number;
  readonly mode: Mode;
}

/** The actions of buttons inside an editor. */
export interface Actions {
  take(id: string, taken: boolean): void;
  reached(index: number): void;
  putBack(index: number): void;
  expand(region: number): void;
  comment(pos: number): void;
}

export const setDiffState = StateEffect.define<DiffState>();
export const side = Facet.define<Side, Side>({ combine: (values) => values[0] ?? "after" });
export const baseText = Facet.define<Text, Text>({ combine: (values) => values[0] ?? Text.empty });
export const actions = Facet.define<Actions, Actions | undefined>({ combine: (values) => values[0] });

export const diffStateField = StateField.define<DiffState>({
  create: () => ({ chunks: [], ids: [], left: new Set(), atHand: -1, mode: "closed" }),
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(setDiffState)) shown = effect.value;
    if (!transaction.docChanged) return shown;
    const { startState, state, newDoc, changes } = transaction;
    return { ...shown, chunks: chunksAfterEdit(shown.chunks, state.facet(baseText), startState.doc, newDoc, changes) };
  },
});

export function isLeft(shown: DiffState, index: number): boolean {
  const id = shown.ids[index];
  return id !== undefined && shown.left.has(id);
}

export function stretchOf(chunk: Chunk, on: Side): { from: number; to: number } {
  return on === "before" ? { from: chunk.fromA, to: chunk.toA } : { from: chunk.fromB, to: chunk.toB };
}
