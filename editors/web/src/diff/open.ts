// One open review: keeps both editors, the person's choice and her text together, and answers the shell.

import { Chunk } from "@codemirror/merge";
import { type Extension, type StateEffect, Text } from "@codemirror/state";
import { EditorView, type ViewUpdate } from "@codemirror/view";
import type { ReviewShow, Verdict } from "../../../protocol";
import { EDIT_DIFF, chunksOf, reverting } from "./chunks";
import { type Region, expandRegion, foldedAt, regionsOf } from "./collapse";
import { Commenting } from "./commenting";
import { type Comments, commentsField } from "./comments";
import { conflictNotices } from "./conflicts";
import { type Common, abilityEffect, afterState, beforeState, layoutEffect } from "./editors";
import { element } from "../dom";
import { count } from "../wording";
import { languageOf } from "./languages";
import { level } from "./level";
import { atTheEnd, drawn, meetingsOf } from "./meetings";
import { type Mode, type Shown, actions, setShown, shownField } from "./shown";
import { composed, lineStart, linesOf, movedLine, separatorOf, takenHunks } from "./text";
import { bringIntoView, chunkAt, chunkBeyond } from "./travel";
import type { DiffOptions, DiffView, Draft, Layout } from "./view";

export function openDiff(parent: HTMLElement, shown: ReviewShow, options: DiffOptions): DiffView {
  return new OpenReview(parent, shown, options);
}

const NO_COMMENTS: Comments = { saved: [], open: null };

class OpenReview implements DiffView {
  readonly #root = element("div", { class: "ls-diff", role: "group", "aria-label": "Changes" });
  readonly #beforeSide = element("div", { class: "ls-side ls-before" });
  readonly #base: Text;
  readonly #separator;
  readonly #after: EditorView;
  readonly #commenting: Commenting;
  readonly #expanded = new Set<number>();
  #before: EditorView | null = null;
  #layout: Layout;
  #regions: readonly Region[] = [];
  /** Hunks are chosen among; else a text of her own is shown. */
  #choosing = true;
  #levelling = false;

