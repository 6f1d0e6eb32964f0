// Decisions: the commands behind keys, buttons and menus, the requests to the hub, and the messages when the hub does
// not take a decision.

import * as vscode from "vscode";
import type { Verdict } from "../../../protocol";
import { failureOf } from "../failure";
import { inBackground } from "../promises";
import type { Hub } from "../hub";
import { uriOf } from "../uris";
import { count } from "../plain_text";
import { acceptAll } from "./accept_all";
import { type Drafts, whyAway } from "./drafts";
import { documentOf, reviewAt } from "./files";
import { askReason } from "./reason";
import { type Refusal, refusalOf, undecided } from "./refusals";
import { linesOf, type Mark, type Review, type Store } from "./store";
import type { Tabs } from "./tabs";

/** What a command applies to. The list and the code lenses pass this, a button in a tab's title bar passes a URI. */
export interface CommandTarget {
  readonly reviews: readonly string[];
  readonly hunk?: string;
}

type Choice = { kind: "accept" } | { kind: "reject"; reason?: string };

/** The revision that the user saw when deciding; undefined if it had only just appeared. */
export type SeenRevisions = ReadonlyMap<Review, number | undefined>;

/** How long a message in the status bar stays. */
export const SHORT_MS = 6_000;
const ACCEPT: Choice = { kind: "accept" };
const REJECT: Choice = { kind: "reject" };
/** Makes the hub write the file instead of its agent. */
const WRITE_HERE = "Write it here";
const KEEP_PENDING = "Keep it pending";

export class Decisions {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
    private readonly tabs: Tabs,
    private readonly drafts: Drafts,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const commands: Record<string, (arg: unknown) => Promise<unknown>> = {
      accept: async (arg) => this.#decide(this.#targets(arg), ACCEPT),
      reject: async (arg) => this.#decide(this.#targets(arg), REJECT),
      rejectWithReason: async (arg) => {
        const reviews = this.#targets(arg);
        const seen = seenOf(reviews);
        const reason = await askReason(reviews);
        if (reason !== undefined) {
          await this.#decide(reviews, reason === "" ? REJECT : { kind: "reject", reason }, seen);
        }
      },
      acceptAll: () => acceptAll(store, hub, (all, seen) => this.#decide(all, ACCEPT, seen)),
      rejectAll: async () => this.#decide(store.pending, REJECT),
      nextReview: (arg) => tabs.openNext(typeof arg === "object" && arg !== null && "stay" in arg),
      openChanges: (arg) => this.#openChanges(arg),
      acceptHunk: (arg) => this.#mark(arg, "accepted"),
      rejectHunk: (arg) => this.#mark(arg, "rejected"),
      unmarkHunk: (arg) => this.#mark(arg, undefined),
      next: () => tabs.step(1),
      previous: () => tabs.step(-1),
      openReview: (arg) => this.#open(arg),
      openDiff: async (arg) => {
        await Promise.all(this.#targets(arg).map((review) => tabs.show(review, {}, false)));
      },
      openFile: (arg) => this.#openFile(arg),
    };
    const register = vscode.commands.registerCommand;
    context.subscriptions.push(...Object.entries(commands).map(([name, run]) => register(`linkspan.${name}`, run)));
  }

  /** The reviews that a command applies to. If there is none, shows what to do instead. */
  #targets(arg: unknown): Review[] {
    const { pending } = this.store;
    const onlyChoice = this.tabs.active ?? (pending.length === 1 ? pending[0] : undefined);
    const ids = this.#parse(arg)?.reviews ?? (onlyChoice ? [onlyChoice.id] : []);
    const reviews = ids.flatMap((id) => this.store.get(id) ?? []);
    if (reviews.length === 0) {
      const none = ids.length > 0 ? "That change is no longer pending." : "No changes to review.";
      const message = ids.length > 0 || pending.length === 0 ? none : "Open a change from the Reviews view first.";
      inBackground(this.log, vscode.window.showInformationMessage(message));
    }
    return reviews;
  }

