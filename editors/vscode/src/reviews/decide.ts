// Deciding: what her keys, clicks and menus mean, told to the hub, and what she hears when it was not taken.

import * as vscode from "vscode";
import type { ReviewDecidedResult, Verdict } from "../../../protocol";
import { inBackground, messageOf } from "../background";
import type { Hub } from "../hub";
import { uriOf } from "../places";
import type { Drafts } from "./drafts";
import { placeOf } from "./files";
import { count, type Mark, plain, type Review, type Store } from "./store";
import type { Tabs } from "./tabs";

/** What a command is about: a button in a title gives a URI, the list and lenses give this. */
export interface Aim {
  readonly reviews: readonly string[];
  readonly hunk?: string;
}

type Choice = { kind: "accept" } | { kind: "reject"; reason?: string };

/** Why a decision was not taken, for her. */
interface Refusal {
  says: string;
  isLoud?: boolean;
  isOver?: boolean;
}

const SHORT_MS = 6_000;

export class Deciding {
  constructor(
    private readonly hub: Hub,
    private readonly store: Store,
    private readonly tabs: Tabs,
    private readonly drafts: Drafts,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(context: vscode.ExtensionContext): void {
    const accept = (arg: unknown): Promise<void> => this.#decide(this.#aim(arg), { kind: "accept" });
    const reject = (arg: unknown): Promise<void> => this.#decide(this.#aim(arg), { kind: "reject" });
    const commands: Record<string, (arg: unknown) => Promise<unknown>> = {
      "linkspan.accept": accept,
      "linkspan.reject": reject,
      "linkspan.rejectWithReason": (arg) => this.#rejectWithReason(this.#aim(arg)),
      "linkspan.acceptAll": () => this.#decide(this.store.pending, { kind: "accept" }),
      "linkspan.rejectAll": () => this.#decide(this.store.pending, { kind: "reject" }),
      "linkspan.acceptHunk": (arg) => this.#mark(arg, "accepted"),
      "linkspan.rejectHunk": (arg) => this.#mark(arg, "rejected"),
      "linkspan.unmarkHunk": (arg) => this.#mark(arg, undefined),
      "linkspan.next": () => this.tabs.step(1),
      "linkspan.previous": () => this.tabs.step(-1),
      "linkspan.openReview": (arg) => this.#open(arg, false),
      "linkspan.openDiff": (arg) => this.#open(arg, true),
      "linkspan.openFile": (arg) => this.#openFile(arg),
    };
    for (const [name, run] of Object.entries(commands)) {
      context.subscriptions.push(vscode.commands.registerCommand(name, run));
    }
  }

  /** The reviews that a command is about; none, after saying what to do. */
  #aim(arg: unknown): Review[] {
    const ids = idsIn(arg);
    if (ids !== undefined) {
      return ids.flatMap((id) => this.store.get(id) ?? []);
    }
    const { pending } = this.store;
    const review = this.tabs.front ?? (pending.length === 1 ? pending[0] : undefined);
    if (review === undefined) {
      const says = pending.length === 0 ? "No change waits for you." : "Open the change in the Reviews view first.";
      inBackground(this.log, vscode.window.showInformationMessage(says));
      return [];
    }
    return [review];
  }

