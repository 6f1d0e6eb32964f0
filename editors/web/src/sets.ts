// Deciding a change set at once. It asks first, is bound to the revisions that were fetched for the question, and says
// what came of each file. What has the person's own choice in it, or cannot be looked at, is left for her.

import type { Decision } from "../../protocol";
import type { Deciding } from "./deciding";
import type { Connection } from "./connection";
import { button, disable, element, say } from "./dom";
import type { Notices } from "./notices";
import type { Places } from "./places";
import { isHersToFinish, isOversized, isWaiting, seenIn, type Entry, type Seen } from "./reviews";
import { Steady } from "./steady";
import { visible } from "./visible";
import { count } from "./wording";
import { needsWriting } from "./writing";

export interface SetDeciding {
  readonly connection: Connection;
  readonly deciding: Deciding;
  readonly places: Places;
  readonly notices: Notices;
  /** What the open review holds of the person's choice right now. */
  keepDraft(): void;
}

interface Question {
  accept: boolean;
  /** With what was fetched for it. */
  files: Map<Entry, Seen>;
  loaded: boolean;
}

export class SetHeader {
  readonly root: HTMLElement;
  readonly #means: SetDeciding;
  readonly #title = element("span", { class: "set-title" });
  readonly #accept: HTMLButtonElement;
  readonly #reject: HTMLButtonElement;
  readonly #choices: HTMLElement;
  readonly #asked = element("div", { class: "set-question", role: "group", hidden: true });
  readonly #words = element("p");
  readonly #confirm: HTMLButtonElement;
  readonly #outcome = element("p", { class: "set-outcome", "data-outcome": true, hidden: true });
  readonly #steady = new Steady();
  #entries: Entry[] = [];
  #question: Question | null = null;

