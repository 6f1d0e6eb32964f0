// Deciding: what her keys, clicks and menus mean, told to the hub, and what she hears when it was not taken.

import * as vscode from "vscode";
import type { Verdict } from "../../../protocol";
import { inBackground, messageOf } from "../background";
import type { Hub } from "../hub";
import { uriOf } from "../places";
import { count, plain } from "../wording";
import { type Drafts, whyAway } from "./drafts";
import { documentOf, placeOf } from "./files";
import { type Refusal, refusalOf } from "./refusals";
import { linesOf, type Mark, type Review, type Store } from "./store";
import type { Tabs } from "./tabs";

/** What a command is about. The list and lenses give this, a button in a title gives a URI. */
export interface Aim {
  readonly reviews: readonly string[];
  readonly hunk?: string;
}

type Choice = { kind: "accept" } | { kind: "reject"; reason?: string };

/** What she saw when she decided: the revision, unless it had only just come. */
type Seen = ReadonlyMap<Review, number | undefined>;

/** How long a word in the status bar stays. */
export const SHORT_MS = 6_000;
const ACCEPT: Choice = { kind: "accept" };
const REJECT: Choice = { kind: "reject" };
/** Lets the hub write what its agent would not. */
const WRITE_HERE = "Write it here";

export class Deciding {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
    private readonly tabs: Tabs,
    private readonly drafts: Drafts,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const commands: Record<string, (arg: unknown) => Promise<void>> = {
      accept: (arg) => this.#decide(this.#aim(arg), ACCEPT),
      reject: (arg) => this.#decide(this.#aim(arg), REJECT),
      rejectWithReason: (arg) => this.#rejectWithReason(this.#aim(arg)),
      acceptAll: () => this.#decide(store.pending, ACCEPT),
      rejectAll: () => this.#decide(store.pending, REJECT),
      acceptHunk: (arg) => this.#mark(arg, "accepted"),
      rejectHunk: (arg) => this.#mark(arg, "rejected"),
      unmarkHunk: (arg) => this.#mark(arg, undefined),
      next: () => tabs.step(1),
      previous: () => tabs.step(-1),
      openReview: (arg) => this.#open(arg),
      openDiff: async (arg) => {
        await Promise.all(this.#aim(arg).map((review) => tabs.show(review, {}, false)));
      },
      openFile: (arg) => this.#openFile(arg),
    };
    const register = vscode.commands.registerCommand;
    context.subscriptions.push(...Object.entries(commands).map(([name, run]) => register(`linkspan.${name}`, run)));
  }

