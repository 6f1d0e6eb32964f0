// Decides a whole change set. Asks for confirmation first, is bound to the revisions fetched for that, and reports the
// outcome of each file. Files with the user's own choices, or too large to show, are left for a decision of their own.

import type { Decision } from "../../../protocol";
import type { DecisionSender } from "../decision/decision_sender";
import type { Connection } from "../connection/connection";
import { button, disable, element, setText } from "../shell/dom";
import type { Notices } from "../shell/notices";
import type { FileNames } from "../shell/file_names";
import { needsOwnDecision, isOversized, isWaiting, stateOf, type Entry, type ShownState } from "./reviews";
import { MisclickGuard } from "../decision/misclick_guard";
import { visible } from "../shell/visible";
import { count } from "../shell/labels";
import { needsWriting } from "../decision/file_write";

export interface SetDependencies {
  readonly connection: Connection;
  readonly deciding: DecisionSender;
  readonly fileNames: FileNames;
  readonly notices: Notices;
  /** Stores the open review's current draft. */
  keepDraft(): void;
}

interface Question {
  accept: boolean;
  /** With the state that was fetched for the confirmation. */
  files: Map<Entry, ShownState>;
  loaded: boolean;
}

export class SetHeader {
  readonly root: HTMLElement;
  readonly #deps: SetDependencies;
  readonly #title = element("span", { class: "set-title" });
  readonly #accept: HTMLButtonElement;
  readonly #reject: HTMLButtonElement;
  readonly #choices: HTMLElement;
  readonly #asked = element("div", { class: "set-question", role: "group", hidden: true });
  readonly #words = element("p");
  readonly #confirm: HTMLButtonElement;
  readonly #outcome = element("p", { class: "set-outcome", "data-outcome": true, hidden: true });
  readonly #guard = new MisclickGuard();
  #entries: Entry[] = [];
  #question: Question | null = null;

  constructor(set: string, means: SetDependencies) {
    this.#deps = means;
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
    setText(this.#title, `Set of ${count(entries.length, "file")}`);
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
    this.#deps.keepDraft();
    const waiting = this.#entries.filter(isWaiting);
    const own = waiting.filter((entry) => needsOwnDecision(entry, accept));
    const large = waiting.filter((entry) => isOversized(entry) && !own.includes(entry));
    const gone = waiting.filter((entry) => accept && needsWriting(entry) && !own.includes(entry) && !large.includes(entry));
    const left = new Set([...own, ...large, ...gone]);
    const files = waiting.filter((entry) => !left.has(entry));
    const question: Question = { accept, files: new Map(), loaded: false };
    this.#question = question;
    this.#outcome.hidden = true;
    this.#asked.hidden = false;
    this.#asked.setAttribute("aria-label", accept ? "Accept the whole set?" : "Reject the whole set?");
    setText(this.#confirm, accept ? `Accept ${count(files.length, "file")}` : `Reject ${count(files.length, "file")}`);
    this.#confirm.className = accept ? "small accept" : "small reject";
    disable(this.#confirm, true);
    setText(this.#words, "Checking each file…");
    this.paint(this.#entries);
    try {
      for (const entry of files) {
        const { shown } = await this.#deps.connection.review(entry.summary);
        question.files.set(entry, stateOf(shown));
        entry.revision = shown.revision;
      }
    } catch (error) {
      if (this.#question === question) {
        this.#close(false);
        this.#deps.notices.error(`Not submitted: ${error instanceof Error ? visible(error.message) : "no response"}`);
      }
      return;
    }
    if (this.#question !== question) {
      return;
    }
    question.loaded = true;
    const notes = [
      own.length > 0 ? `Skipped because of your own choices or comments: ${this.#names(own)}.` : "",
      large.length > 0 ? `Skipped because it is too large for this page: ${this.#names(large)}.` : "",
      gone.length > 0 ? `Skipped because the agent no longer waits: ${this.#names(gone)}. Open it to let Linkspan write the file.` : "",
    ];
    const these = files.length === 1 ? "this file" : `these ${files.length} files`;
    const ask = accept ? `Accept every hunk of ${these}?` : `Reject ${these}?`;
    setText(this.#words, [files.length > 0 ? ask : "No file is left to decide together.", ...notes].filter(Boolean).join(" "));
    disable(this.#confirm, files.length === 0);
    this.#guard.touch();
    this.#deps.notices.announce(this.#words.textContent ?? "");
    // Only if the focus is still here.
    if (this.root.contains(document.activeElement)) {
      this.#confirm.focus({ preventScroll: true });
    }
  }

  /** The confirmation covers exactly what it showed: if a file changes in the meantime, ask again. */
  #look(): void {
    const question = this.#question;
    if (question === null || !question.loaded) {
      return;
    }
    const isOther = (entry: Entry): boolean => !isWaiting(entry) || (question.accept && needsWriting(entry));
    const moved = [...question.files].some(([entry, seen]) => isOther(entry) || entry.revision !== seen.revision);
    if (moved) {
      this.#deps.notices.show("The set changed before you confirmed. Check it again.");
      void this.#ask(question.accept);
    }
  }

  async #answer(): Promise<void> {
    const question = this.#question;
    if (question === null || !question.loaded) {
      return;
    }
    if (!this.#guard.wasSeen()) {
      this.#deps.notices.show("Ignored: the confirmation had only just appeared.");
      return;
    }
    this.#deps.keepDraft();
    if ([...question.files.keys()].some((entry) => needsOwnDecision(entry, question.accept))) {
      this.#deps.notices.show("You changed a file of the set before you confirmed. Check it again.");
      void this.#ask(question.accept);
      return;
    }
    this.#close(true);
    const verdict: Decision["verdict"] = question.accept ? { kind: "accept" } : { kind: "reject" };
    const decided = [...question.files].map(async ([entry, seen]) => {
      const decision: Decision = { verdict, comments: entry.work?.draft.comments ?? [] };
      const answer = await this.#deps.deciding.decide(entry, seen, decision);
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
    setText(this.#outcome, words.filter(Boolean).join(" "));
    this.#outcome.hidden = false;
    this.#outcome.classList.toggle("bad", taken < results.length);
    this.#deps.notices.announce(this.#outcome.textContent ?? "");
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
    return entries.map((entry) => this.#deps.fileNames.of(entry.summary).whole).join(", ");
  }
}