  async #decide(
    reviews: readonly Review[],
    choice: Choice,
    seen = seenOf(reviews),
    writeHere = false,
  ): Promise<Review[]> {
    const away = whyAway(this.hub);
    if (away !== undefined && reviews.length > 0) {
      await vscode.window.showWarningMessage(`Not submitted. ${away}`);
      return [];
    }
    const done: Review[] = [];
    const unheard = choice.kind === "accept" ? reviews.filter(({ shown }) => shown.ownerGone && !shown.agentWrites) : [];
    const refusals: Refusal[] = [];
    const writable: Review[] = [];
    for (const review of reviews) {
      const refused: Refusal[] = review.deciding
        ? [{ message: `${review.name}: your decision is already being sent.` }]
        : await this.#decideOne(review, choice, seen, writeHere);
      refusals.push(...refused);
      done.push(...(refused.length === 0 ? [review] : []));
      writable.push(...refused.flatMap(({ canWriteHere }) => (canWriteHere ? [review] : [])));
    }
    const taken = count(reviews.length - refusals.length, "change");
    const lead = reviews.length > 1 ? [`${choice.kind === "accept" ? "Accepted" : "Rejected"} ${taken}.`] : [];
    const gone = unheard.filter((review) => done.includes(review));
    const notes = gone.map(({ name, agent }) => `${name} is written; ${agent} is gone and learns of it when it is back.`);
    const message = [...lead, ...refusals.map((refusal) => refusal.message), ...notes].join(" ");
    if (writable.length > 0) {
      const button = writable.length === 1 ? WRITE_HERE : `Write ${count(writable.length, "file")} here`;
      if ((await vscode.window.showWarningMessage(message, button, KEEP_PENDING)) === button) {
        done.push(
          ...(await this.#decide(writable.filter((review) => this.store.get(review.id) === review), choice, seen, true)),
        );
      }
    } else if (refusals.some(({ isLoud }) => isLoud) || gone.length > 0) {
      await vscode.window.showWarningMessage(message);
    } else if (message !== "") {
      vscode.window.setStatusBarMessage(message, SHORT_MS);
    }
    return done;
  }

  async #openChanges(arg: unknown): Promise<void> {
    const wanted = this.#parse(arg)?.reviews;
    const reviews = this.store.pending.filter(({ id, shown }) => !shown.omitted && (wanted?.includes(id) ?? true));
    await this.tabs.showAll(count(reviews.length, "Pending Change"), reviews);
  }

  async #decideOne(review: Review, choice: Choice, seen: SeenRevisions, writeHere: boolean): Promise<Refusal[]> {
    review.deciding = true;
    try {
      const refusal = await this.#submit(review, choice, seen.get(review), writeHere);
      if (refusal === undefined || refusal.isOver === true) {
        await (seen.size === 1 && this.#advance(review));
        this.store.remove(review);
      }
      return refusal === undefined ? [] : [refusal];
    } catch (error) {
      return [{ message: `Not submitted: ${review.name}. ${failureOf(error)}.`, isLoud: true }];
    } finally {
      review.deciding = false;
      review.discarded = undefined;
    }
  }

  async #submit(
    review: Review,
    choice: Choice,
    seen: number | undefined,
    writeHere: boolean,
  ): Promise<Refusal | undefined> {
    const { name } = review;
    if (seen === undefined) {
      return { message: changedJustNow(review) };
    }
    if (seen !== review.shown.revision) {
      return { message: `${name} changed while you were deciding. Review it again.`, isLoud: true };
    }
    const why = choice.kind === "accept" ? (await this.drafts.flush(review)) ?? undecided(review) : undefined;
    const verdict = verdictOf(review, choice);
    if (why !== undefined || verdict === undefined) {
      const marked = `every hunk of ${name} is marked rejected. Reject the change, or undo a mark.`;
      return { message: `Not submitted: ${why ?? marked}`, isLoud: true };
    }
    review.discarded = choice.kind === "reject" ? documentOf(review)?.getText() : undefined;
    const { id, comments, shown: { revision, digest } } = review;
    const asked = { review: id, revision, digest, decision: { verdict, comments, ...(writeHere && { writeHere }) } };
    const result = await this.hub.request("review/decided", asked);
    review.shownRefusal = result.kind === "refused" ? result.message : undefined;
    return refusalOf(name, result);
  }

  /** Opens the next review, unless the user has moved elsewhere. */
  async #advance(review: Review): Promise<void> {
    const all = this.store.pending.filter((other) => other === review || !other.shown.omitted);
    const next = all[all.indexOf(review) + 1] ?? all[0];
    const isWanted = vscode.workspace.getConfiguration("linkspan").get<boolean>("review.advance") === true;
    if (this.tabs.active === review && isWanted && next !== undefined && next !== review) {
      await this.tabs.open(next);
      // A second click or key press was most likely meant for the previous review.
      next.movedAt = Date.now();
    }
  }

  /** When every hunk is marked, the change is decided. */
  async #mark(arg: unknown, mark: Mark | undefined): Promise<void> {
    const [review] = this.#targets(arg);
    if (review === undefined) {
      return;
    }
    const { isUnseen } = review;
    const why = isUnseen ? undefined : await this.drafts.flush(review);
    const id = this.#parse(arg)?.hunk ?? this.#hunkAtCursor(review);
    if (why !== undefined || id === undefined) {
      const message = why ?? "Place the cursor in a hunk first, or choose one in the Reviews view.";
      await vscode.window.showWarningMessage(message);
      return;
    }
    if (isUnseen || !review.shown.hunks.some((hunk) => hunk.id === id)) {
      vscode.window.setStatusBarMessage(changedJustNow(review), SHORT_MS);
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
    } else if (mark !== undefined) {
      this.tabs.toUndecided(review);
    }
  }

  /** A hunk that only removes lines is found at the line where they were. */
  #hunkAtCursor(review: Review): string | undefined {
    const cursor = this.tabs.cursor(review);
    const isHere = ([start, length]: [number, number], line: number): boolean =>
      line >= start && line < start + Math.max(length, 1);
    return cursor && review.shown.hunks.find((hunk) => isHere(linesOf(hunk, cursor.side), cursor.line))?.id;
  }

  async #open(arg: unknown): Promise<void> {
    const [review] = this.#targets(arg);
    if (review?.shown.omitted === true) {
      const [terminal, accept, reject] = ["Open in Terminal", "Accept", "Reject"];
      const message = `The change by ${review.agent} to ${review.name} is too large to show here.`;
      const choice = await vscode.window.showInformationMessage(message, terminal, accept, reject);
      if (choice === terminal) {
        const shell = vscode.window.createTerminal("Linkspan");
        shell.show();
        shell.sendText(`${this.#program} review ${review.id}`);
      } else if (choice !== undefined) {
        await this.#decide([review], choice === accept ? ACCEPT : REJECT);
      }
    } else if (review !== undefined) {
      const { hunk } = this.#parse(arg) ?? {};
      await this.tabs.open(review, review.shown.hunks.find(({ id }) => id === hunk));
    }
  }

  #parse(arg: unknown): CommandTarget | undefined {
    if (arg instanceof vscode.Uri) {
      const shown = reviewAt(this.store, arg);
      return shown && { reviews: [shown.review.id] };
    }
    if (typeof arg !== "object" || arg === null || !("reviews" in arg) || !Array.isArray(arg.reviews)) {
      return undefined;
    }
    const reviews = arg.reviews.filter((id) => typeof id === "string");
    return "hunk" in arg && typeof arg.hunk === "string" ? { reviews, hunk: arg.hunk } : { reviews };
  }

  /** The path of the program, quoted for the shell. */
  get #program(): string {
    const own = vscode.workspace.getConfiguration("linkspan").get("binary", "").trim();
    const path = own || this.context.asAbsolutePath("bin/linkspan");
    return process.platform === "win32" ? `& "${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
  }

  async #openFile(arg: unknown): Promise<void> {
    const [review] = this.#targets(arg);
    if (review?.shown.newFile === true) {
      await vscode.window.showInformationMessage(`${review.name} does not exist yet: it is created when you accept the change.`);
    } else if (review !== undefined) {
      await vscode.commands.executeCommand("vscode.open", uriOf(review.shown.path));
    }
  }
}

export function seenOf(reviews: readonly Review[]): SeenRevisions {
  return new Map(reviews.map((review) => [review, review.isUnseen ? undefined : review.shown.revision]));
}

function changedJustNow({ name }: Review): string {
  return `${name} appeared or changed a moment ago. Review it again.`;
}

/** Hunks marked as rejected are left out. Undefined if none remains. */
function verdictOf(review: Review, choice: Choice): Verdict | undefined {
  const all = review.shown.hunks.map((hunk) => hunk.id);
  const hunks = all.filter((id) => review.marks.get(id) !== "rejected");
  if (choice.kind === "reject" || hunks.length === all.length) {
    return choice;
  }
  return hunks.length === 0 ? undefined : { kind: "acceptHunks", hunks };
}
