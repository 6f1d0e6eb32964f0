// What can be decided about the open review right now, in words. Pure: it looks at the state and changes nothing.

import type { ReviewShow } from "../../protocol";
import type { Offer } from "./decision_bar";
import type { DiffView } from "./diff/view";
import { isOversized, type Entry } from "./reviews";
import { visible } from "./visible";
import { capital, count } from "./wording";
import { howItEnded, needsWriting } from "./writing";

export interface Sight {
  readonly entry: Entry;
  readonly shown: ReviewShow | null;
  readonly view: DiffView | null;
  /** A newer revision waits for the person's word on her own text. */
  readonly isChoosing: boolean;
  readonly isConnected: boolean;
  /** Said before how it ended, if her own decision came too late. */
  readonly late: string;
  readonly hasNext: boolean;
}

export function offerOf(sight: Sight): Offer {
  const { entry, view } = sight;
  if (entry.sending) {
    const text = sight.isConnected
      ? "Sending your decision…"
      : "The connection is lost. Your decision is kept, and sent when the hub is back.";
    return { kind: "outcome", text, tone: "plain", next: false };
  }
  if (entry.state !== "pending") {
    return outcomeOf(sight);
  }
  if (isOversized(entry)) {
    const label = needsWriting(entry) ? "Write it here…" : "Accept…";
    return { kind: "decide", label, comments: 0, ...whoWrites(entry) };
  }
  if (view === null) {
    return { kind: "loading" };
  }
  const why = whyNotAccept(sight);
  const comments = view.draft().comments.length;
  const reason = why === undefined ? {} : { why };
  return { kind: "decide", label: acceptLabel(sight), comments, ...reason, ...whoWrites(entry) };
}

/** What is said beside the button if an accept makes Linkspan write the file. */
function whoWrites(entry: Entry): { writes?: string } {
  const agent = visible(entry.summary.agent);
  return needsWriting(entry) ? { writes: `${agent} no longer waits, so Linkspan writes the file.` } : {};
}

function outcomeOf({ entry, late, hasNext }: Sight): Offer {
  const how = entry.how === "" ? "decided" : howItEnded(entry);
  const isBad = entry.state === "failed" || entry.onDisk === "missing";
  const tone = isBad ? "bad" : entry.state === "accepted" && entry.onDisk !== "expected" ? "good" : "plain";
  const ended = entry.state === "settling" ? `${how}; it is being written…` : `${how}.`;
  return { kind: "outcome", text: late === "" ? capital(ended) : `${late}: ${ended}`, tone, next: hasNext };
}

function acceptLabel({ entry, view, shown }: Sight): string {
  const here = needsWriting(entry);
  if (view?.isEditing()) {
    return here ? "Write my text here" : "Accept my text";
  }
  const verdict = view?.verdict();
  if (verdict?.kind === "acceptHunks") {
    const some = `${verdict.hunks.length} of ${count(shown?.hunks.length ?? 0, "hunk")}`;
    return here ? `Write ${some} here` : `Accept ${some}`;
  }
  return here ? "Write it here" : "Accept";
}

/** `undefined`: it can be accepted. */
export function whyNotAccept({ entry, view, isChoosing }: Sight): string | undefined {
  if (entry.sending) {
    return "Your decision is on its way.";
  }
  if (entry.state !== "pending") {
    return `It does not wait any more: ${entry.how}.`;
  }
  if (isOversized(entry)) {
    return undefined;
  }
  if (view === null) {
    return "It is still on its way.";
  }
  if (isChoosing) {
    return "It changed: choose above first.";
  }
  return view.isEditing() || view.verdict() !== null ? undefined : "No hunk is taken.";
}
