// Texts for ages, counts, decisions and file names: the same as in the terminal reviewer.

import type { HistoryEntry, ReviewDecidedResult, ReviewShow, AcceptedPart, VerdictKind } from "../../../protocol";
import { visible } from "./visible";

/** For a review whose agent no longer waits for the answer. */
export const AGENT_GONE = "agent gone";

/** A duration in its largest unit. */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** An age for screen readers. */
export function spokenAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return "less than a minute ago";
  if (seconds < 3600) return `${count(Math.floor(seconds / 60), "minute")} ago`;
  if (seconds < 86_400) return `${count(Math.floor(seconds / 3600), "hour")} ago`;
  return `${count(Math.floor(seconds / 86_400), "day")} ago`;
}

/** `1 hunk`, `2 hunks`. */
export function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}

export function size(bytes: number): string {
  if (bytes < 1024) return count(bytes, "byte");
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

export function decided(verdict: VerdictKind): string {
  switch (verdict) {
    case "accept":
      return "accepted";
    case "acceptHunks":
      return "accepted in part";
    case "acceptEdited":
      return "accepted with edits";
    case "reject":
      return "rejected";
  }
}

export function accepted(taken: AcceptedPart): VerdictKind {
  return taken === "all" ? "accept" : taken === "some" ? "acceptHunks" : "acceptEdited";
}

/** How a past review ended, and where. */
export function ended(entry: Pick<HistoryEntry, "ended" | "decidedBy" | "onDisk">): string {
  const where = entry.decidedBy === undefined ? "" : ` in ${visible(entry.decidedBy)}`;
  switch (entry.ended.kind) {
    case "accepted":
      return decided(accepted(entry.ended.taken)) + (entry.onDisk === false ? `, not on disk${where && ","}` : "") + where;
    case "rejected":
      return decided("reject") + where;
    case "withdrawn":
      return "withdrawn by its agent";
    case "superseded":
      return `superseded by ${visible(entry.ended.by)}`;
    case "failed":
      return `accepted, but it could not be carried out: ${visible(entry.ended.error)}`;
  }
}

/** Why a decision was not accepted although the review is still pending, and what to do. */
export function notTaken(answer: Extract<ReviewDecidedResult, { kind: "stale" | "askAgain" | "refused" }>): string {
  switch (answer.kind) {
    case "stale":
      return "Not submitted: the proposal changed while you were deciding. Review it again.";
    case "askAgain":
      return answer.conflicts === 0
        ? "Not submitted: the file was created or deleted in the meantime. Review the change again."
        : `Not submitted: the file changed in the meantime, with ${count(answer.conflicts, "conflict")}. Review the change again.`;
    case "refused":
      return `Not submitted: ${visible(answer.message)}`;
  }
}

/** What changed in an open review. */
export function whatChanged(before: ReviewShow | null, newer: ReviewShow): string {
  if (newer.conflicts.length > 0) {
    return `The file changed in the meantime, with ${count(newer.conflicts.length, "conflict")} to resolve.`;
  }
  return before?.base === newer.base
    ? "The proposed text was edited elsewhere."
    : "The file changed in the meantime, and the proposal was rebased onto it.";
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A path relative to the innermost of these folders that contains it. */
export function relative(path: string, folders: readonly string[]): string {
  let shortest = path;
  for (const folder of folders) {
    const start = folder.endsWith("/") ? folder : `${folder}/`;
    if (path.startsWith(start) && path.length - start.length < shortest.length && path.length > start.length) {
      shortest = path.slice(start.length);
    }
  }
  return shortest;
}

/** The folder with its trailing slash, and the name. */
export function split(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf("/") + 1;
  return { folder: path.slice(0, slash), name: path.slice(slash) };
}
