// The two editors and their places: one below or beside the other, level, with the same lines folded. Knows nothing of
// what a person decides.

import { closeSearchPanel, openSearchPanel } from "@codemirror/search";
import type { Text } from "@codemirror/state";
import { EditorView, type ViewUpdate } from "@codemirror/view";
import { element } from "../dom";
import { type Region, expandRegion, foldedAt, regionsOf } from "./collapse";
import { type Comments, commentsField, linesBelow } from "./comments";
import { type Common, afterState, beforeState, layoutEffect } from "./editors";
import { level, levelUnseen } from "./level";
import { atTheEnd, drawnMeetings, everyMeeting } from "./meetings";
import { type Shown, setShown, shownField } from "./shown";
import type { Layout } from "./view";

export class Sides {
  readonly root = element("div", { class: "ls-diff", role: "group", "aria-label": "Changes" });
  readonly after: EditorView;
  /** Where the field to search with appears. */
  readonly finder = element("div");
  readonly #both = element("div", { class: "ls-sides" });
  readonly #beforePlace = element("div", { class: "ls-side ls-before" });
  /** Names of the regions that were opened. */
  readonly #opened = new Set<number>();
  #before: EditorView | null = null;
  #regions: readonly Region[] = [];
  #common: Common | null = null;
  #levelling: number | null = null;

  constructor(
    readonly parent: HTMLElement,
    public layout: Layout,
    nonce: string,
  ) {
    const place = element("div", { class: "ls-side ls-after" });
    // Framed, because what an editor puts its field into it also styles as if it were an editor.
    this.root.append(element("div", { class: "ls-finder" }, this.finder), this.#both);
    this.#both.append(place);
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "f" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      this.find();
    });
    // From the start with the nonce: an editor brings its styles along when it is made.
    this.after = new EditorView({ parent: place, extensions: EditorView.cspNonce.of(nonce) });
    parent.append(this.root);
  }

  shown(): Shown {
    return this.after.state.field(shownField);
  }

  show(common: Common, doc: Text, shown: Shown, comments: Comments): void {
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

  /** To be told of what happens in both editors. */
  updated(update: ViewUpdate): void {
    if (update.view === this.after) {
      const shown = update.state.field(shownField);
      if (update.startState.field(shownField, false) !== shown) this.#before?.dispatch({ effects: setShown.of(shown) });
      if (update.startState.field(commentsField) !== update.state.field(commentsField)) {
        for (const { pos } of update.state.field(commentsField).saved) this.#expandAt(pos, pos);
      }
      update.changes.iterChangedRanges((_fromA, _toA, from, to) => this.#expandAt(from, to));
    }
    if (update.transactions.some((transaction) => transaction.isUserEvent("select.search"))) {
      const { from, to } = update.state.selection.main;
      for (const name of foldedAt(update.state, from, to)) this.expand(name);
    }
    if (update.heightChanged || update.viewportChanged || update.geometryChanged) this.#levelSoon();
  }

  /** Gives the region that is open now. */
  expand(name: number): Region | undefined {
    this.#opened.add(name);
    for (const view of [this.after, this.#before]) view?.dispatch({ effects: expandRegion.of(name) });
    return this.#regions.find(({ before }) => before === name);
  }

  /** Opens the field for the side that has the focus, else for the proposed one. */
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

  /** The side before exists only beside the other. */
  #placeBefore(): void {
    this.parent.dataset["layout"] = this.layout;
    this.#dropBefore();
    if (this.layout === "unified" || this.#common === null) return;
    const state = beforeState(this.#common, this.shown(), this.#folded());
    this.#before = new EditorView({ state, parent: this.#beforePlace });
    this.#both.prepend(this.#beforePlace);
    levelUnseen(this.#before, this.after, everyMeeting(this.#before, this.after, this.shown().chunks));
    this.#levelSoon();
  }

  #dropBefore(): void {
    if (this.#levelling !== null) cancelAnimationFrame(this.#levelling);
    this.#levelling = null;
    this.#before?.destroy();
    this.#before = null;
    this.#beforePlace.remove();
  }

  /** Once for all that happens before the next picture: levelled after each step of it, every gap would move twice. */
  #levelSoon(): void {
    const [before, after] = [this.#before, this.after];
    if (before === null || this.#levelling !== null) return;
    this.#levelling = requestAnimationFrame(() => {
      // Asked for what is at a height, an editor first measures what it has drawn.
      for (const view of [before, after]) view.elementAtHeight(0);
      this.#levelling = null;
      const meetings = drawnMeetings(before, after, this.shown().chunks, linesBelow(after.state));
      level(before, after, meetings, atTheEnd(before, after));
    });
  }
}
