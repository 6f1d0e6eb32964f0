// The pending reviews of this window, oldest first, with the user's marks and comments, and what is saved for a reload.
// Does not depend on tabs or documents.

import * as vscode from "vscode";
import type { ReceivesNotes, ReviewComment, ReviewHunk, ReviewShow } from "../../../protocol";
import { pause } from "../promises";
import { plain } from "../plain_text";

export type Mark = "accepted" | "rejected";
export type Side = "base" | "proposed";

/** `proposed`, `base`: that text changed, but not by the user. `state`: anything else changed. */
export interface Change {
  kind: "added" | Side | "state" | "removed";
  review: Review;
}

/** Restored after a reload. */
interface SavedReview {
  path: string;
  uri: string;
  closed: boolean;
  marks: [string, Mark][];
  comments: ReviewComment[];
  basis?: number | undefined;
}

const STORAGE_KEY = "linkspan.reviews";
/** After a reload, tabs are restored before the hub is connected. */
const RESTORE_MS = 10_000;
const POLL_MS = 100;
/** A decision this soon after a change was probably meant for what was there before. */
const MISCLICK_MS = 400;
const NEW_MS = 1_000;

export class Review {
  /** The last revision of the proposed side that was not the user's own edit. */
  generation: number;
  /** The revision that the user's unsaved edits are based on. */
  basis: number | undefined;
  deciding = false;
  /** Unsaved text that the user rejects together with the change. */
  discarded: string | undefined;
  /** The message of the last refused decision, which the user has seen. */
  shownRefusal: string | undefined;
  movedAt = 0;
  /** The user has had it on the screen. */
  isOpened = false;
  closed: boolean;
  comments: ReviewComment[];
  readonly marks: Map<string, Mark>;
  /** It was shown before a reload. */
  readonly isRestored: boolean;
  readonly #addedAt = Date.now();
  #lineCheck: { shown: ReviewShow; agree: boolean } | undefined;

  constructor(
    public shown: ReviewShow,
    /** The document of the proposed side. */
    readonly uri: vscode.Uri,
    saved: SavedReview | undefined,
  ) {
    this.isRestored = saved !== undefined;
    this.generation = shown.revision;
    this.basis = saved?.basis;
    this.closed = saved?.closed ?? false;
    this.comments = saved?.comments ?? [];
    this.marks = new Map(saved?.marks);
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

  /** What its agent will not receive, where the user types or chooses; undefined if there is nothing to say. */
  note(about: keyof ReceivesNotes): string | undefined {
    const note = this.shown.receivesNotes?.[about];
    return note && plain(note);
  }

  /** The hub has read its file a moment ago. */
  get isNew(): boolean {
    return !this.isRestored && Date.now() - this.#addedAt < NEW_MS;
  }

  get isUnseen(): boolean {
    return Date.now() - this.movedAt < MISCLICK_MS;
  }

  /** VS Code ends a line at a lone CR, the hub does not: then their line numbers differ. */
  get linesAgree(): boolean {
    const { shown } = this;
    if (this.#lineCheck?.shown !== shown) {
      this.#lineCheck = { shown, agree: ![shown.base, shown.proposed].some((text) => /\r(?!\n)/.test(text)) };
    }
    return this.#lineCheck.agree;
  }
}

export class Store {
  readonly #reviews = new Map<string, Review>();
  readonly #changed = new vscode.EventEmitter<Change>();
  readonly onChange = this.#changed.event;
  readonly #saved: Map<string, SavedReview>;
  /** What is pending in the hub and was not shown yet, once it is attached. */
  #expected: Set<string> | undefined;
  readonly #completed = new vscode.EventEmitter<void>();
  /** The hub has shown all that is pending. */
  readonly onComplete = this.#completed.event;

  constructor(
    private readonly memory: vscode.Memento,
    /** The connection to the hub is being made. */
    private readonly isConnecting: () => boolean,
    /** Chooses the document of a new review. */
    private readonly uriFor: (shown: ReviewShow) => vscode.Uri,
  ) {
    this.#saved = new Map(memory.get<[string, SavedReview][]>(STORAGE_KEY, []));
  }

  get pending(): Review[] {
    return [...this.#reviews.values()];
  }

  get(id: string | undefined): Review | undefined {
    return this.#reviews.get(id ?? "");
  }

  /** What `find` finds, as soon as the hub has sent it; undefined if there is none. */
  async whenKnown<T>(find: () => T | undefined): Promise<T | undefined> {
    let until = Date.now() + RESTORE_MS;
    while (this.#expected?.size !== 0 && find() === undefined && Date.now() < until) {
      await pause(POLL_MS);
      until = this.isConnecting() ? Date.now() + RESTORE_MS : until;
    }
    return find();
  }

  show(shown: ReviewShow): void {
    const review = this.#reviews.get(shown.review);
    if (review === undefined) {
      const known = this.#saved.get(shown.review);
      const saved = known?.path === shown.path ? known : undefined;
      const uri = saved === undefined ? this.uriFor(shown) : vscode.Uri.parse(saved.uri);
      const added = new Review(shown, uri, saved);
      this.#reviews.set(shown.review, added);
      this.touched(added, "added");
    } else if (shown.revision >= review.shown.revision) {
      const before = review.shown;
      const isUsersText = withLf(shown.proposed) === withLf(before.proposed);
      const kind = !isUsersText ? "proposed" : shown.base === before.base ? "state" : "base";
      review.shown = shown;
      review.generation = isUsersText ? review.generation : shown.revision;
      review.movedAt = kind === "state" ? review.movedAt : Date.now();
      this.touched(review, kind);
    }
  }

  /** Records whether the agent is still connected. */
  setOwnerGone(id: string, ownerGone: boolean): void {
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

  /** Removes every review that was closed while this window was not connected. */
  attached(pending: readonly string[]): void {
    const ids = new Set(pending);
    [...this.#saved.keys()].filter((id) => !ids.has(id)).forEach((id) => this.#saved.delete(id));
    this.pending.filter(({ id, deciding }) => !ids.has(id) && !deciding).forEach((review) => this.remove(review));
    this.#expected = new Set(ids);
    this.arrived();
  }

  /** A pending review was shown, or is over. */
  arrived(id = ""): void {
    if (this.#expected !== undefined && (this.#expected.delete(id) || id === "") && this.#expected.size === 0) {
      this.#completed.fire();
    }
  }

  /** Saves a review and notifies the listeners. */
  touched(review: Review, kind: Change["kind"] = "state"): void {
    const { id, closed, comments, marks, basis } = review;
    const hunks = new Set(review.shown.hunks.map((hunk) => hunk.id));
    [...marks.keys()].filter((hunk) => !hunks.has(hunk)).forEach((hunk) => marks.delete(hunk));
    const [path, uri] = [review.shown.path, review.uri.toString()];
    this.#saved.set(id, { path, uri, closed, comments, marks: [...marks], basis });
    if (kind === "removed") {
      this.#saved.delete(id);
    }
    // If VS Code cannot save it, only the next reload loses it.
    this.memory.update(STORAGE_KEY, [...this.#saved]).then(undefined, () => undefined);
    this.#changed.fire({ kind, review });
  }
}

/** A text with LF line endings, for comparison. */
export function withLf(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** The first line of a hunk and its number of lines. */
export function linesOf(hunk: ReviewHunk, side: Side): [number, number] {
  return side === "base" ? [hunk.beforeStart, hunk.beforeCount] : [hunk.afterStart, hunk.afterCount];
}
