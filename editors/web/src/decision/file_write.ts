// Who writes an accepted change, and whether the file was seen to hold it. Pure.

import type { Entry } from "../list/reviews";
import { visible } from "../shell/visible";

/**
 * An accepted change that its agent writes: `expected` since the agent received the answer, `seen` once the file holds
 * it, `missing` if the agent did not write. `elsewhere`: nothing is expected of the agent.
 */
export type OnDisk = "elsewhere" | "expected" | "seen" | "missing";

/** The agent should write the file but no longer waits for the answer: an accept makes Linkspan write instead. */
export function needsWriting({ summary }: Entry): boolean {
  return summary.ownerGone && summary.agentWrites;
}

/** What to expect of the file after this review was accepted. */
export function expectedAfterAccept({ summary }: Entry): OnDisk {
  return summary.agentWrites && !summary.ownerGone ? "expected" : "elsewhere";
}

/** How it ended, as text that follows its name. "Accepted" alone means that the file holds it. */
export function howItEnded({ how, onDisk, summary }: Entry): string {
  switch (onDisk) {
    case "expected":
      return `${how}, not on disk yet: ${visible(summary.agent)} was told to write it`;
    case "missing":
      return `${how}, not on disk: ${visible(summary.agent)} has not written it`;
    case "elsewhere":
    case "seen":
      return how;
  }
}
