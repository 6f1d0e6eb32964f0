// Fetching a review, and the code that shows it. Whatever comes of it is an answer.

import { ERRORS, type ReviewShow, type ReviewSummary } from "../../protocol";
import type { Connection } from "./connection";
import type { OpenDiff } from "./diff/view";
import { loadDiff } from "./diff_loader";
import { HubError, Lost } from "./socket";
import { visible } from "./visible";

export type Fetched =
  | { kind: "got"; shown: ReviewShow; openDiff: OpenDiff }
  /** The connection fell: when it is back, it can be asked for again. */
  | { kind: "lost" }
  /** The hub does not know it any more. */
  | { kind: "forgotten" }
  | { kind: "refused"; why: string };

export async function fetchReview(connection: Connection, summary: ReviewSummary): Promise<Fetched> {
  const code = loadDiff();
  code.catch(() => undefined);
  try {
    const { shown } = await connection.review(summary);
    return { kind: "got", shown, openDiff: await code };
  } catch (error) {
    if (error instanceof Lost) {
      return { kind: "lost" };
    }
    if (error instanceof HubError) {
      const isForgotten = error.code === ERRORS.UNKNOWN_REVIEW;
      return isForgotten ? { kind: "forgotten" } : { kind: "refused", why: visible(error.message) };
    }
    return { kind: "refused", why: "The code that shows changes could not be loaded. Reload the page." };
  }
}
