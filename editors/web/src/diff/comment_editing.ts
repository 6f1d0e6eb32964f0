// Adds, edits and removes comments: what the buttons and keys do to the comments of an editor.

import type { Extension, Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type { ReviewComment } from "../../../protocol";
import { count } from "../shell/labels";
import { commentActions } from "./comment_box";
import { type Comment, type Comments, commentsField, setComments } from "./comments";
import type { Move, Moves } from "./line_moves";
import { lineStart } from "./text";
import type { DiffOptions } from "./view";

export class CommentEditing {
  readonly actions: Extension;
  #cameFrom: Element | null = null;

  constructor(
    readonly view: EditorView,
    readonly options: DiffOptions,
    note: string,
  ) {
    this.actions = commentActions.of({
      note,
      save: (text) => this.#save(text),
      typed: (text) => this.#typed(text),
      cancel: () => this.#cancel(),
      edit: (comment) => this.open(comment.pos),
      remove: (comment) => this.#remove(comment),
    });
  }

  /** `moved` maps the lines they count, from 0, to the current ones. */
  restore(comments: readonly ReviewComment[], moved: Moves): void {
    const { doc } = this.view.state;
    const saved = comments.map(({ line, text }) => ({ ...placed(doc, moved(line - 1)), text }));
    // Not `#set`: comments that are only shown again have not changed.
    if (saved.length > 0) this.view.dispatch({ effects: setComments.of({ saved, open: null }) });
    const gone = saved.filter((comment) => comment.gone).length;
    if (gone > 0) this.options.announce(`${count(gone, "comment")} on lines that no longer exist: check where they are now`);
  }

  /** An unsaved comment is on screen, so it counts. */
  all(): ReviewComment[] {
    const { saved, open } = this.#comments();
    const unsaved = open === null || open.text.trim() === "" ? [] : [open];
    return [...saved, ...unsaved]
      .sort((one, other) => one.pos - other.pos)
      .map(({ pos, text }) => ({ line: this.view.state.doc.lineAt(pos).number, text }));
  }

  /** Opens the box at the line of `pos`, with the comment there. A box with text in it is not removed. */
  open(pos: number): void {
    const { saved, open } = this.#comments();
    if (open === null || open.text.trim() === "") {
      const at = this.#lineAt(pos);
      const there = saved.find((comment) => comment.pos === at);
      this.#cameFrom = document.activeElement;
      const begun = there === undefined ? { text: "" } : { text: there.text, was: there.text };
      this.#set({ saved: saved.filter((comment) => comment !== there), open: { pos: at, ...begun } });
    }
    const field = this.view.dom.querySelector<HTMLElement>("[data-field=comment]");
    field?.scrollIntoView({ block: "nearest" });
    field?.focus({ preventScroll: true });
  }

  /** Comments become read-only. */
  close(): void {
    const { saved, open } = this.#comments();
    if (open === null) return;
    this.#set({ saved: open.text.trim() === "" ? saved : [...saved, { pos: open.pos, text: open.text }], open: null });
  }

  /** The same comments in another text. */
  carried(to: Text, moved: Moves): Comments {
    const comments = this.view.state.field(commentsField, false);
    if (comments === undefined) return { saved: [], open: null };
    const move = <Kind extends Comment>(comment: Kind): Kind => {
      const { pos, gone } = placed(to, moved(this.view.state.doc.lineAt(comment.pos).number - 1));
      return { ...comment, pos, gone: gone || comment.gone === true };
    };
    return { saved: comments.saved.map(move), open: comments.open === null ? null : move(comments.open) };
  }

  #comments(): Comments {
    return this.view.state.field(commentsField);
  }

  #lineAt(pos: number): number {
    return this.view.state.doc.lineAt(pos).from;
  }

  #set(comments: Comments): void {
    this.view.dispatch({ effects: setComments.of(comments) });
    this.options.changed();
  }

  #typed(text: string): void {
    const { saved, open } = this.#comments();
    if (open !== null) this.#set({ saved, open: { ...open, text } });
  }

  #save(text: string): void {
    const { saved, open } = this.#comments();
    if (open === null) return;
    const said = text.trim();
    this.#set({ saved: said === "" ? saved : [...saved, { pos: open.pos, text: said }], open: null });
    const line = this.view.state.doc.lineAt(open.pos).number;
    this.options.announce(said === "" ? "No comment" : `Comment on line ${line} saved`);
    this.#goBack();
  }

  #cancel(): void {
    const { saved, open } = this.#comments();
    this.#set({ saved: open?.was === undefined ? saved : [...saved, { pos: open.pos, text: open.was }], open: null });
    this.#goBack();
  }

  #remove(comment: Comment): void {
    const { saved, open } = this.#comments();
    this.#set({ saved: saved.filter((other) => other !== comment), open });
    this.options.announce("Comment removed");
    this.view.focus();
  }

  #goBack(): void {
    const from = this.#cameFrom;
    if (from instanceof HTMLElement && from.isConnected && from !== document.body) from.focus();
    else this.view.focus();
  }
}

function placed(doc: Text, { line, gone }: Move): { pos: number; gone: boolean } {
  return { pos: Math.min(lineStart(doc, line), doc.line(doc.lines).from), gone };
}
