// What the user can decide about the open review right now, as labels and reasons. Pure.

import type { ReviewShow } from "../../../protocol";
import type { DecisionOptions } from "./decision_bar";
import type { DiffView } from "../diff/view";
import { isOversized, type Entry } from "../list/reviews";
import { visible } from "../shell/visible";
import { capital, count } from "../shell/labels";
import { howItEnded, needsWriting } from "./file_write";

export interface DecisionContext {
  readonly entry: Entry;
  readonly shown: ReviewShow | null;
  readonly view: DiffView | null;
  /** A newer revision waits for the user's choice about their own text. */
  readonly isChoosing: boolean;
  readonly isConnected: boolean;
  /** Precedes how it ended, if the user's decision came too late. */
  readonly late: string;
  readonly hasNext: boolean;
}

export function optionsOf(context: DecisionContext): DecisionOptions {
  const { entry, view } = context;
  if (entry.sending) {
    const text = context.isConnected
      ? "Sending your decision…"
      : "The connection is lost. Your decision is kept and will be sent when the hub is back.";
    return { kind: "outcome", text, tone: "plain", next: false };
  }
  if (entry.state !== "pending") {
    return outcomeOf(context);
  }
  if (isOversized(entry)) {
    const label = needsWriting(entry) ? "Write file…" : "Accept…";
    return { kind: "decide", label, comments: 0, ...whoWrites(entry), ...unheardOf(context) };
  }
  if (view === null) {
    return { kind: "loading" };
  }
  const why = whyNotAccept(context);
  const comments = context.shown?.receives?.comments === false ? 0 : view.draft().comments.length;
  const reason = why === undefined ? {} : { why };
  return { kind: "decide", label: acceptLabel(context), comments, ...reason, ...whoWrites(entry), ...unheardOf(context) };
}

/** What the agent will not receive. Of a change that is too large to show, only the summary is known. */
function unheardOf({ entry, shown }: DecisionContext): { unheard?: string } {
  const { agent, receives } = entry.summary;
  const all = shown?.receivesNotes?.all;
  if (all !== undefined) {
    return { unheard: visible(all) };
  }
  return isOversized(entry) && receives?.reason === false ? { unheard: `${visible(agent)} will not receive your reason.` } : {};
}

/** The text next to the button if an accept makes Linkspan write the file. */
function whoWrites(entry: Entry): { writes?: string } {
  const agent = visible(entry.summary.agent);
  return needsWriting(entry) ? { writes: `${agent} no longer waits, so Linkspan will write the file.` } : {};
}

function outcomeOf({ entry, late, hasNext }: DecisionContext): DecisionOptions {
  const how = entry.how === "" ? "decided" : howItEnded(entry);
  const isBad = entry.state === "failed" || entry.onDisk === "missing";
  const tone = isBad ? "bad" : entry.state === "accepted" && entry.onDisk !== "expected" ? "good" : "plain";
  const ended = entry.state === "settling" ? `${how}; it is being written…` : `${how}.`;
  return { kind: "outcome", text: late === "" ? capital(ended) : `${late}: ${ended}`, tone, next: hasNext };
}

function acceptLabel({ entry, view, shown }: DecisionContext): string {
  const here = needsWriting(entry);
  if (view?.isEditing()) {
    return here ? "Write my text" : "Accept my text";
  }
  const verdict = view?.verdict();
  if (verdict?.kind === "acceptHunks") {
    const some = `${verdict.hunks.length} of ${count(shown?.hunks.length ?? 0, "hunk")}`;
    return here ? `Write ${some}` : `Accept ${some}`;
  }
  return here ? "Write file" : "Accept";
}

/** `undefined`: it can be accepted. */
export function whyNotAccept({ entry, view, isChoosing }: DecisionContext): string | undefined {
  if (entry.sending) {
    return "Your decision is being sent.";
  }
  if (entry.state !== "pending") {
    return `No longer pending: ${entry.how}.`;
  }
  if (isOversized(entry)) {
    return undefined;
  }
  if (view === null) {
    return "The change is still loading.";
  }
  if (isChoosing) {
    return "The proposal changed: choose above first.";
  }
  return view.isEditing() || view.verdict() !== null ? undefined : "No hunk is included.";
}
