// What the open review shows: fetches it, and follows it through newer revisions with the person's draft in hand. It
// decides nothing.

import type { ReviewShow } from "../../protocol";
import type { Article } from "./article";
import { Aside } from "./aside";
import type { Connection } from "./connection";
import type { Deciding } from "./deciding";
import type { DiffView, Draft, OpenDiff } from "./diff/view";
import { loadDiff } from "./diff_loader";
import { button, element } from "./dom";
import { fetchReview } from "./fetching";
import { nextStep } from "./following";
import { Meeting } from "./meeting";
import type { Notices } from "./notices";
import { oversizedWords } from "./oversized";
import { isOversized, isSame, isWaiting, listed, seenIn, type Entry, type Seen } from "./reviews";
import { Showing } from "./showing";

export interface Means {
  readonly connection: Connection;
  readonly deciding: Deciding;
  readonly notices: Notices;
}

export class Looking {
  readonly #entry: Entry;
  readonly #article: Article;
  readonly #means: Means;
  readonly #touched: () => void;
  readonly #changed: () => void;
  readonly #showing: Showing;
  readonly #aside: Aside;
  readonly #meeting: Meeting;
  #openDiff: OpenDiff | null = null;
  /** The revision that is too large, and said to be. */
  #tooLarge: Seen | null = null;
  /** The revision that the hub would not give. */
  #refused: number | null = null;
  #fetching = false;
  #gone = false;

