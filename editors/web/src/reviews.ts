// The reviews this page knows, in the order in which they came. What the hub says changes them here; nobody else does.
// Pure: it knows neither the connection nor the screen.

import type { HistoryEntry, ReviewChange, ReviewShow, ReviewSummary, VerdictKind } from "../../protocol";
import type { Draft } from "./diff/view";
import { visible } from "./visible";
import { decided, ended } from "./wording";
import { expectedAfterAccept, type OnDisk } from "./writing";

export type State = "pending" | "settling" | "accepted" | "rejected" | "withdrawn" | "superseded" | "failed";

/** What a person did to a review, and to which state of it: in another, its lines and hunks are not the same. */
export interface Work {
  readonly draft: Draft;
  readonly on: ReviewShow;
}

export interface Entry {
  readonly id: string;
  summary: ReviewSummary;
  /** When the summary was made: its age counts from there. */
  listedAt: number;
  state: State;
  /** How it is over, in words that follow its name; empty while it waits. */
  how: string;
  /** Whether the file holds what was accepted. */
  onDisk: OnDisk;
  /** What was decided, here or elsewhere. */
  verdict: VerdictKind | undefined;
  decidedHere: boolean;
  /** Our decision is on its way. */
  sending: boolean;
  /** It has not been looked at. */
  fresh: boolean;
  /** The newest revision that is known. */
  revision: number;
  /** What the person did to it while it was open; nothing if there is nothing to lose. */
  work: Work | undefined;
  /** A text of hers that gave way to the proposal, and can be brought back. */
  readonly aside: Work[];
  /** What she began to write to the agent. */
  reason: string;
}

/** A side larger than this is not fetched: the browser could not show it in time. */
export const LARGEST_BYTES = 8 * 1024 * 1024;

export function isWaiting(entry: Entry): boolean {
  return entry.state === "pending" && !entry.sending;
}

export function isOver(entry: Entry): boolean {
  return entry.state !== "pending" && entry.state !== "settling" && !entry.sending;
}

export function isOversized(entry: Entry): boolean {
  return entry.summary.bytes > LARGEST_BYTES;
}

/** What is worth keeping of this draft. */
export function workOf(draft: Draft, on: ReviewShow): Work | undefined {
  const isEmpty = draft.left.length === 0 && draft.comments.length === 0 && draft.text === undefined;
  return isEmpty ? undefined : { draft, on };
}

/** What is left of a draft when the proposal is shown instead of her text. */
export function withoutText({ text: _, ...rest }: Draft): Draft {
  return { ...rest, left: [] };
}

/** What a decision is about. */
export interface Seen {
  readonly revision: number;
  /** Names the very bytes. Not known where only their revision was told of. */
  readonly digest?: string;
}

export function seenIn({ revision, digest }: ReviewShow): Seen {
  return { revision, digest };
}

/** What is listed, and not fetched: its digest is known if it was listed as it is now. */
export function listed({ summary, revision }: Entry): Seen {
  return summary.revision === revision ? { revision, digest: summary.digest } : { revision };
}

/** Whether two states of a review are the same to who looks at them. */
export function isSame(one: ReviewShow, other: ReviewShow): boolean {
  const isSameText = one.base === other.base && one.proposed === other.proposed;
  return one.revision === other.revision && one.digest === other.digest && isSameText;
}

/** Whether deciding it together with others would pass over what she did to it: then it is hers to finish. */
export function isHersToFinish({ work, revision }: Entry, accept: boolean): boolean {
  if (work === undefined) {
    return false;
  }
  const { draft, on } = work;
  const hasChoice = accept && (draft.left.length > 0 || draft.text !== undefined);
  // What she said counts the lines of another text.
  const isElsewhere = on.revision !== revision || draft.text !== undefined;
  return hasChoice || (draft.comments.length > 0 && isElsewhere);
}

/** Whether she would lose something if the page went away now. */
export function wouldBeLost(entry: Entry): boolean {
  return entry.sending || (isWaiting(entry) && (entry.work !== undefined || entry.aside.length > 0 || entry.reason !== ""));
}

const STATES: Readonly<Record<string, State>> = {
  pending: "pending",
  conflict: "pending",
  settling: "settling",
  accepted: "accepted",
  rejected: "rejected",
  withdrawn: "withdrawn",
  superseded: "superseded",
  failed: "failed",
};

function stateAfter(verdict: VerdictKind | undefined): State {
  return verdict === "reject" ? "rejected" : "accepted";
}

export class Reviews {
  readonly entries: Entry[] = [];
  readonly #known = new Map<string, Entry>();
  readonly #heard: Array<(entry: Entry | null) => void> = [];

  /** `null`: rows came or went. */
  onChange(heard: (entry: Entry | null) => void): void {
    this.#heard.push(heard);
  }

  get(id: string): Entry | undefined {
    return this.#known.get(id);
  }

  waiting(): Entry[] {
    return this.entries.filter(isWaiting);
  }

  /** The one that waits next, from this one on and around. */
  nextWaiting(after: string | null): Entry | undefined {
    const place = this.entries.findIndex((entry) => entry.id === after);
    const around = [...this.entries.slice(place + 1), ...this.entries.slice(0, Math.max(0, place))];
    return around.find(isWaiting);
  }

