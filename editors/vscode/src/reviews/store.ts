// The reviews of this window, in the order they came: what the hub shows, what she marked and said, and what of it
// survives a reload. Knows no tabs and no documents.

import * as vscode from "vscode";
import type { ReviewComment, ReviewHunk, ReviewShow } from "../../../protocol";

export type Mark = "accepted" | "rejected";
export type Side = "base" | "proposed";

/** `texts`: they changed, and not by her. `state`: anything else about it. */
export interface Change {
  kind: "added" | "texts" | "state" | "removed";
  review: Review;
}

/** What a reload must not lose. */
interface Kept {
  path: string;
  closed: boolean;
  marks: [string, Mark][];
  comments: ReviewComment[];
}

const KEPT = "linkspan.review.";
/** After a reload tabs come back before the hub does. */
const PATIENCE_MS = 10_000;
/** So long after a change she may have meant what was there before. */
const UNSEEN_MS = 400;

export class Review {
  /** Counts what changed under her. */
  generation = 1;
  /** Her text that is on its way to the hub. */
  sent: string | undefined;
  deciding = false;
  #changedAt = 0;

  constructor(
    public shown: ReviewShow,
    public closed: boolean,
    readonly marks: Map<string, Mark>,
    public comments: ReviewComment[],
  ) {}

  get id(): string {
    return this.shown.review;
  }

  get name(): string {
    return plain(this.shown.path.split(/[\\/]/).at(-1) ?? this.shown.path);
  }

  get agent(): string {
    return plain(this.shown.agent);
  }

  /** VS Code ends a line at a lone CR, which the hub counts as part of it: then lines cannot be told by number. */
  get linesAgree(): boolean {
    return !/\r(?!\n)/.test(this.shown.base) && !/\r(?!\n)/.test(this.shown.proposed);
  }

  get isUnseen(): boolean {
    return Date.now() - this.#changedAt < UNSEEN_MS;
  }

  /** It is not what it was a moment ago, or not where it was. */
  moved(): void {
    this.#changedAt = Date.now();
  }

  hunkAt(side: Side, line: number): ReviewHunk | undefined {
    return this.shown.hunks.find((hunk) => {
      const { start, count } = linesOf(hunk, side);
      return line >= start && line < start + Math.max(count, 1);
    });
  }
}

export class Store {
  readonly #reviews = new Map<string, Review>();
  readonly #changed = new vscode.EventEmitter<Change>();
  readonly onChange = this.#changed.event;
  /** The hub has told all there is. */
  #complete = false;

  constructor(private readonly memory: vscode.Memento) {}

  get pending(): Review[] {
    return [...this.#reviews.values()];
  }

  get(id: string): Review | undefined {
    return this.#reviews.get(id);
  }

  /** The review, once the hub has shown it, or said that there is none. */
  async whenKnown(id: string): Promise<Review | undefined> {
    const until = Date.now() + PATIENCE_MS;
    while (!this.#complete && !this.#reviews.has(id) && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return this.#reviews.get(id);
  }

  show(shown: ReviewShow): void {
    const review = this.#reviews.get(shown.review);
    if (review === undefined) {
      const kept = this.memory.get<Kept>(KEPT + shown.review);
      const { closed, marks, comments } = kept?.path === shown.path ? kept : { closed: false, marks: [], comments: [] };
      const added = new Review(shown, closed, new Map(marks), comments);
      this.#reviews.set(shown.review, added);
      this.#update("added", added);
      return;
    }
    if (shown.revision < review.shown.revision) {
      return;
    }
    const text = uniform(shown.proposed);
    const own = text === uniform(review.shown.proposed) || text === review.sent;
    const same = own && shown.base === review.shown.base;
    // What she typed keeps the line endings of her document.
    const proposed = own && review.sent === undefined ? review.shown.proposed : shown.proposed;
    review.shown = { ...shown, proposed };
    if (!same) {
      review.generation += 1;
      review.moved();
    }
    this.#update(same ? "state" : "texts", review);
  }

  /** The hub has her text. */
  edited(review: Review, proposed: string, revision: number, hunks: ReviewHunk[]): void {
    review.shown = { ...review.shown, proposed, revision, hunks, conflicts: [] };
    this.#update("state", review);
  }

  mark(review: Review, hunk: string, mark: Mark | undefined): void {
    if (mark === undefined) {
      review.marks.delete(hunk);
    } else {
      review.marks.set(hunk, mark);
    }
    this.#update("state", review);
  }

  /** Something that she did to it is to be kept. */
  touched(review: Review): void {
    this.#update("state", review);
  }

  remove(review: Review): void {
    if (this.#reviews.delete(review.id)) {
      this.#update("removed", review);
    }
  }

  /** The hub says that these are all. */
  reconcile(ids: ReadonlySet<string>): void {
    this.#complete = true;
    for (const review of this.pending) {
      if (!ids.has(review.id) && !review.deciding) {
        this.remove(review);
      }
    }
    for (const key of this.memory.keys()) {
      if (key.startsWith(KEPT) && !ids.has(key.slice(KEPT.length))) {
        this.memory.update(key, undefined).then(undefined, () => undefined);
      }
    }
  }

  #update(kind: Change["kind"], review: Review): void {
    const hunks = new Set(review.shown.hunks.map((hunk) => hunk.id));
    for (const id of review.marks.keys()) {
      if (!hunks.has(id)) {
        review.marks.delete(id);
      }
    }
    const { closed, comments } = review;
    const kept: Kept = { path: review.shown.path, closed, marks: [...review.marks], comments };
    const worth = kind !== "removed" && (closed || comments.length > 0 || review.marks.size > 0);
    // What VS Code cannot keep is lost at the next reload, and nothing else is.
    this.memory.update(KEPT + review.id, worth ? kept : undefined).then(undefined, () => undefined);
    this.#changed.fire({ kind, review });
  }
}

/** A text without its line endings' differences, as two documents are compared. */
export function uniform(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

export function linesOf(hunk: ReviewHunk, side: Side): { start: number; count: number } {
  return side === "base"
    ? { start: hunk.beforeStart, count: hunk.beforeCount }
    : { start: hunk.afterStart, count: hunk.afterCount };
}

export function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}

/** A name from outside, for a message: in those, `[…](…)` would be a link. */
export function plain(name: string): string {
  return name.replace(/\p{Cc}/gu, "�").replaceAll("](", "] (");
}
