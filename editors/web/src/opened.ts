// The review that is open: its frame, what it shows, and carrying out what the person decides on it.

import type { Decision, Verdict } from "../../protocol";
import { Article } from "./article";
import type { Answer } from "./deciding";
import { DecisionBar } from "./decision_bar";
import type { DiffView } from "./diff/view";
import { Looking, type Means } from "./looking";
import { offerOf, whyNotAccept, type Sight } from "./offers";
import type { Places } from "./places";
import { isOversized, isWaiting, type Entry, type Reviews } from "./reviews";
import { MOMENT_MS, Steady } from "./steady";
import { capital } from "./wording";
import { howItEnded, needsWriting } from "./writing";

export interface Surroundings extends Means {
  readonly reviews: Reviews;
  readonly places: Places;
  /** Where the open review is put. */
  readonly stage: HTMLElement;
  back(): void;
  next(): void;
}

export class Opened {
  readonly entry: Entry;
  readonly article: Article;
  readonly bar: DecisionBar;
  readonly #around: Surroundings;
  readonly #steady = new Steady();
  readonly #looking: Looking;
  #moment: ReturnType<typeof setTimeout> | undefined;
  #gone = false;
  /** Accepting makes Linkspan write the file. */
  #writesHere = false;
  /** What is said of a decision that came too late. */
  #late = "";

  constructor(entry: Entry, around: Surroundings) {
    this.entry = entry;
    this.#around = around;
    this.bar = new DecisionBar(entry, {
      accept: () => this.accept(),
      acceptAnyway: () => void this.#decide({ kind: "accept" }),
      reject: () => this.#reject(),
      next: () => this.#seen() && around.next(),
    });
    const tools = {
      back: () => around.back(),
      previousChange: () => this.view?.previousChange(),
      nextChange: () => this.view?.nextChange(),
      toggleLayout: () => this.toggleLayout(),
      find: () => this.view?.find(),
      comment: () => this.comment(),
      edit: () => this.edit(),
      discardEdit: () => this.#looking.discardEdit(),
    };
    this.article = new Article(entry, around.places, tools, this.bar.root);
    around.stage.replaceChildren(this.article.root);
    const touched = (): void => {
      // A question is about what was there when it was asked.
      this.bar.askWhetherSure(false);
      this.#touch();
    };
    this.#looking = new Looking(entry, this.article, around, { touched, changed: () => this.paint() });
    this.#touch();
    this.paint();
  }

  get view(): DiffView | null {
    return this.#looking.view;
  }

  keepDraft(): void {
    this.#looking.keepDraft();
  }

  close(): void {
    this.#gone = true;
    clearTimeout(this.#moment);
    this.#looking.close();
    this.article.root.remove();
  }

  /** The model changed. */
  changed(): void {
    this.#looking.check();
    this.paint();
  }

  /** It may be another one by now. */
  refresh(): void {
    this.#looking.refresh();
  }

  toggleLayout(): void {
    this.#looking.toggleLayout();
  }

  comment(): void {
    if (isWaiting(this.entry)) {
      this.view?.commentHere();
    }
  }

  toggleHunk(): void {
    if (isWaiting(this.entry)) {
      this.view?.toggleHunk();
    }
  }

  edit(): void {
    this.#looking.edit();
  }

  accept(): void {
    const why = whyNotAccept(this.#sight());
    if (why !== undefined) {
      this.#around.notices.tell(why);
    } else if (isOversized(this.entry)) {
      if (this.#seen()) {
        this.bar.askWhetherSure(true);
        this.#touch();
      }
    } else {
      const verdict = this.view?.verdict() ?? null;
      if (verdict === null) {
        this.#around.notices.tell("Your text is what the file holds already: nothing would change. Reject the change instead.");
      } else {
        void this.#decide(verdict);
      }
    }
  }

  #reject(): void {
    const reason = this.bar.reason.value.trim();
    void this.#decide(reason === "" ? { kind: "reject" } : { kind: "reject", reason });
  }

  async #decide(verdict: Verdict): Promise<void> {
    const { entry } = this;
    const { seen } = this.#looking;
    if (!isWaiting(entry) || seen === null) {
      return;
    }
    if (this.#looking.isChoosing) {
      this.#around.notices.tell("It changed: choose above first.");
      return;
    }
    if (!this.#seen()) {
      return;
    }
    this.keepDraft();
    const said = verdict.kind === "reject" ? this.view?.commentsOnProposal() : this.view?.draft().comments;
    const decision: Decision = { verdict, comments: said ?? [] };
    if (verdict.kind !== "reject" && needsWriting(entry)) {
      // The button says so.
      decision.writeHere = true;
    }
    // On its way before anything is painted: the agent waits.
    const answer = this.#around.deciding.decide(entry, seen, decision);
    this.bar.askWhetherSure(false);
    this.article.notice(null);
    this.#heard(await answer);
  }

  #heard(answer: Answer): void {
    const { notices } = this.#around;
    const name = this.#around.places.of(this.entry.summary).whole;
    let words = `${capital(howItEnded(this.entry))}: ${name}`;
    if (answer.kind === "over") {
      this.#late = answer.message;
      words = `${name}: ${answer.message}: ${this.entry.how}.`;
    } else if (answer.kind === "again") {
      words = `${name}: ${answer.message}`;
    }
    if (this.#gone && answer.kind !== "taken") {
      notices.fail(words);
    } else {
      notices.announce(words);
    }
    if (!this.#gone) {
      if (answer.kind === "again") {
        this.article.notice(answer.message);
        this.#looking.lookAgain();
      }
      this.#touch();
      this.paint();
    }
  }

  /** Whether what is decided on has been on the screen for a moment; says so if not. */
  #seen(): boolean {
    const seen = this.#steady.wasSeen();
    if (!seen) {
      this.#around.notices.tell("That press was ignored: this had only just appeared. Look, then press again.");
    }
    return seen;
  }

  #touch(): void {
    this.#steady.touch();
    this.article.setSteady(false);
    clearTimeout(this.#moment);
    this.#moment = setTimeout(() => this.article.setSteady(true), MOMENT_MS);
  }

  paint(): void {
    const { entry, view } = this;
    this.article.paintMeta(entry, this.#looking.shown ?? undefined);
    const readOnly = !isWaiting(entry) || this.#looking.isChoosing;
    this.article.paintTools(view !== null, view?.layout() ?? "unified", view?.isEditing() ?? false, readOnly);
    const isOtherState = this.article.setState(entry.sending ? "sending" : entry.state);
    const isOtherWriter = needsWriting(entry) !== this.#writesHere;
    this.#writesHere = needsWriting(entry);
    if (isOtherWriter) {
      // The same button does something else from now on.
      this.bar.askWhetherSure(false);
    }
    if (isOtherState || isOtherWriter) {
      this.#touch();
    }
    this.bar.offer(offerOf(this.#sight()), entry.decidedHere || entry.sending);
  }

  #sight(): Sight {
    return {
      entry: this.entry,
      shown: this.#looking.shown,
      view: this.view,
      isChoosing: this.#looking.isChoosing,
      isConnected: this.#around.connection.state === "connected",
      late: this.#late,
      hasNext: this.#around.reviews.nextWaiting(this.entry.id) !== undefined,
    };
  }
}
