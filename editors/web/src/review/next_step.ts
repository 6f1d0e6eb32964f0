// The next step of an open review, so that it shows the newest state and allows choices only while they count. Pure.
// No step leads straight to itself: a state that the hub refuses is not requested again until something changes.

import { isOversized, isWaiting, type Entry } from "../list/reviews";

/** What the screen shows. */
export interface OnScreen {
  /** The revision for which the text about an oversized change is shown. */
  readonly tooLarge: number | null;
  /** The newest fetched revision. */
  readonly fetched: number | null;
  /** Whether the diff allows choices; `null`: there is no diff. */
  readonly takesChoices: boolean | null;
  /** The revision that the hub refused to send. */
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
