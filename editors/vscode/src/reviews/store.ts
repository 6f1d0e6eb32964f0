// The reviews of this window, in the order they came: what the hub shows, what she marked and said, and what of it
// survives a reload. Knows no tabs and no documents.

import * as vscode from "vscode";
import type { ReviewComment, ReviewHunk, ReviewShow } from "../../../protocol";
import { pause } from "../background";
import { plain } from "../wording";

export type Mark = "accepted" | "rejected";
export type Side = "base" | "proposed";

/** `proposed`, `base`: that text changed, and not by her. `state`: anything else about it. */
export interface Change {
  kind: "added" | Side | "state" | "removed";
  review: Review;
}

/** What a reload must not lose. */
interface Kept {
  path: string;
  closed: boolean;
  marks: [string, Mark][];
  comments: ReviewComment[];
  basis?: number | undefined;
}

const KEPT = "linkspan.reviews";
/** After a reload tabs come back before the hub does. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 100;
/** So soon after a change she may have meant what was there before. */
const UNSEEN_MS = 400;

export class Review {
  /** The revision that last changed the proposed side under her. */
  generation: number;
  /** The revision that her unsaved edits are made on. */
  basis: number | undefined;
  deciding = false;
  /** Her unsaved text, which she rejects with the rest. */
  discarded: string | undefined;
  /** Why it was not taken, as she was told. */
  told: string | undefined;
  movedAt = 0;
  closed: boolean;
  comments: ReviewComment[];
  readonly marks: Map<string, Mark>;
  /** It was there before a reload. */
  readonly isRestored: boolean;
  #agreeing: { shown: ReviewShow; agree: boolean } | undefined;

  constructor(public shown: ReviewShow, kept: Kept | undefined) {
    this.isRestored = kept !== undefined;
    this.generation = shown.revision;
    this.basis = kept?.basis;
    this.closed = kept?.closed ?? false;
    this.comments = kept?.comments ?? [];
    this.marks = new Map(kept?.marks);
  }

  get id(): string {
    return this.shown.review;
  }

  get name(): string {
    return plain(this.shown.path.replace(/^.*[\\/]/, ""));
  }

  get agent(): string {
    return plain(this.shown.agent);
  }

  get isUnseen(): boolean {
    return Date.now() - this.movedAt < UNSEEN_MS;
  }

  /** VS Code ends a line at a lone CR, which the hub takes for a part of it: then line numbers do not agree. */
  get linesAgree(): boolean {
    const { shown } = this;
    if (this.#agreeing?.shown !== shown) {
      this.#agreeing = { shown, agree: ![shown.base, shown.proposed].some((text) => /\r(?!\n)/.test(text)) };
    }
    return this.#agreeing.agree;
  }
}

export class Store {
  readonly #reviews = new Map<string, Review>();
  readonly #changed = new vscode.EventEmitter<Change>();
  readonly onChange = this.#changed.event;
  readonly #kept: Map<string, Kept>;
  /** The hub has told all there is. */
  #isComplete = false;

  constructor(
    private readonly memory: vscode.Memento,
    /** The hub is on its way. */
    private readonly isComing: () => boolean,
  ) {
    this.#kept = new Map(memory.get<[string, Kept][]>(KEPT, []));
  }

  get pending(): Review[] {
    return [...this.#reviews.values()];
  }

  get(id: string | undefined): Review | undefined {
    return this.#reviews.get(id ?? "");
  }

  /** The review, once the hub has shown it, or said that there is none. */
  async whenKnown(id: string): Promise<Review | undefined> {
    let until = Date.now() + PATIENCE_MS;
    while (!this.#isComplete && !this.#reviews.has(id) && Date.now() < until) {
      await pause(LOOK_MS);
      until = this.isComing() ? Date.now() + PATIENCE_MS : until;
    }
    return this.#reviews.get(id);
  }

  show(shown: ReviewShow): void {
    const review = this.#reviews.get(shown.review);
    if (review === undefined) {
      const kept = this.#kept.get(shown.review);
      const added = new Review(shown, kept?.path === shown.path ? kept : undefined);
      this.#reviews.set(shown.review, added);
      this.touched(added, "added");
    } else if (shown.revision >= review.shown.revision) {
      const before = review.shown;
      const isHers = uniform(shown.proposed) === uniform(before.proposed);
      const kind = !isHers ? "proposed" : shown.base === before.base ? "state" : "base";
      review.shown = shown;
      review.generation = isHers ? review.generation : shown.revision;
      review.movedAt = kind === "state" ? review.movedAt : Date.now();
      this.touched(review, kind);
    }
  }

  /** Its agent waits for the answer, or does not. */
  waiting(id: string, ownerGone: boolean): void {
    const review = this.#reviews.get(id);
    if (review !== undefined && review.shown.ownerGone !== ownerGone) {
      review.shown = { ...review.shown, ownerGone };
      this.touched(review);
    }
  }

  remove(review: Review): void {
    if (this.#reviews.delete(review.id)) {
      this.touched(review, "removed");
    }
  }

  /** The hub says that these are all. */
  reconcile(ids: ReadonlySet<string>): void {
    this.#isComplete = true;
    for (const id of this.#kept.keys()) {
      if (!ids.has(id)) {
        this.#kept.delete(id);
      }
    }
    this.pending.filter(({ id, deciding }) => !ids.has(id) && !deciding).forEach((review) => this.remove(review));
  }

  /** Keeps and tells what became of a review. */
  touched(review: Review, kind: Change["kind"] = "state"): void {
    const { id, closed, comments, marks, basis } = review;
    const hunks = new Set(review.shown.hunks.map((hunk) => hunk.id));
    [...marks.keys()].filter((hunk) => !hunks.has(hunk)).forEach((hunk) => marks.delete(hunk));
    this.#kept.set(id, { path: review.shown.path, closed, comments, marks: [...marks], basis });
    if (kind === "removed") {
      this.#kept.delete(id);
    }
    // What VS Code cannot keep is lost with the next reload, and nothing else is.
    this.memory.update(KEPT, [...this.#kept]).then(undefined, () => undefined);
    this.#changed.fire({ kind, review });
  }
}

/** A text as VS Code compares it: line endings aside. */
export function uniform(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** The first line of a hunk, and how many it has. */
export function linesOf(hunk: ReviewHunk, side: Side): [number, number] {
  return side === "base" ? [hunk.beforeStart, hunk.beforeCount] : [hunk.afterStart, hunk.afterCount];
}
