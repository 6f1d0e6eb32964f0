// The interface between the page and the diff. The page imports only these types; the code behind them is loaded when
// the first review is opened.

import type { ReviewComment, ReviewShow, Verdict } from "../../../protocol";

/** Side by side, or one column. */
export type Layout = "split" | "unified";

/** The user's unsent work on a review. */
export interface Draft {
  /** Ids of the excluded hunks. */
  left: string[];
  comments: ReviewComment[];
  /** The text whose lines the comments count, if there are any: in another text, they follow their lines. */
  on?: string | undefined;
  /** The user's own version of the text, once edited. */
  text?: string;
}

export interface DiffOptions {
  layout: Layout;
  /** The nonce that the page's content security policy requires for style elements. */
  nonce: string;
  readOnly: boolean;
  draft?: Draft;
  /** The hunk choice, comments, text or editing changed. */
  changed(): void;
  /** Announces something to screen readers. */
  announce(text: string): void;
}

export interface DiffView {
  setLayout(layout: Layout): void;
  layout(): Layout;
  /** Moves to the next change, scrolls there and announces it. */
  nextChange(): void;
  previousChange(): void;
  /** Includes or excludes the current hunk. */
  toggleHunk(): void;
  startEditing(): void;
  discardEdits(): void;
  isEditing(): boolean;
  /** Opens the comment box at the current line. */
  commentHere(): void;
  /** Opens the search field. */
  find(): void;
  draft(): Draft;
  /** The comments with line numbers of the proposal, which a rejection is about. */
  commentsOnProposal(): ReviewComment[];
  /** `null`: no hunk is included, or the text equals the base. */
  verdict(): Verdict | null;
  setReadOnly(): void;
  focus(): void;
  destroy(): void;
}

export type OpenDiff = (parent: HTMLElement, shown: ReviewShow, options: DiffOptions) => DiffView;