  /** The reviews that a command is about; none, after saying what to do. */
  #aim(arg: unknown): Review[] {
    const { pending } = this.store;
    const obvious = this.tabs.front ?? (pending.length === 1 ? pending[0] : undefined);
    const ids = aimIn(arg)?.reviews ?? (obvious ? [obvious.id] : []);
    const reviews = ids.flatMap((id) => this.store.get(id) ?? []);
    if (reviews.length === 0) {
      const none = ids.length > 0 ? "That change does not wait any more." : "No change waits for you.";
      const says = ids.length > 0 || pending.length === 0 ? none : "Open a change from the Reviews view first.";
      inBackground(this.log, vscode.window.showInformationMessage(says));
    }
    return reviews;
  }

  async #decide(
    reviews: readonly Review[],
    choice: Choice,
    seen = seenOf(reviews),
    writeHere = false,
  ): Promise<void> {
    const away = whyAway(this.hub);
    if (away !== undefined && reviews.length > 0) {
      await vscode.window.showWarningMessage(`Nothing is decided. ${away}`);
      return;
    }
    const refusals: Refusal[] = [];
    const writable: Review[] = [];
    for (const review of reviews) {
      const refused: Refusal[] = review.deciding
        ? [{ says: `${review.name}: your decision is on its way.` }]
        : await this.#decideOne(review, choice, seen, writeHere);
      refusals.push(...refused);
      writable.push(...refused.flatMap(({ canWriteHere }) => (canWriteHere ? [review] : [])));
    }
    const taken = count(reviews.length - refusals.length, "change");
    const lead = reviews.length > 1 ? [`${choice.kind === "accept" ? "Accepted" : "Rejected"} ${taken}.`] : [];
    const says = [...lead, ...refusals.map((refusal) => refusal.says)].join(" ");
    if (writable.length > 0) {
      const button = writable.length === 1 ? WRITE_HERE : `Write ${count(writable.length, "file")} here`;
      if ((await vscode.window.showWarningMessage(says, button)) === button) {
        await this.#decide(writable.filter((review) => this.store.get(review.id) === review), choice, seen, true);
      }
    } else if (refusals.some(({ isLoud }) => isLoud)) {
      await vscode.window.showWarningMessage(says);
    } else if (says !== "") {
      vscode.window.setStatusBarMessage(says, SHORT_MS);
    }
  }

  async #decideOne(review: Review, choice: Choice, seen: Seen, writeHere: boolean): Promise<Refusal[]> {
    review.deciding = true;
    try {
      const refusal = await this.#ask(review, choice, seen.get(review), writeHere);
      if (refusal === undefined || refusal.isOver === true) {
        await (seen.size === 1 && this.#advance(review));
        this.store.remove(review);
      }
      return refusal === undefined ? [] : [refusal];
    } catch (error) {
      return [{ says: `Nothing is decided about ${review.name}: ${plain(messageOf(error))}.`, isLoud: true }];
    } finally {
      review.deciding = false;
      review.discarded = undefined;
    }
  }

  async #ask(
    review: Review,
    choice: Choice,
    seen: number | undefined,
    writeHere: boolean,
  ): Promise<Refusal | undefined> {
    const { name } = review;
    if (seen === undefined) {
      return { says: unseen(review) };
    }
    if (seen !== review.shown.revision) {
      return { says: `${name} changed while you decided: look again.`, isLoud: true };
    }
    const why = choice.kind === "accept" ? await this.drafts.flush(review) : undefined;
    const verdict = verdictOf(review, choice);
    if (why !== undefined || verdict === undefined) {
      const marked = `every hunk of ${name} is marked rejected: reject the change, or undo a mark.`;
      return { says: `Nothing is decided: ${why ?? marked}`, isLoud: true };
    }
    review.discarded = choice.kind === "reject" ? documentOf(review)?.getText() : undefined;
    const { id, comments, shown: { revision, digest } } = review;
    const asked = { review: id, revision, digest, decision: { verdict, comments, ...(writeHere && { writeHere }) } };
    const result = await this.hub.ask("review/decided", asked);
    review.told = result.kind === "refused" ? result.message : undefined;
    return refusalOf(name, result);
  }

  /** Unless she is somewhere else by now. */
  async #advance(review: Review): Promise<void> {
    const all = this.store.pending.filter((other) => other === review || !other.shown.omitted);
    const next = all[all.indexOf(review) + 1] ?? all[0];
    const isWanted = vscode.workspace.getConfiguration("linkspan").get<boolean>("review.advance") === true;
    if (this.tabs.front === review && isWanted && next !== undefined && next !== review) {
      await this.tabs.open(next);
      // The same click or key once more would be meant for the one before.
      next.movedAt = Date.now();
    }
  }

  async #rejectWithReason(reviews: Review[]): Promise<void> {
    const [first] = reviews;
    const seen = seenOf(reviews);
    const title = `Reject ${reviews.length === 1 ? first?.name : count(reviews.length, "change")}`;
    const prompt = `What ${first?.agent} is told: why, or what it should do instead`;
    const reason = first && (await vscode.window.showInputBox({ title, prompt }))?.trim();
    if (reason !== undefined) {
      await this.#decide(reviews, reason === "" ? REJECT : { kind: "reject", reason }, seen);
    }
  }

  /** When each hunk has a mark, the review is decided. */
  async #mark(arg: unknown, mark: Mark | undefined): Promise<void> {
    const [review] = this.#aim(arg);
    if (review === undefined) {
      return;
    }
    const { isUnseen } = review;
    const why = isUnseen ? undefined : await this.drafts.flush(review);
    const id = aimIn(arg)?.hunk ?? this.#hunkAtCursor(review);
    if (why !== undefined || id === undefined) {
      const says = why ?? "Put the cursor into a hunk first, or choose one in the Reviews view.";
      await vscode.window.showWarningMessage(says);
      return;
    }
    if (isUnseen || !review.shown.hunks.some((hunk) => hunk.id === id)) {
      vscode.window.setStatusBarMessage(unseen(review), SHORT_MS);
      return;
    }
    review.marks.delete(id);
    if (mark !== undefined) {
      review.marks.set(id, mark);
    }
    this.store.touched(review);
    const marks = new Set(review.shown.hunks.map((hunk) => review.marks.get(hunk.id)));
    if (!marks.has(undefined)) {
      await this.#decide([review], marks.has("accepted") ? ACCEPT : REJECT);
    }
  }

  /** A hunk that only removes is where the lines were. */
  #hunkAtCursor(review: Review): string | undefined {
    const cursor = this.tabs.cursor(review);
    const isHere = ([start, length]: [number, number], line: number): boolean =>
      line >= start && line < start + Math.max(length, 1);
    return cursor && review.shown.hunks.find((hunk) => isHere(linesOf(hunk, cursor.side), cursor.line))?.id;
  }

  async #open(arg: unknown): Promise<void> {
    const [review] = this.#aim(arg);
    if (review?.shown.omitted === true) {
      const [terminal, accept, reject] = ["Open in Terminal", "Accept", "Reject"];
      const says = `The change of ${review.agent} to ${review.name} is too large to be shown here.`;
      const choice = await vscode.window.showInformationMessage(says, terminal, accept, reject);
      if (choice === terminal) {
        const shell = vscode.window.createTerminal("Linkspan");
        shell.show();
        shell.sendText(`${this.#program} review ${review.id}`);
      } else if (choice !== undefined) {
        await this.#decide([review], choice === accept ? ACCEPT : REJECT);
      }
    } else if (review !== undefined) {
      const { hunk } = aimIn(arg) ?? {};
      await this.tabs.open(review, review.shown.hunks.find(({ id }) => id === hunk));
    }
  }

  /** As a shell takes it. */
  get #program(): string {
    const own = vscode.workspace.getConfiguration("linkspan").get("binary", "").trim();
    const path = own || this.context.asAbsolutePath("bin/linkspan");
    return process.platform === "win32" ? `& "${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
  }

  async #openFile(arg: unknown): Promise<void> {
    const [review] = this.#aim(arg);
    if (review?.shown.newFile === true) {
      await vscode.window.showInformationMessage(`${review.name} is only written when you accept it.`);
    } else if (review !== undefined) {
      await vscode.commands.executeCommand("vscode.open", uriOf(review.shown.path));
    }
  }
}

function aimIn(arg: unknown): Aim | undefined {
  if (arg instanceof vscode.Uri) {
    const place = placeOf(arg);
    return place && { reviews: [place.id] };
  }
  if (typeof arg !== "object" || arg === null || !("reviews" in arg) || !Array.isArray(arg.reviews)) {
    return undefined;
  }
  const reviews = arg.reviews.filter((id) => typeof id === "string");
  return "hunk" in arg && typeof arg.hunk === "string" ? { reviews, hunk: arg.hunk } : { reviews };
}

function seenOf(reviews: readonly Review[]): Seen {
  return new Map(reviews.map((review) => [review, review.isUnseen ? undefined : review.shown.revision]));
}

function unseen({ name }: Review): string {
  return `${name} changed or came up a moment ago: look again.`;
}

/** What she marked as rejected is left out; none, where that is all of it. */
function verdictOf(review: Review, choice: Choice): Verdict | undefined {
  const all = review.shown.hunks.map((hunk) => hunk.id);
  const hunks = all.filter((id) => review.marks.get(id) !== "rejected");
  if (choice.kind === "reject" || hunks.length === all.length) {
    return choice;
  }
  return hunks.length === 0 ? undefined : { kind: "acceptHunks", hunks };
}
