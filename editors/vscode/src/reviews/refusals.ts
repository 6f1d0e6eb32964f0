// Why the hub did not take a decision, in words.

import type { ReviewDecidedResult } from "../../../protocol";
import { count, plain } from "../wording";

/** Why a decision was not taken, for the user; and whether it is over nevertheless. */
export interface Refusal {
  says: string;
  isLoud?: boolean;
  isOver?: boolean;
  /** The agent that should write the file no longer waits: the hub writes it if the user says so. */
  canWriteHere?: boolean;
}

export function refusalOf(name: string, result: ReviewDecidedResult): Refusal | undefined {
  const loud = (why: string): Refusal => ({ says: `Nothing is decided about ${name}: ${why}`, isLoud: true });
  switch (result.kind) {
    case "taken":
      return undefined;
    case "stale":
      return loud("it became another change while you decided. Look again, then decide.");
    case "askAgain":
      return result.conflicts === 0
        ? loud("the file was created or removed meanwhile. Look again, then decide.")
        : loud(`the file changed meanwhile, with ${count(result.conflicts, "conflict")}. Look again, then decide.`);
    case "alreadyDecided":
      return { says: `${name} was decided already, in ${plain(result.by)}.`, isOver: true };
    case "notPending":
      return { says: `${name} does not wait any more.`, isOver: true };
    case "refused":
      return { says: `${name}: ${plain(result.message)}`, isLoud: true, canWriteHere: result.canWriteHere === true };
  }
}