  constructor(set: string, means: SetDeciding) {
    this.#means = means;
    this.#accept = button("accept-set", ["Accept all"], () => void this.#ask(true), { class: "small" });
    this.#reject = button("reject-set", ["Reject all"], () => void this.#ask(false), { class: "small" });
    this.#choices = element("span", { class: "set-choices" }, this.#accept, this.#reject);
    this.#confirm = button("confirm-set", [""], () => void this.#answer(), { class: "small" });
    const cancel = button("cancel-set", ["Cancel"], () => this.#close(true), { class: "small" });
    this.#asked.append(this.#words, element("span", { class: "set-choices" }, this.#confirm, cancel));
    this.#asked.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        this.#close(true);
      }
    });
    const line = element("div", { class: "set-line" }, this.#title, this.#choices);
    this.root = element("div", { class: "set-header", "data-set": set }, line, this.#asked, this.#outcome);
  }

  paint(entries: readonly Entry[]): void {
    this.#entries = [...entries];
    const waiting = entries.filter(isWaiting).length;
    const [first] = entries;
    const agent = first === undefined ? "" : visible(first.summary.agent);
    say(this.#title, `Set of ${count(entries.length, "file")}`);
    this.#title.title = `From ${agent}`;
    const idle = waiting === 0 || this.#question !== null;
    this.#choices.hidden = waiting === 0;
    disable(this.#accept, idle);
    disable(this.#reject, idle);
    for (const made of [this.#accept, this.#reject]) {
      made.setAttribute("aria-label", `${made.textContent} ${count(waiting, "file")} of this set`);
    }
    this.#look();
  }

  async #ask(accept: boolean): Promise<void> {
    this.#means.keepDraft();
    const waiting = this.#entries.filter(isWaiting);
    const own = waiting.filter((entry) => isHersToFinish(entry, accept));
    const large = waiting.filter((entry) => isOversized(entry) && !own.includes(entry));
    const gone = waiting.filter((entry) => accept && needsWriting(entry) && !own.includes(entry) && !large.includes(entry));
    const left = new Set([...own, ...large, ...gone]);
    const files = waiting.filter((entry) => !left.has(entry));
    const question: Question = { accept, files: new Map(), loaded: false };
    this.#question = question;
    this.#outcome.hidden = true;
    this.#asked.hidden = false;
    this.#asked.setAttribute("aria-label", accept ? "Accept the whole set?" : "Reject the whole set?");
    say(this.#confirm, accept ? `Accept ${count(files.length, "file")}` : `Reject ${count(files.length, "file")}`);
    this.#confirm.className = accept ? "small accept" : "small reject";
    disable(this.#confirm, true);
    say(this.#words, "Looking at each file…");
    this.paint(this.#entries);
    try {
      for (const entry of files) {
        const { shown } = await this.#means.connection.review(entry.summary);
        question.files.set(entry, seenIn(shown));
        entry.revision = shown.revision;
      }
    } catch (error) {
      if (this.#question === question) {
        this.#close(false);
        this.#means.notices.fail(`Nothing is decided: ${error instanceof Error ? visible(error.message) : "no answer"}`);
      }
      return;
    }
    if (this.#question !== question) {
      return;
    }
    question.loaded = true;
    const notes = [
      own.length > 0 ? `${this.#names(own)} has your own choice or comments in it and is left for you.` : "",
      large.length > 0 ? `${this.#names(large)} is too large for this page and is left for you.` : "",
      gone.length > 0 ? `The agent of ${this.#names(gone)} no longer waits: open it to write it here.` : "",
    ];
    const these = files.length === 1 ? "this file" : `these ${files.length} files`;
    const ask = accept ? `Accept every hunk of ${these}?` : `Reject ${these}?`;
    say(this.#words, [files.length > 0 ? ask : "Nothing is left to decide together.", ...notes].filter(Boolean).join(" "));
    disable(this.#confirm, files.length === 0);
    this.#steady.touch();
    this.#means.notices.announce(this.#words.textContent ?? "");
    // Only if she is still here.
    if (this.root.contains(document.activeElement)) {
      this.#confirm.focus({ preventScroll: true });
    }
  }

  /** What was asked about is what will be decided: if a file changes meanwhile, it is asked anew. */
  #look(): void {
    const question = this.#question;
    if (question === null || !question.loaded) {
      return;
    }
    const isOther = (entry: Entry): boolean => !isWaiting(entry) || (question.accept && needsWriting(entry));
    const moved = [...question.files].some(([entry, seen]) => isOther(entry) || entry.revision !== seen.revision);
    if (moved) {
      this.#means.notices.tell("The set changed while you were asked: look again.");
      void this.#ask(question.accept);
    }
  }

  async #answer(): Promise<void> {
    const question = this.#question;
    if (question === null || !question.loaded) {
      return;
    }
    if (!this.#steady.wasSeen()) {
      this.#means.notices.tell("That press was ignored: the question had only just appeared.");
      return;
    }
    this.#means.keepDraft();
    if ([...question.files.keys()].some((entry) => isHersToFinish(entry, question.accept))) {
      this.#means.notices.tell("You chose in a file of the set while you were asked: look again.");
      void this.#ask(question.accept);
      return;
    }
    this.#close(true);
    const verdict: Decision["verdict"] = question.accept ? { kind: "accept" } : { kind: "reject" };
    const decided = [...question.files].map(async ([entry, seen]) => {
      const decision: Decision = { verdict, comments: entry.work?.draft.comments ?? [] };
      const answer = await this.#means.deciding.decide(entry, seen, decision);
      return { entry, answer };
    });
    const results = await Promise.all(decided);
    const taken = results.filter(({ answer }) => answer.kind === "taken").length;
    const words = [taken > 0 ? `${count(taken, "file")} ${question.accept ? "accepted" : "rejected"}.` : ""];
    for (const { entry, answer } of results) {
      if (answer.kind !== "taken") {
        const how = answer.kind === "over" ? `: ${entry.how}.` : "";
        words.push(`${this.#names([entry])}: ${answer.message}${how}`);
      }
    }
    say(this.#outcome, words.filter(Boolean).join(" "));
    this.#outcome.hidden = false;
    this.#outcome.classList.toggle("bad", taken < results.length);
    this.#means.notices.announce(this.#outcome.textContent ?? "");
  }

  #close(keepFocus: boolean): void {
    const had = this.#asked.contains(document.activeElement);
    const accept = this.#question?.accept ?? true;
    this.#question = null;
    this.#asked.hidden = true;
    this.paint(this.#entries);
    if (had && keepFocus) {
      (accept ? this.#accept : this.#reject).focus({ preventScroll: true });
    }
  }

  #names(entries: readonly Entry[]): string {
    return entries.map((entry) => this.#means.places.of(entry.summary).whole).join(", ");
  }
}
