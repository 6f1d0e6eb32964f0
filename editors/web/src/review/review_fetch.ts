// Fetches a review and the code that shows it. Every failure is a result, never an exception.

import { ERRORS, type ReviewShow, type ReviewSummary } from "../../../protocol";
import type { HubAccess } from "../connection/connection";
import type { OpenDiff } from "../diff/view";
import { loadDiff } from "./diff_loader";
import { HubError, ConnectionLost } from "../connection/socket";
import { visible } from "../shell/visible";

export type Fetched =
  | { kind: "got"; shown: ReviewShow; openDiff: OpenDiff }
  /** The connection was lost: fetch again after the reconnect. */
  | { kind: "lost" }
  /** The hub no longer knows it. */
  | { kind: "forgotten" }
  | { kind: "refused"; why: string };

export async function fetchReview(connection: HubAccess, summary: ReviewSummary): Promise<Fetched> {
  const code = loadDiff();
  code.catch(() => undefined);
  try {
    const { shown } = await connection.review(summary);
    return { kind: "got", shown, openDiff: await code };
  } catch (error) {
    if (error instanceof ConnectionLost) {
      return { kind: "lost" };
    }
    if (error instanceof HubError) {
      const isForgotten = error.code === ERRORS.UNKNOWN_REVIEW;
      return isForgotten ? { kind: "forgotten" } : { kind: "refused", why: visible(error.message) };
    }
    return { kind: "refused", why: "The code that shows changes could not be loaded. Reload the page." };
  }
}
