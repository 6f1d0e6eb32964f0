// The review that is open. It opens what the person chose and nothing else, follows it through newer revisions with her
// draft in hand, and carries out what she decides on it.

import { ERRORS, type Decision, type ReviewShow, type Verdict } from "../../protocol";
import { Article } from "./article";
import type { Connection } from "./connection";
import type { Answer, Deciding } from "./deciding";
import { DecisionBar } from "./decision_bar";
import type { DiffView, Draft } from "./diff/view";
import { loadDiff, nonce } from "./diff_loader";
import { element } from "./dom";
import { fittingLayout, wishLayout } from "./layout";
import type { Notices } from "./notices";
import { offerOf, whyNotAccept, type Sight } from "./offers";
import { oversizedWords } from "./oversized";
import type { Places } from "./places";
import { isOversized, type Entry, type Reviews } from "./reviews";
import { HubError, Lost } from "./socket";
import { MOMENT_MS, Steady } from "./steady";
import { visible } from "./visible";
import { capital, count } from "./wording";

export interface Surroundings {
  readonly reviews: Reviews;
  readonly places: Places;
  readonly connection: Connection;
  readonly deciding: Deciding;
  readonly notices: Notices;
  /** Where the open review is put. */
  readonly stage: HTMLElement;
  back(): void;
  next(): void;
}

export class Opened {
  readonly entry: Entry;
  readonly #around: Surroundings;
  readonly #article: Article;
  readonly #bar: DecisionBar;
  readonly #steady = new Steady();
  readonly #resized: ResizeObserver;
  #view: DiffView | null = null;
  #shown: ReviewShow | null = null;
  /** A newer one that waits until the person is done with what she writes, or says which text she wants. */
  #newer: ReviewShow | null = null;
  #fetching = false;
  #gone = false;
  #moment: ReturnType<typeof setTimeout> | undefined;
  /** The diff takes no more choices. */
  #closed = false;
  #painting: ReturnType<typeof setTimeout> | undefined;
  /** Said before what changed, if a decision met it. */
  #undecided = "";
  /** What is said of a decision that came too late. */
  #late = "";

