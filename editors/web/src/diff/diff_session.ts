// One open diff: the user's chosen hunks, text and comments, and the `DiffView` interface for the page.

import type { Chunk } from "@codemirror/merge";
import type { Extension, StateEffect, Text } from "@codemirror/state";
import { EditorView, type ViewUpdate } from "@codemirror/view";
import type { ReviewComment, ReviewShow, Verdict } from "../../../protocol";
import { count } from "../shell/labels";
import { chunksOf, reverting } from "./chunks";
import { CommentEditing } from "./comment_editing";
import { conflictNotices } from "./conflicts";
import { chunksOfEdited } from "./chunk_update";
import { type Common, closedEffect } from "./editors";
import { languageOf } from "./languages";
import { type Moves, movesBetween } from "./line_moves";
import { type Mode, type DiffState, actions, setDiffState } from "./diff_state";
import { EditorPair } from "./editor_pair";
import { syntaxOf } from "./lazy_highlight";
import { type Separator, composed, lineStart, linesOf, movedLine, separatorOf, takenHunks } from "./text";
import { bringIntoView, chunkAt, chunkBeyond, chunksInView } from "./navigate";
import type { DiffOptions, DiffView, Draft, Layout } from "./view";

export function openDiff(parent: HTMLElement, shown: ReviewShow, options: DiffOptions): DiffView {
  return new DiffSession(parent, shown, options);
}

class DiffSession implements DiffView {
  readonly #editors: EditorPair;
  readonly #base: Text;
  readonly #separator: Separator;
  readonly #commenting: CommentEditing;
  /** Hunks can be chosen; otherwise the user's own text is shown. */
  #choosing = true;
  #sliced: { readonly doc: Text; readonly text: string } | null = null;

  constructor(
    parent: HTMLElement,
    readonly review: ReviewShow,
    readonly options: DiffOptions,
  ) {
    const draft = options.draft ?? { left: [], comments: [] };
    this.#separator = separatorOf(review.base, review.proposed, draft.text ?? "");
    this.#base = linesOf(review.base, this.#separator);
    this.#editors = new EditorPair(parent, options.layout, options.nonce);
    this.#commenting = new CommentEditing(this.#editors.after, options, review.receivesNotes?.comments ?? "");
    const known = new Set(review.hunks.map((hunk) => hunk.id));
    const left = new Set(draft.left.filter((id) => known.has(id)));
    if (draft.text === undefined) this.#showHunks(left, options.readOnly ? "closed" : "deciding");
    else this.#showText(draft.text, left, options.readOnly ? "closed" : "editing");
    const { doc } = this.#after.state;
    const on = draft.on === undefined ? doc : linesOf(draft.on, separatorOf(draft.on));
    this.#commenting.restore(draft.comments, movesBetween(on, doc));
  }

  layout(): Layout {
    return this.#editors.layout;
  }

