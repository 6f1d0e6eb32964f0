// Sends decisions to the hub so that they arrive even if the connection is lost in between. A decision counts as taken
// only when the hub confirmed it.

import { ERRORS, type Decision, type ReviewDecidedResult } from "../../../protocol";
import type { HubAccess } from "../connection/connection";
import { stateOf, type Entry, type Reviews, type ShownState } from "../list/reviews";
import { HubError, ConnectionLost } from "../connection/socket";
import { visible } from "../shell/visible";
import { notTaken } from "../shell/labels";

export type Answer =
  | { kind: "taken" }
  /** It is still pending, perhaps in a newer revision, and the user has to check it again. */
  | { kind: "again"; message: string }
  /** It had already ended: the text that precedes how. */
  | { kind: "over"; message: string };

const HISTORY_LIMIT = 1000;
/** Between two checks of a review that is being written. */
const SETTLING_MS = 300;

export class DecisionSender {
  readonly #connection: HubAccess;
  readonly #reviews: Reviews;

  constructor(connection: HubAccess, reviews: Reviews) {
    this.#connection = connection;
    this.#reviews = reviews;
  }

  async decide(entry: Entry, seen: ShownState, decision: Decision): Promise<Answer> {
    entry.sending = true;
    let answer: Promise<Answer> = this.#send(entry, seen, decision);
    this.#reviews.changed(entry);
    for (;;) {
      try {
        return await answer;
      } catch (error) {
        if (!(error instanceof ConnectionLost)) {
          entry.sending = false;
          this.#reviews.changed(entry);
          const why = error instanceof Error ? visible(error.message) : "the page failed";
          return { kind: "again", message: `Not submitted: ${why}` };
        }
      }
      answer = this.#connection.connected().then(() => this.#sendAgain(entry, seen, decision));
    }
  }

  async #sendAgain(entry: Entry, seen: ShownState, decision: Decision): Promise<Answer> {
    return (await this.#look(entry, seen)) ?? (await this.#send(entry, seen, decision));
  }

  /** Looks up in the hub's history how reviews ended that are no longer pending. */
  async past(gone: readonly Entry[]): Promise<void> {
    if (gone.length === 0) {
      return;
    }
    const { entries } = await this.#connection.request("history/list", { limit: HISTORY_LIMIT, undoable: false });
    for (const entry of gone) {
      this.#reviews.past(entry, entries.find((past) => past.review === entry.id && past.undoes === undefined));
    }
  }

  async #send(entry: Entry, seen: ShownState, decision: Decision): Promise<Answer> {
    const params = { review: entry.id, ...seen, decision };
    const answer: ReviewDecidedResult = await this.#connection.request("reviews/decide", params);
    if (answer.kind === "taken") {
      this.#reviews.taken(entry, decision.verdict.kind);
      return answer;
    }
    entry.sending = false;
    if (answer.kind === "stale") {
      entry.revision = Math.max(entry.revision, answer.revision);
    }
    if (answer.kind === "alreadyDecided" || answer.kind === "notPending") {
      if (entry.state === "pending") {
        await this.past([entry]);
      }
      this.#reviews.changed(entry);
      return { kind: "over", message: "Your decision came too late" };
    }
    if (answer.kind === "refused" && answer.canWriteHere === true) {
      this.#reviews.agentGone(entry);
    }
    this.#reviews.changed(entry);
    return { kind: "again", message: notTaken(answer) };
  }

  /** After a lost connection: did the hub receive the decision? `null`: it did not, and it can be sent again. */
  async #look(entry: Entry, seen: ShownState): Promise<Answer | null> {
    let phase: string;
    let now: ShownState;
    try {
      const got = await this.#connection.review(entry.summary);
      phase = got.phase;
      now = stateOf(got.shown);
    } catch (error) {
      if (!(error instanceof HubError) || error.code !== ERRORS.UNKNOWN_REVIEW) {
        throw error;
      }
      phase = "forgotten";
      now = seen;
    }
    if (phase === "settling") {
      await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
      return this.#look(entry, seen);
    }
    if (phase !== "pending" && phase !== "conflict") {
      await this.past([entry]);
      return { kind: "over", message: "The connection was lost while you decided; the hub reports" };
    }
    if (now.revision !== seen.revision || (now.digest ?? seen.digest) !== (seen.digest ?? now.digest)) {
      entry.sending = false;
      entry.revision = now.revision;
      this.#reviews.changed(entry);
      return { kind: "again", message: notTaken({ kind: "stale", revision: now.revision }) };
    }
    return null;
  }
}
