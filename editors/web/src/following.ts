// What an open review does next, so that it shows the newest state there is and takes choices only while they count.
// Pure. No step is answered by itself at once: what cannot be had is not asked for again until something changes.

import { isOversized, isWaiting, type Entry } from "./reviews";

/** How it stands with what is on the screen. */
export interface OnScreen {
  /** Words in place of a change that is too large: the revision they are about. */
  readonly tooLarge: number | null;
  /** The newest revision that was fetched. */
  readonly fetched: number | null;
  /** Whether the diff takes choices; `null`: there is none. */
  readonly takesChoices: boolean | null;
  /** The revision that the hub would not give. */
  readonly refused: number | null;
}

export type Step = "nothing" | "fetch" | "close" | "reopen" | "sayTooLarge";

export function nextStep(entry: Entry, screen: OnScreen): Step {
  if (!isWaiting(entry)) {
    return screen.takesChoices === true ? "close" : "nothing";
  }
  if (isOversized(entry)) {
    return screen.tooLarge === entry.revision ? "nothing" : "sayTooLarge";
  }
  if (screen.takesChoices === false) {
    return "reopen";
  }
  const isBehind = screen.fetched === null || entry.revision > screen.fetched;
  return isBehind && screen.refused !== entry.revision ? "fetch" : "nothing";
}
