// The two editors: unified or side by side, aligned, with the same lines folded. Knows nothing of decisions.

import { closeSearchPanel, openSearchPanel } from "@codemirror/search";
import type { Text } from "@codemirror/state";
import { EditorView, type ViewUpdate } from "@codemirror/view";
import { element } from "../shell/dom";
import { type Region, expandRegion, foldedAt, regionsOf } from "./collapse";
import { type Comments, commentsField, linesBelow } from "./comments";
import { type Common, afterState, beforeState, layoutEffect } from "./editors";
import { alignSides, alignUndrawn } from "./align_sides";
import { atTheEnd, drawnSyncPoints, everySyncPoint } from "./sync_points";
import { type DiffState, setDiffState, diffStateField } from "./diff_state";
import type { Layout } from "./view";

export class EditorPair {
  readonly root = element("div", { class: "ls-diff", role: "group", "aria-label": "Changes" });
  readonly after: EditorView;
  /** The container of the search field. */
  readonly finder = element("div");
  readonly #both = element("div", { class: "ls-sides" });
  readonly #beforePlace = element("div", { class: "ls-side ls-before" });
  /** Names of the expanded regions. */
  readonly #opened = new Set<number>();
  #before: EditorView | null = null;
  #regions: readonly Region[] = [];
  #common: Common | null = null;
  #aligning: number | null = null;

  constructor(
    readonly parent: HTMLElement,
    public layout: Layout,
    nonce: string,
  ) {
    const place = element("div", { class: "ls-side ls-after" });
    // Wrapped, because an editor styles the element that holds its search field as if it were an editor.
    this.root.append(element("div", { class: "ls-finder" }, this.finder), this.#both);
    this.#both.append(place);
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "f" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      this.find();
    });
    // With the nonce from the start: an editor adds its styles when it is created.
    this.after = new EditorView({ parent: place, extensions: EditorView.cspNonce.of(nonce) });
    parent.append(this.root);
  }

  shown(): DiffState {
    return this.after.state.field(diffStateField);
  }

  show(common: Common, doc: Text, shown: DiffState, comments: Comments): void {
    const digits = String(Math.max(common.base.lines, doc.lines)).length;
    this.root.style.setProperty("--ls-digits", String(Math.max(digits, 2)));
    this.#common = common;
    this.#regions = regionsOf(shown.chunks, common.base, doc);
    this.after.setState(afterState(common, shown, this.#folded(), { doc, layout: this.layout, comments }));
    this.#placeBefore();
    for (const { pos } of comments.saved) this.#expandAt(pos, pos);
  }

  setLayout(layout: Layout): void {
    this.layout = layout;
    this.#dropBefore();
    this.after.dispatch({ effects: layoutEffect(layout) });
    this.#placeBefore();
  }

  /** Must be called for every update of either editor. */
  updated(update: ViewUpdate): void {
    if (update.view === this.after) {
      const shown = update.state.field(diffStateField);
      if (update.startState.field(diffStateField, false) !== shown) this.#before?.dispatch({ effects: setDiffState.of(shown) });
      if (update.startState.field(commentsField) !== update.state.field(commentsField)) {
        for (const { pos } of update.state.field(commentsField).saved) this.#expandAt(pos, pos);
      }
      update.changes.iterChangedRanges((_fromA, _toA, from, to) => this.#expandAt(from, to));
    }
    if (update.transactions.some((transaction) => transaction.isUserEvent("select.search"))) {
      const { from, to } = update.state.selection.main;
      for (const name of foldedAt(update.state, from, to)) this.expand(name);
    }
    if (update.heightChanged || update.viewportChanged || update.geometryChanged) this.#alignSoon();
  }

  /** Returns the region that was expanded. */
  expand(name: number): Region | undefined {
    this.#opened.add(name);
    for (const view of [this.after, this.#before]) view?.dispatch({ effects: expandRegion.of(name) });
    return this.#regions.find(({ before }) => before === name);
  }

  /** Opens the search field for the focused side, otherwise for the proposed one. */
  find(): void {
    if (this.finder.contains(document.activeElement)) return this.finder.querySelector("input")?.select();
    const [before, after] = [this.#before, this.after];
    const [searched, other] = before?.hasFocus === true ? [before, after] : [after, before];
    if (other !== null) closeSearchPanel(other);
    openSearchPanel(searched);
  }

  destroy(): void {
    this.#dropBefore();
    this.after.destroy();
    this.root.remove();
  }

  #expandAt(from: number, to: number): void {
    for (const name of foldedAt(this.after.state, from, to)) this.expand(name);
  }

  #folded(): Region[] {
    return this.#regions.filter((region) => !this.#opened.has(region.before));
  }

  /** The base side exists only in the split layout. */
  #placeBefore(): void {
    this.parent.dataset["layout"] = this.layout;
    this.#dropBefore();
    if (this.layout === "unified" || this.#common === null) return;
    const state = beforeState(this.#common, this.shown(), this.#folded());
    this.#before = new EditorView({ state, parent: this.#beforePlace });
    this.#both.prepend(this.#beforePlace);
    alignUndrawn(this.#before, this.after, everySyncPoint(this.#before, this.after, this.shown().chunks));
    this.#alignSoon();
  }

  #dropBefore(): void {
    if (this.#aligning !== null) cancelAnimationFrame(this.#aligning);
    this.#aligning = null;
    this.#before?.destroy();
    this.#before = null;
    this.#beforePlace.remove();
  }

  /** Aligns once per frame: aligned after every update, each gap would move twice. */
  #alignSoon(): void {
    const [before, after] = [this.#before, this.after];
    if (before === null || this.#aligning !== null) return;
    this.#aligning = requestAnimationFrame(() => {
      // Asking an editor for the block at a height makes it measure first.
      for (const view of [before, after]) view.elementAtHeight(0);
      this.#aligning = null;
      const points = drawnSyncPoints(before, after, this.shown().chunks, linesBelow(after.state));
      alignSides(before, after, points, atTheEnd(before, after));
    });
  }
}
