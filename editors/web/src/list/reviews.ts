// The model: the reviews this page knows, in the order of arrival. Only reports of the hub change them. Pure: knows
// neither the connection nor the screen.

import type { HistoryEntry, ReviewChange, ReviewShow, ReviewSummary, VerdictKind } from "../../../protocol";
import type { Draft } from "../diff/view";
import { visible } from "../shell/visible";
import { decided, ended } from "../shell/labels";
import { expectedAfterAccept, type OnDisk } from "../decision/file_write";

export type State = "pending" | "settling" | "accepted" | "rejected" | "withdrawn" | "superseded" | "failed";

/** The user's work on a review, and the revision it belongs to: lines and hunks differ in another revision. */
export interface Work {
  readonly draft: Draft;
  readonly on: ReviewShow;
}

export interface Entry {
  readonly id: string;
  summary: ReviewSummary;
  /** When the summary was received: its age counts from there. */
  listedAt: number;
  state: State;
  /** How it ended, as text that follows its name; empty while it is pending. */
  how: string;
  /** Whether the file holds what was accepted. */
  onDisk: OnDisk;
  /** What was decided, here or elsewhere. */
  verdict: VerdictKind | undefined;
  decidedHere: boolean;
  /** Our decision is being sent. */
  sending: boolean;
  /** It has not been opened yet. */
  fresh: boolean;
  /** The newest known revision. */
  revision: number;
  /** The user's unsent work; `undefined` if there is nothing to lose. */
  work: Work | undefined;
  /** The user's own texts that were replaced by the proposal and can be restored. */
  readonly aside: Work[];
  /** The rejection reason typed so far. */
  reason: string;
}

/** A larger side is not fetched: the browser could not show it fast enough. */
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

/** The draft with its revision, or `undefined` if it is empty. */
export function workOf(draft: Draft, on: ReviewShow): Work | undefined {
  const isEmpty = draft.left.length === 0 && draft.comments.length === 0 && draft.text === undefined;
  return isEmpty ? undefined : { draft, on };
}

/** The draft that remains when the proposal is shown instead of the user's text. */
export function withoutText({ text: _, ...rest }: Draft): Draft {
  return { ...rest, left: [] };
}

/** The state of a review that a decision is about. */
export interface ShownState {
  readonly revision: number;
  /** Identifies the exact bytes. Unknown if only the revision was reported. */
  readonly digest?: string;
}

export function stateOf({ revision, digest }: ReviewShow): ShownState {
  return { revision, digest };
}

/** The state of a review that is listed but not fetched: the digest is known if the summary is current. */
export function listed({ summary, revision }: Entry): ShownState {
  return summary.revision === revision ? { revision, digest: summary.digest } : { revision };
}

/** Whether two states of a review look the same to the user. */
export function isSame(one: ReviewShow, other: ReviewShow): boolean {
  const isSameText = one.base === other.base && one.proposed === other.proposed;
  return one.revision === other.revision && one.digest === other.digest && isSameText;
}

/** Whether deciding it as part of a set would ignore the user's work on it: then it needs a decision of its own. */
export function needsOwnDecision({ work, revision }: Entry, accept: boolean): boolean {
  if (work === undefined) {
    return false;
  }
  const { draft, on } = work;
  const hasChoice = accept && (draft.left.length > 0 || draft.text !== undefined);
  // The comments count the lines of another text.
  const isElsewhere = on.revision !== revision || draft.text !== undefined;
  return hasChoice || (draft.comments.length > 0 && isElsewhere);
}

/** Whether the user would lose work if the page closed now. */
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
  readonly #listeners: Array<(entry: Entry | null) => void> = [];

  /** `null`: rows were added or removed. */
  onChange(listener: (entry: Entry | null) => void): void {
    this.#listeners.push(listener);
  }

  get(id: string): Entry | undefined {
    return this.#known.get(id);
  }

  waiting(): Entry[] {
    return this.entries.filter(isWaiting);
  }

  /** The next pending review after this one, wrapping around. */
  nextWaiting(after: string | null): Entry | undefined {
    const place = this.entries.findIndex((entry) => entry.id === after);
    const around = [...this.entries.slice(place + 1), ...this.entries.slice(0, Math.max(0, place))];
    return around.find(isWaiting);
  }

  /** Applies the hub's current list. Reviews that were open and are missing from it have ended somehow. */
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

  /** Applies a change of a review. Returns the entry if it is new. */
  handleEvent(id: string, change: ReviewChange, summary: ReviewSummary | undefined): Entry | undefined {
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
        // Without a summary the hub has dropped it, so it is finished.
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

  /** The hub accepted our decision. */
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

  /** The hub refused an accept because the agent, which should write the file, no longer waits. */
  agentGone(entry: Entry): void {
    entry.summary = { ...entry.summary, ownerGone: true, agentWrites: true };
  }

  /** It ended, and the hub's history says how. */
  past(entry: Entry, found: HistoryEntry | undefined): void {
    entry.sending = false;
    if (found !== undefined) {
      this.#end(entry, found.ended.kind, ended(found));
    } else if (entry.how === "") {
      this.#end(entry, "withdrawn", "no longer pending");
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
    for (const listener of this.#listeners) {
      listener(entry);
    }
  }

  /** Only pending reviews get a row; one that is already finishing would only flash. */
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

  /** An event about the file may arrive before the response to our decision. */
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