  constructor(
    readonly parent: HTMLElement,
    readonly review: ReviewShow,
    readonly options: DiffOptions,
  ) {
    const draft = options.draft ?? { left: [], comments: [] };
    this.#separator = separatorOf(review.base, review.proposed, draft.text ?? "");
    this.#base = linesOf(review.base, this.#separator);
    this.#layout = options.layout;
    const digits = String(Math.max(this.#base.lines, review.proposed.split("\n").length)).length;
    this.#root.style.setProperty("--ls-digits", String(Math.max(digits, 2)));
    const afterSide = element("div", { class: "ls-side ls-after" });
    this.#root.append(element("div", { class: "ls-sides" }, afterSide));
    // From the start with the nonce: an editor brings its styles along when it is made.
    this.#after = new EditorView({ parent: afterSide, extensions: EditorView.cspNonce.of(options.nonce) });
    this.#commenting = new Commenting(this.#after, options);
    parent.append(this.#root);
    const known = new Set(review.hunks.map((hunk) => hunk.id));
    const left = new Set(draft.left.filter((id) => known.has(id)));
    if (draft.text === undefined) this.#showHunks(left, options.readOnly ? "closed" : "deciding");
    else this.#showText(draft.text, left, options.readOnly ? "closed" : "editing");
    this.#commenting.restore(draft.comments);
    for (const { pos } of this.#after.state.field(commentsField).saved) this.#expandAt(pos, pos);
  }

  layout(): Layout {
    return this.#layout;
  }

  setLayout(layout: Layout): void {
    if (layout === this.#layout) return;
    this.#layout = layout;
    this.#dropBefore();
    this.#after.dispatch({ effects: layoutEffect(layout) });
    this.#placeBefore();
  }

  nextChange(): void {
    this.#travel(1);
  }

  previousChange(): void {
    this.#travel(-1);
  }

  toggleHunk(): void {
    const shown = this.#shown();
    const id = shown.ids[Math.max(shown.atHand, 0)];
    if (id !== undefined && shown.mode === "deciding") this.#take(id, shown.left.has(id));
  }

  startEditing(): void {
    const { mode, left } = this.#shown();
    if (mode !== "deciding") return;
    const { base, proposed, hunks } = this.review;
    const doc = linesOf(composed(base, proposed, hunks, left), this.#separator);
    const chunks = chunksOf(takenHunks(hunks, left), this.#base, doc);
    this.#show(doc, { chunks, ids: [], left, atHand: -1, mode: "editing" });
    this.#after.focus();
    this.options.changed();
  }

  discardEdits(): void {
    const { mode, left } = this.#shown();
    if (mode !== "editing") return;
    this.#showHunks(left, "deciding");
    this.options.changed();
  }

  isEditing(): boolean {
    return this.#shown().mode === "editing";
  }

  commentHere(): void {
    if (this.#shown().mode !== "closed") this.#commenting.open(this.#after.state.selection.main.head);
  }

  draft(): Draft {
    const text = this.#text();
    const draft: Draft = { left: [...this.#shown().left], comments: this.#commenting.all() };
    return this.#choosing || text === this.review.proposed ? draft : { ...draft, text };
  }

  verdict(): Verdict | null {
    const { ids, left } = this.#shown();
    if (this.#choosing) {
      const hunks = ids.filter((id) => !left.has(id));
      if (hunks.length === ids.length) return { kind: "accept" };
      return hunks.length === 0 ? null : { kind: "acceptHunks", hunks };
    }
    const text = this.#text();
    if (text === this.review.proposed) return { kind: "accept" };
    return text === this.review.base ? null : { kind: "acceptEdited", text };
  }

  setReadOnly(): void {
    this.#commenting.close();
    this.#tell({ ...this.#shown(), mode: "closed" }, abilityEffect("closed"));
  }

  focus(): void {
    this.#after.focus();
  }

  destroy(): void {
    this.#before?.destroy();
    this.#after.destroy();
    this.#root.remove();
  }

  #shown(): Shown {
    return this.#after.state.field(shownField);
  }

  #text(): string {
    return this.#after.state.sliceDoc();
  }

  #showHunks(left: ReadonlySet<string>, mode: Mode): void {
    const doc = linesOf(this.review.proposed, this.#separator);
    const chunks = chunksOf(this.review.hunks, this.#base, doc);
    this.#show(doc, { chunks, ids: this.review.hunks.map((hunk) => hunk.id), left, atHand: -1, mode });
  }

  #showText(text: string, left: ReadonlySet<string>, mode: Mode): void {
    const doc = linesOf(text, this.#separator);
    const chunks = Chunk.build(this.#base, doc, EDIT_DIFF);
    this.#show(doc, { chunks, ids: [], left, atHand: -1, mode });
  }

  #show(doc: Text, shown: Shown): void {
    this.#choosing = shown.ids.length === this.review.hunks.length && shown.mode !== "editing";
    this.#regions = regionsOf(shown.chunks, this.#base, doc);
    const comments = this.#after.state.field(commentsField, false);
    const kept = comments === undefined ? NO_COMMENTS : this.#commenting.moved(comments, this.#after.state.doc, doc);
    this.#after.setState(afterState(this.#common(shown), shown, this.#folded(), { doc, layout: this.#layout, comments: kept }));
    this.#placeBefore();
  }

  #common(shown: Shown): Common {
    const left = shown.mode === "editing" ? shown.left : new Set<string>();
    const notices = conflictNotices(this.review.conflicts, (line) => movedLine(line, this.review.hunks, left));
    const language = languageOf(this.review.path);
    return { base: this.#base, separator: this.#separator, nonce: this.options.nonce, language, conflicts: notices, reactions: this.#reactions() };
  }

  #folded(): Region[] {
    return this.#regions.filter((region) => !this.#expanded.has(region.before));
  }

  /** The side before exists only beside the other. */
  #placeBefore(): void {
    this.parent.dataset["layout"] = this.#layout;
    this.#dropBefore();
    if (this.#layout === "unified") return;
    const shown = this.#shown();
    this.#before = new EditorView({ state: beforeState(this.#common(shown), shown, this.#folded()), parent: this.#beforeSide });
    this.#root.firstElementChild?.prepend(this.#beforeSide);
    this.#level(true);
  }

  #dropBefore(): void {
    this.#before?.destroy();
    this.#before = null;
    this.#beforeSide.remove();
  }

  #reactions(): Extension {
    return [
      this.#commenting.actions,
      actions.of({
        take: (id, taken) => this.#take(id, taken),
        reached: (index) => this.#goTo(index),
        putBack: (index) => this.#putBack(index),
        expand: (region) => this.#open(region),
        comment: (pos) => this.#shown().mode !== "closed" && this.#commenting.open(pos),
      }),
      EditorView.updateListener.of((update) => this.#updated(update)),
    ];
  }

  #updated(update: ViewUpdate): void {
    if (update.view === this.#after) {
      const { startState, state } = update;
      if (startState.field(shownField, false) !== state.field(shownField)) {
        this.#before?.dispatch({ effects: setShown.of(state.field(shownField)) });
      }
      if (update.docChanged) {
        update.changes.iterChangedRanges((_fromA, _toA, from, to) => this.#expandAt(from, to));
        this.options.changed();
      }
      if (update.selectionSet || update.docChanged) this.#reached(chunkAt(this.#shown().chunks, state.selection.main.head));
    }
    if (update.heightChanged || update.viewportChanged || update.geometryChanged) this.#level(false);
  }

  /** `whole`: also what is not drawn, whose heights are guesses. */
  #level(whole: boolean): void {
    const [before, after] = [this.#before, this.#after];
    if (before === null || this.#levelling) return;
    this.#levelling = true;
    const meetings = meetingsOf(before, after, this.#shown().chunks, this.#commenting.linesBelow());
    if (whole) level(before, after, meetings, true);
    else level(before, after, drawn(meetings, before, after), atTheEnd(before, after));
    this.#levelling = false;
  }

  #tell(shown: Shown, ...more: StateEffect<unknown>[]): void {
    this.#after.dispatch({ effects: [setShown.of(shown), ...more] });
  }

  #take(id: string, taken: boolean): void {
    const shown = this.#shown();
    if (shown.mode !== "deciding") return;
    const left = new Set(shown.left);
    if (taken) left.delete(id);
    else left.add(id);
    const index = shown.ids.indexOf(id);
    this.#tell({ ...shown, left });
    this.#goTo(index);
    const total = shown.ids.length;
    this.options.announce(`Hunk ${index + 1} ${taken ? "taken" : "left out"}; ${total - left.size} of ${total} taken`);
    this.options.changed();
  }

  #reached(index: number): void {
    const shown = this.#shown();
    if (index >= 0 && index !== shown.atHand) this.#tell({ ...shown, atHand: index });
  }

  #putBack(index: number): void {
    const chunk = this.#shown().chunks[index];
    if (chunk === undefined || !this.isEditing()) return;
    const changes = reverting(chunk, this.#base, this.#after.state.doc);
    this.#after.dispatch({ changes, selection: { anchor: changes.from }, userEvent: "revert" });
    this.#after.focus();
    this.options.announce("The text before is back");
  }

  #travel(step: 1 | -1): void {
    const shown = this.#shown();
    if (shown.chunks.length === 0) return this.options.announce("There is no change");
    const head = shown.atHand < 0 ? -1 : this.#after.state.selection.main.head;
    const index = chunkBeyond(shown.chunks, head, step);
    const chunk = this.#goTo(index);
    if (chunk === undefined) return;
    const within = this.#root.contains(document.activeElement) && shown.mode === "deciding";
    bringIntoView(this.#after, this.#root, index, chunk, (bar) => {
      if (within) bar.querySelector("input")?.focus({ preventScroll: true });
    });
    this.options.announce(`Change ${index + 1} of ${shown.chunks.length}`);
  }

  /** Makes a chunk the one at hand, without scrolling. */
  #goTo(index: number): Chunk | undefined {
    const { chunks, atHand } = this.#shown();
    const chunk = chunks[index];
    if (chunk !== undefined && (index !== atHand || chunkAt(chunks, this.#after.state.selection.main.head) !== index)) {
      this.#after.dispatch({ selection: { anchor: Math.min(chunk.fromB, this.#after.state.doc.length) } });
      this.#reached(index);
    }
    return chunk;
  }

  /** The button that was pressed goes, so the focus goes on to the lines it gave way to. */
  #open(region: number): void {
    const pressed = this.#root.contains(document.activeElement);
    const fold = this.#regions.find(({ before }) => before === region);
    this.#expand(region);
    if (!pressed || fold === undefined) return;
    const anchor = Math.min(lineStart(this.#after.state.doc, fold.after), this.#after.state.doc.length);
    if (!this.isEditing()) this.#after.dispatch({ selection: { anchor } });
    this.#after.focus();
    this.options.announce(`${count(fold.lines, "line")} shown`);
  }

  #expand(region: number): void {
    this.#expanded.add(region);
    for (const view of [this.#after, this.#before]) view?.dispatch({ effects: expandRegion.of(region) });
  }

  #expandAt(from: number, to: number): void {
    for (const region of foldedAt(this.#after.state, from, to)) this.#expand(region);
  }
}