  async #decide(reviews: readonly Review[], choice: Choice): Promise<void> {
    const { front } = this.tabs;
    const refusals: Refusal[] = [];
    for (const review of reviews) {
      const refusal = await this.#decideOne(review, choice);
      if (refusal !== undefined) {
        refusals.push(refusal);
      }
      if (refusal === undefined || refusal.isOver === true) {
        await this.#over(review, review === front && reviews.length === 1);
      }
    }
    const taken = reviews.length - refusals.length;
    const lead = `${choice.kind === "accept" ? "Accepted" : "Rejected"} ${count(taken, "change")}. `;
    const says = (reviews.length > 1 ? lead : "") + refusals.map(({ says }) => says).join(" ");
    if (refusals.some(({ isLoud }) => isLoud)) {
      await vscode.window.showWarningMessage(says);
    } else if (says !== "") {
      vscode.window.setStatusBarMessage(says, SHORT_MS);
    }
  }

  async #decideOne(review: Review, choice: Choice): Promise<Refusal | undefined> {
    const { generation, name } = review;
    if (review.deciding) {
      return { says: `${name}: your decision is on its way.` };
    }
    if (review.isUnseen) {
      return { says: `${name} changed a moment ago: look again.` };
    }
    review.deciding = true;
    try {
      if (!(await this.drafts.flush(review)) && choice.kind === "accept") {
        return { says: `Nothing is decided about ${name}: choose first which text counts.`, isLoud: true };
      }
      if (review.generation !== generation) {
        return { says: `${name} changed while you decided: look again.`, isLoud: true };
      }
      if (this.hub.state.kind !== "attached") {
        vscode.window.setStatusBarMessage("The hub is away: your decision is told when it is back.", SHORT_MS);
      }
      const decision = { verdict: verdictOf(review, choice), comments: review.comments };
      const { revision } = review.shown;
      return refusalOf(name, await this.hub.ask("review/decided", { review: review.id, revision, decision }));
    } catch (error) {
      return { says: `Nothing is decided about ${name}: ${messageOf(error)}.`, isLoud: true };
    } finally {
      review.deciding = false;
    }
  }

  async #over(review: Review, isFront: boolean): Promise<void> {
    const { pending } = this.store;
    const next = pending[pending.indexOf(review) + 1] ?? pending.find((other) => other !== review);
    const advances = vscode.workspace.getConfiguration("linkspan").get<boolean>("review.advance", true);
    if (isFront && advances && next?.shown.omitted === false) {
      // The same click or key again would be meant for the one before.
      next.moved();
      await this.tabs.open(next);
    }
    this.store.remove(review);
  }

  async #rejectWithReason(reviews: Review[]): Promise<void> {
    const [first] = reviews;
    if (first === undefined) {
      return;
    }
    const what = reviews.length === 1 ? first.name : count(reviews.length, "change");
    const reason = await vscode.window.showInputBox({
      title: `Reject ${what}`,
      prompt: `What ${first.agent} is told`,
      placeHolder: "Why, or what it should do instead",
    });
    if (reason !== undefined) {
      await this.#decide(reviews, reason.trim() === "" ? { kind: "reject" } : { kind: "reject", reason: reason.trim() });
    }
  }

  /** When each hunk has a mark, the review is decided. */
  async #mark(arg: unknown, mark: Mark | undefined): Promise<void> {
    const [review] = this.#aim(arg);
    if (review === undefined) {
      return;
    }
    const cursor = review.linesAgree ? this.tabs.cursor(review) : undefined;
    const id = hunkIn(arg) ?? (cursor && review.hunkAt(cursor.side, cursor.line)?.id);
    if (id === undefined) {
      await vscode.window.showInformationMessage("Put the cursor into a hunk first, or choose one in the Reviews view.");
      return;
    }
    if (review.isUnseen || !(await this.drafts.flush(review)) || !review.shown.hunks.some((hunk) => hunk.id === id)) {
      vscode.window.setStatusBarMessage(`${review.name} changed a moment ago: look again.`, SHORT_MS);
      return;
    }
    this.store.mark(review, id, mark);
    const marks = review.shown.hunks.map((hunk) => review.marks.get(hunk.id));
    if (marks.every((each) => each === "rejected")) {
      await this.#decide([review], { kind: "reject" });
    } else if (marks.every((each) => each !== undefined)) {
      await this.#decide([review], { kind: "accept" });
    }
  }

  async #open(arg: unknown, asDiff: boolean): Promise<void> {
    const [review] = this.#aim(arg);
    const hunk = review?.shown.hunks.find((each) => each.id === hunkIn(arg));
    if (review?.shown.omitted === true) {
      await this.#omitted(review);
    } else if (review !== undefined) {
      await (asDiff ? this.tabs.diff(review) : this.tabs.open(review, hunk?.afterStart));
    }
  }

  async #omitted(review: Review): Promise<void> {
    const says = `The change of ${review.agent} to ${review.name} is too large to be shown here.`;
    const choice = await vscode.window.showInformationMessage(says, "Open in Terminal", "Accept", "Reject");
    if (choice === "Open in Terminal") {
      const terminal = vscode.window.createTerminal("Linkspan");
      terminal.show();
      terminal.sendText(`linkspan review ${review.id}`);
    } else if (choice !== undefined) {
      await this.#decide([review], { kind: choice === "Accept" ? "accept" : "reject" });
    }
  }

  async #openFile(arg: unknown): Promise<void> {
    const [review] = this.#aim(arg);
    if (review?.shown.newFile === true) {
      await vscode.window.showInformationMessage(`${review.name} is not there yet: it is written when you accept it.`);
    } else if (review !== undefined) {
      await vscode.commands.executeCommand("vscode.open", uriOf(review.shown.path));
    }
  }
}

function idsIn(arg: unknown): readonly string[] | undefined {
  if (arg instanceof vscode.Uri) {
    const id = placeOf(arg)?.id;
    return id === undefined ? undefined : [id];
  }
  if (typeof arg !== "object" || arg === null || !("reviews" in arg) || !Array.isArray(arg.reviews)) {
    return undefined;
  }
  return arg.reviews.filter((id) => typeof id === "string");
}

function hunkIn(arg: unknown): string | undefined {
  return typeof arg === "object" && arg !== null && "hunk" in arg && typeof arg.hunk === "string" ? arg.hunk : undefined;
}

/** What she marked as rejected is left out. */
function verdictOf(review: Review, choice: Choice): Verdict {
  const ids = review.shown.hunks.map((hunk) => hunk.id);
  const hunks = ids.filter((id) => review.marks.get(id) !== "rejected");
  return choice.kind === "reject" || hunks.length === ids.length || hunks.length === 0
    ? choice
    : { kind: "acceptHunks", hunks };
}

function refusalOf(name: string, result: ReviewDecidedResult): Refusal | undefined {
  const nothing = `Nothing is decided about ${name}:`;
  switch (result.kind) {
    case "taken":
      return undefined;
    case "stale":
      return { says: `${nothing} it became another change while you decided. Look again.`, isLoud: true };
    case "askAgain": {
      const { conflicts } = result;
      const what = conflicts === 0 ? "was created or removed" : `changed in ${count(conflicts, "place")} that you decide`;
      return { says: `${nothing} the file ${what} meanwhile. Look again.`, isLoud: true };
    }
    case "alreadyDecided":
      return { says: `${name} was decided already, in ${plain(result.by)}.`, isOver: true };
    case "notPending":
      return { says: `${name} does not wait any more.`, isOver: true };
    case "refused":
      return { says: `${nothing} ${plain(result.message)}`, isLoud: true };
  }
}
