// Who writes an accepted change, and whether it was seen in the file. Pure.

import type { Entry } from "./reviews";
import { visible } from "./visible";

/**
 * An accepted change that its agent writes: `expected` since the agent was told, `seen` once the file holds it, `missing`
 * if it did not write. `elsewhere`: nobody has to wait for the agent.
 */
export type OnDisk = "elsewhere" | "expected" | "seen" | "missing";

/** The agent should write the file and does not wait for the answer: an accept makes Linkspan write instead. */
export function needsWriting({ summary }: Entry): boolean {
  return summary.ownerGone && summary.agentWrites;
}

/** What to expect of the file after this review was accepted. */
export function expectedAfterAccept({ summary }: Entry): OnDisk {
  return summary.agentWrites && !summary.ownerGone ? "expected" : "elsewhere";
}

/** How it is over, in words that follow its name. "Accepted" alone means that the file holds it. */
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
