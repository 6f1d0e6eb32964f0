// Messages for decisions that the hub did not take.

import type { ReviewDecidedResult } from "../../../protocol";
import { inWorkspace } from "../failure";
import { count, plain } from "../plain_text";
import { isInConflict } from "./lenses";
import type { Review } from "./store";

/** Why a decision was not taken, and whether the review is closed all the same. */
export interface Refusal {
  message: string;
  isLoud?: boolean;
  isOver?: boolean;
  /** The agent that should write the file is gone: the hub can write it if the user agrees. */
  canWriteHere?: boolean;
}

export function refusalOf(name: string, result: ReviewDecidedResult): Refusal | undefined {
  const loud = (why: string): Refusal => ({ message: `${name}: ${why} Review it again.`, isLoud: true });
  switch (result.kind) {
    case "taken":
      return undefined;
    case "stale":
      return loud("The proposal changed while you were deciding.");
    case "askAgain":
      return result.conflicts === 0
        ? loud("The file was created or removed while you were deciding.")
        : loud(`The file changed while you were deciding (${count(result.conflicts, "conflict")}).`);
    case "alreadyDecided":
      return { message: `${name} was already decided in ${plain(result.by)}.`, isOver: true };
    case "notPending":
      return { message: `${name} is no longer pending.`, isOver: true };
    case "refused":
      return { message: `${name}: ${inWorkspace(plain(result.message))}`, isLoud: true, canWriteHere: result.canWriteHere === true };
  }
}

/** What the user has to choose is not chosen for them. */
export function undecided(review: Review): string | undefined {
  const open = review.shown.hunks.filter((hunk) => isInConflict(hunk, review.shown.conflicts) && !review.marks.has(hunk.id));
  return open.length === 0 ? undefined : `take the agent's text or keep yours in ${count(open.length, "conflict")} of ${review.name} first.`;
}
