// What the shell and the diff know of each other. The shell imports these types only; the code behind them is loaded
// when the first review is opened.

import type { ReviewComment, ReviewShow, Verdict } from "../../../protocol";

/** Both sides beside each other, or one below the other. */
export type Layout = "split" | "unified";

/** What a person has done to a review and not sent yet. */
export interface Draft {
  /** Ids of the hunks she does not take. */
  left: string[];
  comments: ReviewComment[];
  /** The text whose lines the comments count, where there are any: in another, they follow their lines. */
  on?: string | undefined;
  /** Her own version of the text, once she edited it. */
  text?: string;
}

export interface DiffOptions {
  layout: Layout;
  /** What the page's policy asks of style elements. */
  nonce: string;
  readOnly: boolean;
  draft?: Draft;
  /** The hunk choice, comments, text or editing changed. */
  changed(): void;
  /** Says something to a screen reader. */
  announce(text: string): void;
}

export interface DiffView {
  setLayout(layout: Layout): void;
  layout(): Layout;
  /** Moves to the next change, scrolls there and announces it. */
  nextChange(): void;
  previousChange(): void;
  /** Takes or leaves the hunk at hand. */
  toggleHunk(): void;
  startEditing(): void;
  discardEdits(): void;
  isEditing(): boolean;
  /** Opens the comment box at the line at hand. */
  commentHere(): void;
  /** Opens the field to search the text with. */
  find(): void;
  draft(): Draft;
  /** What was said, by the lines of the proposal: that is what a rejection is about. */
  commentsOnProposal(): ReviewComment[];
  /** `null`: nothing is taken. */
  verdict(): Verdict | null;
  setReadOnly(): void;
  focus(): void;
  destroy(): void;
}

export type OpenDiff = (parent: HTMLElement, shown: ReviewShow, options: DiffOptions) => DiffView;