  constructor(entry: Entry, article: Article, means: Means, hears: { touched(): void; changed(): void }) {
    this.#entry = entry;
    this.#article = article;
    this.#means = means;
    this.#touched = hears.touched;
    this.#changed = hears.changed;
    const { announce } = means.notices;
    this.#showing = new Showing(entry, article, { ...hears, announce, draftChanged: () => this.#meeting.draftChanged() });
    this.#aside = new Aside(entry, article, this.#showing, (draft) => {
      if (this.shown !== null) this.#mount(this.shown, draft);
    });
    const mount = (shown: ReviewShow, draft: Draft | undefined): void => this.#mount(shown, draft);
    this.#meeting = new Meeting({ article, showing: this.#showing, aside: this.#aside, mount });
    article.instead(element("p", { class: "loading" }, "Loading…"));
    if (isOversized(entry)) {
      this.#sayTooLarge();
    } else {
      void this.#fetch();
    }
  }

  get view(): DiffView | null {
    return this.#showing.view;
  }

  get shown(): ReviewShow | null {
    return this.#showing.shown;
  }

  /** What is on the screen, and so what a decision is about. */
  get seen(): Seen | null {
    return this.#tooLarge ?? (this.shown === null ? null : seenIn(this.shown));
  }

  /** A newer revision waits for the person's word. */
  get isChoosing(): boolean {
    return this.#meeting.newer !== null;
  }

  keepDraft(): void {
    this.#showing.keepDraft();
  }

  toggleLayout(): void {
    this.#showing.toggleLayout();
  }

  close(): void {
    this.#gone = true;
    this.#showing.close();
  }

  /** The model changed: is what is shown still the newest, and may it still be chosen among? */
  check(): void {
    const fetched = (this.#meeting.newer ?? this.shown)?.revision ?? null;
    const { takesChoices } = this.#showing;
    switch (nextStep(this.#entry, { tooLarge: this.#tooLarge?.revision ?? null, fetched, takesChoices, refused: this.#refused })) {
      case "fetch":
        void this.#fetch();
        break;
      case "close":
        this.#showing.takeNoMoreChoices();
        this.#meeting.drop();
        this.#offerAside();
        break;
      case "reopen":
        if (this.shown !== null) {
          this.#mount(this.shown, this.#draftOn(this.shown));
          this.check();
        }
        break;
      case "sayTooLarge":
        this.#sayTooLarge();
        break;
      case "nothing":
        break;
    }
  }

  /** A decision was not taken, because of what is fetched now. */
  lookAgain(): void {
    this.#meeting.metDecision = true;
    void this.#fetch();
  }

  /** The hub is back, and may say something else of it. */
  refresh(): void {
    this.#refused = null;
    if (isWaiting(this.#entry) || this.seen === null) {
      void this.#fetch();
    }
  }

  async #fetch(): Promise<void> {
    if (this.#fetching || isOversized(this.#entry)) {
      return;
    }
    this.#fetching = true;
    const known = this.#entry.revision;
    const fetched = await fetchReview(this.#means.connection, this.#entry.summary);
    this.#fetching = false;
    if (this.#gone) {
      return;
    }
    if (fetched.kind === "got") {
      const { revision } = this.#entry;
      this.#entry.revision = revision === known ? fetched.shown.revision : Math.max(revision, fetched.shown.revision);
      this.#refused = null;
      this.#openDiff = fetched.openDiff;
      this.#got(fetched.shown);
      // Something may have been told meanwhile.
      this.check();
    } else if (fetched.kind === "forgotten") {
      await this.#forgotten();
    } else if (fetched.kind === "refused") {
      this.#notGot(fetched.why);
    }
    this.#changed();
  }

  #got(shown: ReviewShow): void {
    const { work } = this.#entry;
    if (isOversized(this.#entry)) {
      return;
    }
    if (this.shown === null) {
      if (work === undefined || isSame(work.on, shown) || !isWaiting(this.#entry)) {
        this.#mount(shown, this.#draftOn(shown));
        return;
      }
      // What she did before she left it meets the newer one as if she had stayed.
      this.#mount(work.on, work.draft);
    } else if (!isWaiting(this.#entry)) {
      // What was decided on stays on the screen.
      return;
    } else if (isSame(this.shown, shown)) {
      this.#meeting.metDecision = false;
      return;
    }
    this.#meeting.meet(shown);
    this.#offerAside();
    this.#touched();
    this.#means.notices.announce("This review changed: look again before you decide.");
  }

  #draftOn(shown: ReviewShow): Draft | undefined {
    const { work } = this.#entry;
    return work !== undefined && isSame(work.on, shown) ? work.draft : undefined;
  }

  #mount(shown: ReviewShow, draft: Draft | undefined): void {
    if (this.#openDiff !== null) {
      this.#tooLarge = null;
      this.#showing.put(this.#openDiff, shown, draft);
      this.#offerAside();
    }
  }

  #sayTooLarge(): void {
    this.#showing.remove();
    this.#meeting.drop();
    this.#tooLarge = listed(this.#entry);
    this.#article.setRevision(this.#entry.revision);
    this.#article.notice(null);
    this.#article.instead(...oversizedWords(this.#entry));
    this.#offerAside();
    this.#touched();
  }

  #notGot(why: string): void {
    const again = { action: "fetch-again", label: "Try again", press: () => void this.#fetch() };
    this.#refused = this.#entry.revision;
    if (this.view === null) {
      this.#article.instead(element("p", {}, why), button(again.action, [again.label], again.press));
    } else {
      this.#article.notice(`What is newer cannot be shown: ${why}`, [again]);
    }
    this.#means.notices.fail(why);
  }

  /** It is over: what is left of it is what she did to it. */
  async #forgotten(): Promise<void> {
    await this.#means.deciding.past([this.#entry]).catch(() => undefined);
    this.#openDiff ??= await loadDiff().catch(() => null);
    if (this.#gone || this.shown !== null) {
      return;
    }
    const { work } = this.#entry;
    if (work !== undefined && this.#openDiff !== null) {
      this.#mount(work.on, work.draft);
    } else {
      this.#article.instead(element("p", {}, "It is over, and the hub keeps its text no longer."));
    }
  }

  #mayWrite(): boolean {
    return this.#showing.takesChoices === true && this.#meeting.newer === null;
  }

  edit(): void {
    if (this.#mayWrite()) {
      this.view?.startEditing();
      this.#changed();
    }
  }

  /** Sets her text aside, from where it can be brought back. */
  discardEdit(): void {
    const draft = this.view?.draft();
    if (draft !== undefined && this.#mayWrite()) {
      this.#aside.set(draft);
      this.view?.discardEdits();
      this.#offerAside();
      this.#changed();
    }
  }

  #offerAside(): void {
    this.#aside.offer(this.#mayWrite());
  }
}