  constructor(entry: Entry, around: Surroundings) {
    this.entry = entry;
    this.#around = around;
    this.#bar = new DecisionBar(entry, {
      accept: () => this.accept(),
      acceptAnyway: () => void this.#decide({ kind: "accept" }),
      reject: () => this.reject(),
      next: () => this.#steadily(() => around.next()),
    });
    this.#article = new Article(entry, around.places, {
      back: () => around.back(),
      previousChange: () => this.#view?.previousChange(),
      nextChange: () => this.#view?.nextChange(),
      toggleLayout: () => this.toggleLayout(),
      comment: () => this.comment(),
      edit: () => this.edit(),
      discardEdit: () => this.#discardEdit(),
    }, this.#bar.root);
    this.#resized = new ResizeObserver(() => this.#fitLayout());
    this.#resized.observe(this.#article.diff);
    around.stage.replaceChildren(this.#article.root);
    if (isOversized(entry)) {
      this.#article.setRevision(entry.revision);
      this.#article.instead(...oversizedWords(entry));
    } else {
      this.#article.instead(element("p", { class: "loading" }, "Loading…"));
      void this.fetch();
    }
    this.#touch();
    this.paint();
  }

  get article(): Article {
    return this.#article;
  }

  get bar(): DecisionBar {
    return this.#bar;
  }

  get view(): DiffView | null {
    return this.#view;
  }

  /** Keeps what she did, for when she comes back to it. */
  keepDraft(): void {
    if (this.#view !== null && this.entry.state === "pending") {
      this.entry.draft = this.#view.draft();
    }
  }

  close(): void {
    this.keepDraft();
    this.#gone = true;
    clearTimeout(this.#moment);
    this.#resized.disconnect();
    this.#view?.destroy();
    this.#article.root.remove();
  }

  /** The model changed, or the connection came back: is what is shown still the newest? */
  changed(): void {
    const { entry } = this;
    const known = this.#newer ?? this.#shown;
    if (entry.state === "pending" && known !== null && entry.revision !== undefined && entry.revision > known.revision) {
      void this.fetch();
    }
    this.paint();
  }

  async fetch(): Promise<void> {
    if (this.#fetching || isOversized(this.entry)) {
      return;
    }
    this.#fetching = true;
    try {
      const open = loadDiff();
      const { shown } = await this.#around.connection.request("reviews/get", { review: this.entry.id });
      await open;
      if (!this.#gone) {
        await this.#got(shown);
      }
    } catch (error) {
      if (!this.#gone) {
        await this.#notGot(error);
      }
    } finally {
      this.#fetching = false;
    }
    if (!this.#gone) {
      this.changed();
    }
  }

  async #got(shown: ReviewShow): Promise<void> {
    const { entry } = this;
    entry.revision = Math.max(entry.revision ?? 0, shown.revision);
    const before = this.#shown;
    if (before === null) {
      await this.#mount(shown, entry.draft);
      return;
    }
    if (before.revision === shown.revision && before.base === shown.base && before.proposed === shown.proposed) {
      return;
    }
    const writes = this.#article.diff.querySelector<HTMLTextAreaElement>("[data-field=comment]");
    const draft = this.#view?.draft();
    this.#newer = shown;
    this.#article.setRevision(shown.revision);
    this.#touch();
    if (draft?.text === shown.proposed) {
      // The hub took her text along.
      await this.#renew({ left: [], comments: draft.comments });
    } else if (draft?.text !== undefined) {
      this.#article.notice("The change is another one since you edited it. Your text is untouched: which one do you want to go on with?", [
        { action: "keep-text", label: "Keep my text", press: () => void this.#renew(draft) },
        { action: "show-proposal", label: "Show the new proposal", press: () => void this.#renew({ left: [], comments: draft.comments }) },
      ]);
    } else if (writes !== null && writes.value.trim() !== "") {
      this.#article.notice("There is a newer version of this change. It is shown when your comment is saved or closed.", [
        { action: "show-proposal", label: "Show it now", press: () => void this.#renew(draft) },
      ]);
    } else {
      await this.#renew(draft);
    }
    this.#around.notices.announce("This review changed: look again before you decide.");
  }

  /** Shows the newer revision, with what still fits of the draft. */
  async #renew(draft: Draft | undefined): Promise<void> {
    const newer = this.#newer;
    const before = this.#shown;
    if (newer === null) {
      return;
    }
    this.#newer = null;
    const there = new Set(newer.hunks.map((hunk) => hunk.id));
    const fits = draft && { ...draft, left: draft.left.filter((hunk) => there.has(hunk)) };
    await this.#mount(newer, fits);
    const conflicts = newer.conflicts.length;
    const moved = before?.base !== newer.base;
    const why = conflicts > 0
      ? `The file changed meanwhile, with ${count(conflicts, "conflict")} to look at.`
      : moved ? "The file changed meanwhile, and the change was fitted to it." : "The proposed text was edited elsewhere.";
    this.#article.notice(`${this.#undecided}${why} Look again before you decide.`);
    this.#undecided = "";
  }

  async #mount(shown: ReviewShow, draft: Draft | undefined): Promise<void> {
    const openDiff = await loadDiff();
    const { diff } = this.#article;
    const hadFocus = diff.contains(document.activeElement);
    const top = diff.firstElementChild?.scrollTop ?? 0;
    this.#view?.destroy();
    diff.replaceChildren();
    this.#shown = shown;
    this.entry.shown = shown;
    const readOnly = this.entry.state !== "pending";
    this.#closed = readOnly;
    this.#view = openDiff(diff, shown, {
      layout: fittingLayout(diff.clientWidth),
      nonce: nonce(),
      readOnly,
      ...(draft === undefined ? {} : { draft }),
      changed: () => this.#draftChanged(),
      announce: this.#around.notices.announce,
    });
    diff.firstElementChild?.scrollTo(0, top);
    if (hadFocus) {
      this.#view.focus();
    }
    this.#article.setRevision(shown.revision);
    this.#article.paintMeta(this.entry, shown);
    this.#touch();
    this.paint();
  }

  async #notGot(error: unknown): Promise<void> {
    if (error instanceof Lost) {
      void this.#around.connection.connected().then(() => (this.#gone ? undefined : this.fetch()));
      return;
    }
    if (error instanceof HubError && error.code === ERRORS.UNKNOWN_REVIEW) {
      await this.#around.deciding.past(this.entry).catch(() => undefined);
      if (this.#shown === null && this.entry.shown !== undefined) {
        await this.#mount(this.entry.shown, this.entry.draft);
      } else if (this.#shown === null) {
        this.#article.instead(element("p", {}, "It is over, and the hub keeps its text no longer."));
      }
      return;
    }
    const why = error instanceof HubError ? visible(error.message) : "The diff could not be loaded.";
    this.#article.instead(element("p", {}, why));
    this.#around.notices.fail(`${this.#name()}: ${why}`);
  }

  #draftChanged(): void {
    const writes = this.#article.diff.querySelector("[data-field=comment]") !== null;
    if (this.#newer !== null && !writes && this.#view?.draft().text === undefined) {
      void this.#renew(this.#view?.draft());
    }
    // Each key in a large text would cost a look at all of it.
    this.#painting ??= setTimeout(() => {
      this.#painting = undefined;
      this.paint();
    }, 40);
  }

  toggleLayout(): void {
    if (this.#view === null) {
      return;
    }
    const layout = this.#view.layout() === "split" ? "unified" : "split";
    wishLayout(layout, this.#article.diff.clientWidth);
    this.#fitLayout();
    this.#around.notices.announce(layout === "split" ? "Side by side" : "Unified");
  }

  comment(): void {
    if (this.entry.state === "pending") {
      this.#view?.commentHere();
    }
  }

  toggleHunk(): void {
    if (this.entry.state === "pending") {
      this.#view?.toggleHunk();
    }
  }

  edit(): void {
    if (this.entry.state === "pending" && this.#view !== null && this.#newer === null) {
      this.#view.startEditing();
      this.paint();
    }
  }

  #discardEdit(): void {
    const aside = this.#view?.draft();
    const shown = this.#shown;
    if (aside === undefined || shown === null || this.#newer !== null) {
      return;
    }
    this.#view?.discardEdits();
    this.paint();
    if (aside.text !== undefined && aside.text !== shown.proposed) {
      const bringBack = (): void => {
        if (this.#shown === shown) {
          this.#article.notice(null);
          void this.#mount(shown, aside);
        }
      };
      this.#article.notice("Your text is set aside.", [
        { action: "restore-edit", label: "Bring it back", press: bringBack },
        { action: "forget-edit", label: "Forget it", press: () => this.#article.notice(null) },
      ]);
    }
  }

  accept(): void {
    const why = whyNotAccept(this.#sight());
    if (why !== undefined) {
      this.#around.notices.tell(why);
    } else if (isOversized(this.entry)) {
      this.#steadily(() => {
        this.#bar.askWhetherSure(true);
        this.#touch();
      });
    } else {
      const verdict = this.#view?.verdict();
      if (verdict == null) {
        this.#around.notices.tell("Your text is what the file holds already: nothing would change. Reject the change instead.");
      } else {
        void this.#decide(verdict);
      }
    }
  }

  reject(): void {
    const reason = this.#bar.reason.value.trim();
    void this.#decide(reason === "" ? { kind: "reject" } : { kind: "reject", reason });
  }

  async #decide(verdict: Verdict): Promise<void> {
    const { entry } = this;
    if (entry.state !== "pending" || entry.sending || (this.#shown === null && !isOversized(entry))) {
      return;
    }
    let seen = false;
    this.#steadily(() => (seen = true));
    if (!seen) {
      return;
    }
    const decision: Decision = { verdict, comments: this.#view?.draft().comments ?? [] };
    const revision = this.#newer?.revision ?? this.#shown?.revision ?? entry.revision;
    this.keepDraft();
    this.#bar.askWhetherSure(false);
    this.#article.notice(null);
    this.#touch();
    this.#heard(await this.#around.deciding.decide(entry, revision, decision));
  }

  #heard(answer: Answer): void {
    const { notices } = this.#around;
    if (answer.kind === "taken") {
      notices.announce(`${capital(this.entry.how)}: ${this.#name()}`);
    } else if (answer.kind === "over") {
      this.#late = answer.message;
      const words = `${answer.message}: ${this.entry.how}.`;
      if (this.#gone) {
        notices.fail(`${this.#name()}: ${words}`);
      } else {
        notices.announce(words);
      }
    } else if (this.#gone) {
      notices.fail(`${this.#name()}: ${answer.message}`);
    } else {
      this.#undecided = "Nothing is decided yet. ";
      this.#article.notice(answer.message);
      notices.announce(answer.message);
      void this.fetch();
    }
    if (!this.#gone) {
      this.#touch();
      this.paint();
    }
  }

  /** Does it, if what it is about has been on the screen for a moment. */
  #steadily(act: () => void): void {
    if (this.#steady.wasSeen()) {
      act();
    } else {
      this.#around.notices.tell("That press was ignored: this had only just appeared. Look, then press again.");
    }
  }

  #touch(): void {
    this.#steady.touch();
    this.#article.setSteady(false);
    clearTimeout(this.#moment);
    this.#moment = setTimeout(() => this.#article.setSteady(true), MOMENT_MS);
  }

  #fitLayout(): void {
    const layout = fittingLayout(this.#article.diff.clientWidth);
    if (this.#view !== null && this.#view.layout() !== layout) {
      this.#view.setLayout(layout);
      this.paint();
    }
  }

  paint(): void {
    const { entry } = this;
    const readOnly = entry.state !== "pending";
    if (readOnly && !this.#closed) {
      this.#view?.setReadOnly();
      this.#closed = this.#view !== null;
    }
    this.#article.paintMeta(entry, this.#shown ?? undefined);
    const layout = this.#view?.layout() ?? "unified";
    this.#article.paintTools(this.#view !== null, layout, this.#view?.isEditing() ?? false, readOnly || entry.sending);
    const before = this.#article.root.dataset["state"];
    const state = entry.sending ? "sending" : entry.state;
    if (before !== state) {
      this.#article.root.dataset["state"] = state;
      this.#touch();
    }
    this.#bar.offer(offerOf(this.#sight()), entry.decidedHere || entry.sending);
  }

  #sight(): Sight {
    return {
      entry: this.entry,
      shown: this.#shown,
      view: this.#view,
      isChoosing: this.#newer !== null,
      isConnected: this.#around.connection.state === "connected",
      late: this.#late,
      hasNext: this.#around.reviews.nextWaiting(this.entry.id) !== undefined,
    };
  }

  #name(): string {
    return this.#around.places.of(this.entry.summary).whole;
  }
}
