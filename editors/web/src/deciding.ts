// Telling the hub what a person decided, so that it arrives even if the connection falls in between. It is never said
// to be taken unless the hub said so.

import { ERRORS, type Decision, type ReviewDecidedResult } from "../../protocol";
import type { Connection } from "./connection";
import { seenIn, type Entry, type Reviews, type Seen } from "./reviews";
import { HubError, Lost } from "./socket";
import { visible } from "./visible";
import { notTaken } from "./wording";

export type Answer =
  | { kind: "taken" }
  /** It waits, perhaps in a newer revision, and the person has to look again. */
  | { kind: "again"; message: string }
  /** It was over already: words before how. */
  | { kind: "over"; message: string };

const HISTORY_LIMIT = 1000;
/** Between two looks at what is being written. */
const SETTLING_MS = 300;

export class Deciding {
  readonly #connection: Connection;
  readonly #reviews: Reviews;

  constructor(connection: Connection, reviews: Reviews) {
    this.#connection = connection;
    this.#reviews = reviews;
  }

  async decide(entry: Entry, seen: Seen, decision: Decision): Promise<Answer> {
    entry.sending = true;
    let answer: Promise<Answer> = this.#send(entry, seen, decision);
    this.#reviews.changed(entry);
    for (;;) {
      try {
        return await answer;
      } catch (error) {
        if (!(error instanceof Lost)) {
          entry.sending = false;
          this.#reviews.changed(entry);
          const why = error instanceof Error ? visible(error.message) : "the page failed";
          return { kind: "again", message: `Nothing is decided: ${why}` };
        }
      }
      answer = this.#connection.connected().then(() => this.#sendAgain(entry, seen, decision));
    }
  }

  async #sendAgain(entry: Entry, seen: Seen, decision: Decision): Promise<Answer> {
    return (await this.#look(entry, seen)) ?? (await this.#send(entry, seen, decision));
  }

  /** Asks the hub's memory of the past about reviews that do not wait any more. */
  async past(gone: readonly Entry[]): Promise<void> {
    if (gone.length === 0) {
      return;
    }
    const { entries } = await this.#connection.request("history/list", { limit: HISTORY_LIMIT, undoable: false });
    for (const entry of gone) {
      this.#reviews.past(entry, entries.find((past) => past.review === entry.id && past.undoes === undefined));
    }
  }

  async #send(entry: Entry, seen: Seen, decision: Decision): Promise<Answer> {
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
      this.#reviews.nobodyWaits(entry);
    }
    this.#reviews.changed(entry);
    return { kind: "again", message: notTaken(answer) };
  }

  /** After the connection fell: did the hub hear the decision? `null`: it did not, and may be told again. */
  async #look(entry: Entry, seen: Seen): Promise<Answer | null> {
    let phase: string;
    let now: Seen;
    try {
      const got = await this.#connection.review(entry.summary);
      phase = got.phase;
      now = seenIn(got.shown);
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
      return { kind: "over", message: "The connection was lost while you decided, and the hub says now" };
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
