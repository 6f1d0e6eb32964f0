// Comments on lines of the proposed side: the saved ones, and the box in which one is written. An unsaved box still
// counts, so that a decision includes everything on screen.

import { type EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { CommentBox, SavedComment } from "./comment_box";
import { diffStateField } from "./diff_state";

export interface Comment {
  /** Start of the line. */
  readonly pos: number;
  readonly text: string;
  /** The commented line is no longer in the text; the comment is where that line was. */
  readonly gone?: boolean;
}

export interface Comments {
  readonly saved: readonly Comment[];
  /** The comment being written; `was` is its previous text if it is not new. */
  readonly open: (Comment & { readonly was?: string }) | null;
}

export const setComments = StateEffect.define<Comments>();

export const commentsField = StateField.define<Comments>({
  create: () => ({ saved: [], open: null }),
  update(comments, transaction) {
    if (transaction.docChanged) {
      const move = <Kind extends Comment>(comment: Kind): Kind => {
        const pos = transaction.changes.mapPos(comment.pos, 1);
        return { ...comment, pos: transaction.newDoc.lineAt(pos).from };
      };
      comments = { saved: comments.saved.map(move), open: comments.open === null ? null : move(comments.open) };
    }
    for (const effect of transaction.effects) if (effect.is(setComments)) comments = effect.value;
    return comments;
  },
});

export const commentWidgets = StateField.define<DecorationSet>({
  create: widgetsOf,
  update(set, { docChanged, startState, state }) {
    const sameComments = startState.field(commentsField, false) === state.field(commentsField);
    return docChanged || !sameComments || isClosed(startState) !== isClosed(state) ? widgetsOf(state) : set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function isClosed(state: EditorState): boolean {
  return state.field(diffStateField, false)?.mode === "closed";
}

function widgetsOf(state: EditorState): DecorationSet {
  const { saved, open } = state.field(commentsField);
  const widgets = saved.map((comment) => {
    const line = state.doc.lineAt(comment.pos);
    const widget = new SavedComment(line.number, comment, isClosed(state));
    return Decoration.widget({ widget, block: true, side: 5 }).range(line.to);
  });
  if (open !== null) {
    const line = state.doc.lineAt(open.pos);
    widgets.push(Decoration.widget({ widget: new CommentBox(line.number, open.text), block: true, side: 6 }).range(line.to));
  }
  return Decoration.set(widgets, true);
}

/** Starts of the lines that follow a comment. */
export function linesBelow(state: EditorState): number[] {
  const { saved, open } = state.field(commentsField);
  const all = open === null ? saved : [...saved, open];
  return all.map(({ pos }) => state.doc.lineAt(pos).to + 1).filter((pos) => pos <= state.doc.length);
}