  setLayout(layout: Layout): void {
    if (layout !== this.#editors.layout) this.#editors.setLayout(layout);
  }

  nextChange(): void {
    this.#travel(1);
  }

  previousChange(): void {
    this.#travel(-1);
  }

  toggleHunk(): void {
    const { mode, chunks, ids, left, atHand } = this.#shown();
    if (mode !== "deciding" || chunks.length === 0) return;
    const seen = chunksInView(this.#after, this.#editors.root, chunks);
    const index = seen.includes(atHand) ? atHand : seen[0];
    if (index === undefined) {
      // A hunk that is not on the screen must not be toggled.
      this.#reach(Math.max(atHand, 0));
      return;
    }
    const id = ids[index];
    if (id !== undefined) this.#take(id, left.has(id));
    const chunk = chunks[index];
    if (chunk !== undefined) bringIntoView(this.#after, this.#editors.root, index, chunk, () => {}, 1);
  }

  startEditing(): void {
    const { mode, left } = this.#shown();
    if (mode !== "deciding") return;
    const { base, proposed, hunks } = this.review;
    const doc = this.#lines(composed(base, proposed, hunks, left));
    const chunks = chunksOf(takenHunks(hunks, left), this.#base, doc);
    const moved: Moves = (line) => ({ line: movedLine(line, hunks, left), gone: false });
    this.#show(doc, { chunks, ids: [], left, atHand: -1, mode: "editing" }, moved, moved);
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

  find(): void {
    this.#editors.find();
  }

  draft(): Draft {
    const comments = this.#commenting.all();
    const text = this.#choosing ? this.review.proposed : this.#text();
    const said = { comments, on: comments.length === 0 ? undefined : text };
    if (this.#choosing) return { left: [...this.#shown().left], ...said };
    // Edited back to the proposal: hunks excluded before are included again.
    return text === this.review.proposed ? { left: [], ...said } : { left: [...this.#shown().left], ...said, text };
  }

  commentsOnProposal(): ReviewComment[] {
    const moves = movesBetween(this.#after.state.doc, linesOf(this.review.proposed, this.#separator));
    return this.#commenting.all().map(({ line, text }) => ({ line: moves(line - 1).line + 1, text }));
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
    this.#tell({ ...this.#shown(), mode: "closed" }, closedEffect());
  }

  focus(): void {
    this.#after.focus();
  }

  destroy(): void {
    this.#editors.destroy();
  }

  get #after(): EditorView {
    return this.#editors.after;
  }

  #shown(): DiffState {
    return this.#editors.shown();
  }

  /** Computed once per document state, because the text may be large. */
  #text(): string {
    const { doc } = this.#after.state;
    if (this.#sliced?.doc !== doc) this.#sliced = { doc, text: this.#after.state.sliceDoc() };
    return this.#sliced.text;
  }

  #lines(text: string): Text {
    return linesOf(text, this.#separator);
  }

  #showHunks(left: ReadonlySet<string>, mode: Mode): void {
    const doc = this.#lines(this.review.proposed);
    const chunks = chunksOf(this.review.hunks, this.#base, doc);
    const ids = this.review.hunks.map((hunk) => hunk.id);
    this.#show(doc, { chunks, ids, left, atHand: -1, mode }, movesBetween(this.#after.state.doc, doc));
  }

  #showText(text: string, left: ReadonlySet<string>, mode: Mode): void {
    const [proposed, doc] = [this.#lines(this.review.proposed), this.#lines(text)];
    const chunks = chunksOfEdited(chunksOf(this.review.hunks, this.#base, proposed), this.#base, proposed, doc);
    const moved = movesBetween(proposed, doc);
    this.#show(doc, { chunks, ids: [], left, atHand: -1, mode }, moved, moved);
  }

  /** `moved` maps the lines shown so far, `proposed` those of the proposal. */
  #show(doc: Text, shown: DiffState, moved: Moves, proposed: Moves = (line) => ({ line, gone: false })): void {
    this.#choosing = shown.ids.length === this.review.hunks.length && shown.mode !== "editing";
    const common: Common = {
      base: this.#base,
      separator: this.#separator,
      nonce: this.options.nonce,
      language: syntaxOf(languageOf(this.review.path), Math.max(this.#base.length, doc.length)),
      conflicts: conflictNotices(this.review.conflicts, (line) => proposed(line).line),
      finder: this.#editors.finder,
      reactions: this.#reactions(),
    };
    this.#editors.show(common, doc, shown, this.#commenting.carried(doc, moved));
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
    this.#editors.updated(update);
    if (update.view !== this.#after) return;
    if (update.docChanged) this.options.changed();
    if (update.docChanged || update.selectionSet) {
      this.#reached(chunkAt(this.#shown().chunks, update.state.selection.main.head));
    }
  }

  #tell(shown: DiffState, ...more: StateEffect<unknown>[]): void {
    this.#after.dispatch({ effects: [setDiffState.of(shown), ...more] });
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
    this.options.announce(`Hunk ${index + 1} ${taken ? "included" : "excluded"}; ${total - left.size} of ${total} included`);
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
    this.options.announce("Change reverted");
  }

  #travel(step: 1 | -1): void {
    const shown = this.#shown();
    if (shown.chunks.length === 0) return this.options.announce("No changes");
    const head = shown.atHand < 0 ? -1 : this.#after.state.selection.main.head;
    this.#reach(chunkBeyond(shown.chunks, head, step));
  }

  /** Goes to a chunk, scrolls to it and announces it. */
  #reach(index: number): void {
    const { chunks, mode } = this.#shown();
    const chunk = this.#goTo(index);
    if (chunk === undefined) return;
    const within = this.#editors.root.contains(document.activeElement) && mode === "deciding";
    bringIntoView(this.#after, this.#editors.root, index, chunk, (bar) => {
      if (within) bar.querySelector("input")?.focus({ preventScroll: true });
    });
    this.options.announce(`Change ${index + 1} of ${chunks.length}`);
  }

  /** Makes a chunk the current one, without scrolling. */
  #goTo(index: number): Chunk | undefined {
    const { chunks, atHand } = this.#shown();
    const chunk = chunks[index];
    if (chunk !== undefined && (index !== atHand || chunkAt(chunks, this.#after.state.selection.main.head) !== index)) {
      this.#after.dispatch({ selection: { anchor: Math.min(chunk.fromB, this.#after.state.doc.length) } });
      this.#reached(index);
    }
    return chunk;
  }

  /** The pressed button disappears, so the focus moves to the lines it revealed. */
  #open(name: number): void {
    const pressed = this.#editors.root.contains(document.activeElement);
    const region = this.#editors.expand(name);
    if (!pressed || region === undefined) return;
    const anchor = Math.min(lineStart(this.#after.state.doc, region.after), this.#after.state.doc.length);
    if (!this.isEditing()) this.#after.dispatch({ selection: { anchor } });
    this.#after.focus();
    this.options.announce(`${count(region.lines, "line")} shown`);
  }
}
