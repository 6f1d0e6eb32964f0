// The open review: its frame, its content, and the user's decision on it.

import type { Decision, Verdict } from "../../../protocol";
import { Article } from "./article";
import type { Answer } from "../decision/decision_sender";
import { DecisionBar } from "../decision/decision_bar";
import type { DiffView } from "../diff/view";
import { ReviewLoader, type ReviewDependencies } from "./review_loader";
import { optionsOf, whyNotAccept, type DecisionContext } from "../decision/decision_options";
import type { OpenConversation } from "./why_proposed";
import type { FileNames } from "../shell/file_names";
import { isOversized, isWaiting, type Entry, type Reviews } from "../list/reviews";
import { SETTLE_MS, MisclickGuard } from "../decision/misclick_guard";
import { capital } from "../shell/labels";
import { howItEnded, needsWriting } from "../decision/file_write";

export interface ReviewAreaDependencies extends ReviewDependencies {
  readonly reviews: Reviews;
  readonly fileNames: FileNames;
  /** The element that holds the open review. */
  readonly stage: HTMLElement;
  back(): void;
  next(): void;
  /** Missing where the conversation is on the screen already. */
  readonly openConversation?: OpenConversation;
}

export class OpenReview {
  readonly entry: Entry;
  readonly article: Article;
  readonly bar: DecisionBar;
  readonly #deps: ReviewAreaDependencies;
  readonly #guard = new MisclickGuard();
  readonly #loader: ReviewLoader;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #gone = false;
  /** Accepting makes Linkspan write the file. */
  #writesHere = false;
  /** The message for a decision that came too late. */
  #late = "";

  constructor(entry: Entry, around: ReviewAreaDependencies) {
    this.entry = entry;
    this.#deps = around;
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
      discardEdit: () => this.#loader.discardEdit(),
    };
    this.article = new Article(entry, around.fileNames, tools, this.bar.root, around.openConversation);
    around.stage.replaceChildren(this.article.root);
    const touched = (): void => {
      // A confirmation covers only what was shown when it was asked.
      this.bar.askWhetherSure(false);
      this.#touch();
    };
    this.#loader = new ReviewLoader(entry, this.article, around, { touched, changed: () => this.paint() });
    this.#touch();
    this.paint();
  }

  get view(): DiffView | null {
    return this.#loader.view;
  }

  keepDraft(): void {
    this.#loader.keepDraft();
  }

  close(): void {
    this.#gone = true;
    clearTimeout(this.#settleTimer);
    this.#loader.close();
    this.article.root.remove();
  }

  /** It moved on the screen: a press that follows may have been meant for what was there before. */
  moved(): void {
    this.#touch();
  }

  /** The model changed. */
  changed(): void {
    this.#loader.check();
    this.paint();
  }

  /** Its state may have changed while disconnected. */
  refresh(): void {
    this.#loader.refresh();
  }

  toggleLayout(): void {
    this.#loader.toggleLayout();
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
    this.#loader.edit();
  }

  accept(): void {
    const why = whyNotAccept(this.#context());
    if (why !== undefined) {
      this.#deps.notices.show(why);
    } else if (isOversized(this.entry)) {
      if (this.#seen()) {
        this.bar.askWhetherSure(true);
        this.#touch();
      }
    } else {
      const verdict = this.view?.verdict() ?? null;
      if (verdict === null) {
        this.#deps.notices.show("Your text equals the current file, so nothing would change. Reject the change instead.");
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
    const { seen } = this.#loader;
    if (!isWaiting(entry) || seen === null) {
      return;
    }
    if (this.#loader.isChoosing) {
      this.#deps.notices.show("The proposal changed: choose above first.");
      return;
    }
    if (!this.#seen()) {
      return;
    }
    this.keepDraft();
    const comments = verdict.kind === "reject" ? this.view?.commentsOnProposal() : this.view?.draft().comments;
    const decision: Decision = { verdict, comments: comments ?? [] };
    if (verdict.kind !== "reject" && needsWriting(entry)) {
      // The button's label says so.
      decision.writeHere = true;
    }
    // Sent before anything is painted: the agent waits.
    const answer = this.#deps.deciding.decide(entry, seen, decision);
    this.bar.askWhetherSure(false);
    this.article.notice(null);
    this.#handleAnswer(await answer);
  }

  #handleAnswer(answer: Answer): void {
    const { notices } = this.#deps;
    const name = this.#deps.fileNames.of(this.entry.summary).whole;
    let words = `${capital(howItEnded(this.entry))}: ${name}`;
    if (answer.kind === "over") {
      this.#late = answer.message;
      words = `${name}: ${answer.message}: ${this.entry.how}.`;
    } else if (answer.kind === "again") {
      words = `${name}: ${answer.message}`;
    }
    if (this.#gone && answer.kind !== "taken") {
      notices.error(words);
    } else {
      notices.announce(words);
    }
    if (!this.#gone) {
      if (answer.kind === "again") {
        this.article.notice(answer.message);
        this.#loader.lookAgain();
      }
      this.#touch();
      this.paint();
    }
  }

  /** Whether the state to decide on was visible long enough; tells the user if not. */
  #seen(): boolean {
    const seen = this.#guard.wasSeen();
    if (!seen) {
      this.#deps.notices.show("Ignored: the change had only just appeared. Check it, then press again.");
    }
    return seen;
  }

  #touch(): void {
    this.#guard.touch();
    this.article.setSteady(false);
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => this.article.setSteady(true), SETTLE_MS);
  }

  paint(): void {
    const { entry, view } = this;
    this.article.paintMeta(entry, this.#loader.shown ?? undefined);
    const readOnly = !isWaiting(entry) || this.#loader.isChoosing;
    this.article.paintTools(view !== null, view?.layout() ?? "unified", view?.isEditing() ?? false, readOnly);
    const isOtherState = this.article.setState(entry.sending ? "sending" : entry.state);
    const isOtherWriter = needsWriting(entry) !== this.#writesHere;
    this.#writesHere = needsWriting(entry);
    if (isOtherWriter) {
      // The same button now does something else.
      this.bar.askWhetherSure(false);
    }
    if (isOtherState || isOtherWriter) {
      this.#touch();
    }
    this.bar.offer(optionsOf(this.#context()), entry.decidedHere || entry.sending);
  }

  #context(): DecisionContext {
    return {
      entry: this.entry,
      shown: this.#loader.shown,
      view: this.view,
      isChoosing: this.#loader.isChoosing,
      isConnected: this.#deps.connection.state === "connected",
      late: this.#late,
      hasNext: this.#deps.reviews.nextWaiting(this.entry.id) !== undefined,
    };
  }
}
