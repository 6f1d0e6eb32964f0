// The elements of comments: a saved one with its buttons, and the box to write one.

import { Facet } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { Block } from "./block";
import type { Comment } from "./comments";
import { button, element } from "../shell/dom";
import { boxed } from "./hidden_characters";

/** The actions of the buttons. */
export interface CommentActions {
  /** What the user should know before writing one; empty if nothing. */
  readonly note: string;
  save(text: string): void;
  /** The user typed and has not saved yet. */
  typed(text: string): void;
  cancel(): void;
  edit(comment: Comment): void;
  remove(comment: Comment): void;
}

export const commentActions = Facet.define<CommentActions, CommentActions | undefined>({ combine: (values) => values[0] });

/** There is one box at a time. */
const NOTE_ID = "unheard-comment";

export class SavedComment extends Block {
  constructor(
    readonly line: number,
    readonly comment: Comment,
    readonly closed: boolean,
  ) {
    super();
  }

  override eq(other: SavedComment): boolean {
    return this.line === other.line && this.comment === other.comment && this.closed === other.closed;
  }

  override toDOM(view: EditorView): HTMLElement {
    const does = view.state.facet(commentActions);
    const note = element("div", {
      class: "ls-comment",
      role: "note",
      "aria-label": `Comment on line ${this.line}`,
      "data-comment": String(this.line),
    });
    note.append(element("p", {}, ...boxed(this.comment.text)));
    if (this.comment.gone === true) {
      note.append(element("p", { class: "ls-gone" }, "The commented line no longer exists; the comment is attached to this line."));
    }
    if (does !== undefined && !this.closed) {
      const where = `the comment on line ${this.line}`;
      note.append(
        button("edit-comment", ["Edit"], () => does.edit(this.comment), { "aria-label": `Edit ${where}` }),
        button("remove-comment", ["Remove"], () => does.remove(this.comment), { "aria-label": `Remove ${where}` }),
      );
    }
    return element("div", { class: "ls-commentRow" }, note);
  }

  override get estimatedHeight(): number {
    return 60;
  }
}

export class CommentBox extends Block {
  constructor(
    readonly line: number,
    readonly text: string,
  ) {
    super();
  }

  /** The typed text lives in the element: the box stays the same one as long as it is on its line. */
  override eq(other: CommentBox): boolean {
    return this.line === other.line;
  }

  override toDOM(view: EditorView): HTMLElement {
    const does = view.state.facet(commentActions);
    const field = element("textarea", {
      "data-field": "comment",
      rows: "3",
      "aria-label": `Comment on line ${this.line}`,
      placeholder: "Comment for the agent",
      "aria-describedby": NOTE_ID,
    });
    const note = element("p", { id: NOTE_ID, class: "ls-gone", "data-unheard": "comments" }, ...boxed(does?.note ?? ""));
    note.hidden = does?.note === "";
    field.value = this.text;
    field.addEventListener("input", () => does?.typed(field.value));
    field.addEventListener("keydown", (event) => {
      // Leaving the box by a key must not discard text.
      if (event.key === "Escape" && field.value.trim() === "") does?.cancel();
      else if (event.key === "Escape") does?.save(field.value);
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) does?.save(field.value);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    const save = button("save-comment", ["Save comment"], () => does?.save(field.value), { class: "ls-primary" });
    const cancel = button("cancel-comment", ["Cancel"], () => does?.cancel());
    return element("div", { class: "ls-commentRow" }, element("div", { class: "ls-comment" }, note, field, save, cancel));
  }

  override get estimatedHeight(): number {
    return 130;
  }
}