  /** Takes in what the hub lists now. Those that waited and are not in it any more have ended, somehow. */
  listed(summaries: readonly ReviewSummary[]): { arrived: Entry[]; missing: Entry[] } {
    const arrived: Entry[] = [];
    for (const summary of summaries) {
      const entry = this.get(summary.review);
      if (entry !== undefined) {
        this.#update(entry, summary);
      } else {
        arrived.push(...this.#add(summary));
      }
    }
    const there = new Set(summaries.map((summary) => summary.review));
    const missing = this.entries.filter((entry) => !isOver(entry) && !there.has(entry.id));
    this.changed(null);
    return { arrived, missing };
  }

  /** Something became of a review. Gives the entry if it is new. */
  told(id: string, change: ReviewChange, summary: ReviewSummary | undefined): Entry | undefined {
    const entry = this.get(id);
    if (entry === undefined) {
      const [added] = summary === undefined ? [] : this.#add(summary);
      if (added !== undefined) {
        this.changed(null);
      }
      return added;
    }
    if (summary !== undefined) {
      this.#update(entry, summary);
    }
    switch (change.kind) {
      case "decided":
        this.#decided(entry, change.verdict, change.by);
        break;
      case "withdrawn":
        this.#end(entry, "withdrawn", "withdrawn by its agent");
        break;
      case "superseded":
        this.#end(entry, "superseded", `superseded by ${visible(change.by)}`);
        break;
      case "failed":
        this.#end(entry, "failed", `accepted, but it could not be carried out: ${visible(change.error)}`);
        break;
      case "edited":
      case "rebased":
      case "shown":
        entry.revision = Math.max(entry.revision, change.revision);
        break;
      case "written":
      case "delivered":
        // Forgotten by the hub, so it is done.
        if (summary === undefined && entry.state === "settling") {
          entry.state = stateAfter(entry.verdict);
        }
        break;
      case "onDisk":
        entry.onDisk = "seen";
        break;
      case "notOnDisk":
        entry.onDisk = "missing";
        break;
      case "proposed":
      case "reopened":
      case "agentGone":
      case "agentBack":
        break;
    }
    this.changed(entry);
    return undefined;
  }

  /** The hub took our decision. */
  taken(entry: Entry, verdict: VerdictKind): void {
    entry.sending = false;
    entry.decidedHere = true;
    entry.verdict = verdict;
    entry.how = `${decided(verdict)} here`;
    this.#expectOnDisk(entry, verdict);
    if (entry.state === "pending") {
      entry.state = stateAfter(verdict);
    }
    this.changed(entry);
  }

  /** The hub said so when it refused an accept: its agent should write the file and no longer waits. */
  nobodyWaits(entry: Entry): void {
    entry.summary = { ...entry.summary, ownerGone: true, agentWrites: true };
  }

  /** It is over, and the hub's memory of the past says how. */
  past(entry: Entry, found: HistoryEntry | undefined): void {
    entry.sending = false;
    if (found !== undefined) {
      this.#end(entry, found.ended.kind, ended(found));
    } else if (entry.how === "") {
      this.#end(entry, "withdrawn", "not waiting any more");
    }
    this.changed(entry);
  }

  clearOver(): void {
    const stay = this.entries.filter((entry) => !isOver(entry));
    for (const entry of this.entries.splice(0, this.entries.length, ...stay).filter(isOver)) {
      this.#known.delete(entry.id);
    }
    this.changed(null);
  }

  changed(entry: Entry | null): void {
    for (const heard of this.#heard) {
      heard(entry);
    }
  }

  /** Only what waits gets a row; what is on its way out already would only flash. */
  #add(summary: ReviewSummary): Entry[] {
    if (STATES[summary.phase] !== "pending") {
      return [];
    }
    const entry: Entry = {
      id: summary.review,
      summary,
      listedAt: performance.now(),
      state: "pending",
      how: "",
      onDisk: "elsewhere",
      verdict: undefined,
      decidedHere: false,
      sending: false,
      fresh: true,
      revision: summary.revision,
      work: undefined,
      aside: [],
      reason: "",
    };
    this.entries.push(entry);
    this.#known.set(entry.id, entry);
    return [entry];
  }

  #update(entry: Entry, summary: ReviewSummary): void {
    entry.summary = summary;
    entry.revision = Math.max(entry.revision, summary.revision);
    entry.listedAt = performance.now();
    const state = STATES[summary.phase];
    if (state === undefined) {
      return;
    }
    entry.state = state;
    if (state === "pending") {
      entry.how = "";
      entry.onDisk = "elsewhere";
      entry.verdict = undefined;
      entry.decidedHere = false;
    } else if (entry.how === "" && state !== "settling") {
      entry.how = state;
    }
  }

  #decided(entry: Entry, verdict: VerdictKind, by: string): void {
    if (!entry.decidedHere) {
      entry.verdict = verdict;
      entry.how = `${decided(verdict)} in ${visible(by)}`;
      this.#expectOnDisk(entry, verdict);
    }
    if (entry.state === "pending") {
      entry.state = stateAfter(verdict);
    }
  }

  /** News of the file may have come before the answer to our decision. */
  #expectOnDisk(entry: Entry, verdict: VerdictKind): void {
    if (entry.onDisk === "elsewhere" && verdict !== "reject") {
      entry.onDisk = expectedAfterAccept(entry);
    }
  }

  #end(entry: Entry, state: State, how: string): void {
    entry.state = state;
    entry.how = how;
    entry.onDisk = "elsewhere";
  }
}
