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
}

const KEPT = "linkspan.reviews";
/** After a reload tabs come back before the hub does. */
const PATIENCE_MS = 10_000;
/** So soon after a change she may have meant what was there before. */
const UNSEEN_MS = 400;

export class Review {
  /** Counts how often the proposed side changed under her. */
  generation = 1;
  /** Her text that is on its way to the hub. */
  sent: string | undefined;
  deciding = false;
  movedAt = 0;
  closed: boolean;
  comments: ReviewComment[];
  readonly marks: Map<string, Mark>;

  constructor(public shown: ReviewShow, kept: Kept | undefined) {
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
    return ![this.shown.base, this.shown.proposed].some((text) => /\r(?!\n)/.test(text));
  }
}

export class Store {
  readonly #reviews = new Map<string, Review>();
  readonly #changed = new vscode.EventEmitter<Change>();
  readonly onChange = this.#changed.event;
  readonly #kept: Map<string, Kept>;
  /** The hub has told all there is. */
  #isComplete = false;

  constructor(private readonly memory: vscode.Memento) {
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
    const until = Date.now() + PATIENCE_MS;
    while (!this.#isComplete && !this.#reviews.has(id) && Date.now() < until) {
      await pause(50);
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
      const [before, after] = [review.shown, uniform(shown.proposed)];
      const isHers = after === uniform(before.proposed) || after === review.sent;
      // What she typed keeps the line endings that her document has.
      review.shown = isHers ? { ...shown, proposed: before.proposed } : shown;
      const kind = !isHers ? "proposed" : shown.base === before.base ? "state" : "base";
      review.generation += isHers ? 0 : 1;
      review.movedAt = kind === "state" ? review.movedAt : Date.now();
      this.touched(review, kind);
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
    const { id, closed, comments, marks } = review;
    const hunks = new Set(review.shown.hunks.map((hunk) => hunk.id));
    [...marks.keys()].filter((hunk) => !hunks.has(hunk)).forEach((hunk) => marks.delete(hunk));
    this.#kept.set(id, { path: review.shown.path, closed, comments, marks: [...marks] });
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
