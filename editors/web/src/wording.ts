// The words for ages, counts, decisions and names of files: the same as in the terminal reviewer.

import type { HistoryEntry, ReviewDecidedResult, ReviewShow, Taken, VerdictKind } from "../../protocol";
import { visible } from "./visible";

/** Of a review whose agent does not wait for the answer. */
export const AGENT_GONE = "agent gone";

/** How long something lasted, in its largest unit. */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** The same for who hears it. */
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

export function accepted(taken: Taken): VerdictKind {
  return taken === "all" ? "accept" : taken === "some" ? "acceptHunks" : "acceptEdited";
}

/** How a review of the past ended, and where. */
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

/** Why a decision was not taken while the review waits on, and what to do. */
export function notTaken(answer: Extract<ReviewDecidedResult, { kind: "stale" | "askAgain" | "refused" }>): string {
  switch (answer.kind) {
    case "stale":
      return "Nothing is decided yet: the change became another one while you decided. Look again, then decide.";
    case "askAgain":
      return answer.conflicts === 0
        ? "Nothing is decided yet: the file was created or removed meanwhile. Look again, then decide."
        : `Nothing is decided yet: the file changed meanwhile, with ${count(answer.conflicts, "conflict")}. Look again.`;
    case "refused":
      return `Nothing is decided: ${visible(answer.message)}`;
  }
}

/** What became of an open review meanwhile. */
export function whatChanged(before: ReviewShow | null, newer: ReviewShow): string {
  if (newer.conflicts.length > 0) {
    return `The file changed meanwhile, with ${count(newer.conflicts.length, "conflict")} to look at.`;
  }
  return before?.base === newer.base
    ? "The proposed text was edited elsewhere."
    : "The file changed meanwhile, and the change was fitted to it.";
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A path as seen from the innermost of these folders it is in. */
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

/** The folder with its last slash, and the name. */
export function split(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf("/") + 1;
  return { folder: path.slice(0, slash), name: path.slice(slash) };
}
