// Fetches the open review and follows it through newer revisions while keeping the user's draft. Decides nothing.

import type { ReviewShow } from "../../../protocol";
import type { Article } from "./article";
import { StashedEdits } from "./stashed_edits";
import type { HubAccess } from "../connection/connection";
import type { DecisionSender } from "../decision/decision_sender";
import type { DiffView, Draft, OpenDiff } from "../diff/view";
import { loadDiff } from "./diff_loader";
import { button, element } from "../shell/dom";
import { fetchReview } from "./review_fetch";
import { nextStep } from "./next_step";
import { RevisionConflict } from "./revision_conflict";
import type { Notices } from "../shell/notices";
import { oversizedText } from "./oversized";
import { isOversized, isSame, isWaiting, listed, stateOf, type Entry, type ShownState } from "../list/reviews";
import { DiffPane } from "./diff_pane";

export interface ReviewDependencies {
  readonly connection: HubAccess;
  readonly deciding: DecisionSender;
  readonly notices: Notices;
}

export class ReviewLoader {
  readonly #entry: Entry;
  readonly #article: Article;
  readonly #deps: ReviewDependencies;
  readonly #touched: () => void;
  readonly #changed: () => void;
  readonly #pane: DiffPane;
  readonly #aside: StashedEdits;
  readonly #conflict: RevisionConflict;
  #openDiff: OpenDiff | null = null;
  /** The oversized state for which the placeholder text is shown. */
  #tooLarge: ShownState | null = null;
  /** The revision that the hub refused to send. */
  #refused: number | null = null;
  #fetching = false;
  #gone = false;

  constructor(entry: Entry, article: Article, means: ReviewDependencies, events: { touched(): void; changed(): void }) {
    this.#entry = entry;
    this.#article = article;
    this.#deps = means;
    this.#touched = events.touched;
    this.#changed = events.changed;
    const { announce } = means.notices;
    this.#pane = new DiffPane(entry, article, { ...events, announce, draftChanged: () => this.#conflict.draftChanged() });
    this.#aside = new StashedEdits(entry, article, this.#pane, (draft) => {
      if (this.shown !== null) this.#mount(this.shown, draft);
    });
    const mount = (shown: ReviewShow, draft: Draft | undefined): void => this.#mount(shown, draft);
    this.#conflict = new RevisionConflict({ article, pane: this.#pane, aside: this.#aside, mount });
    article.instead(element("p", { class: "loading" }, "Loading…"));
    if (isOversized(entry)) {
      this.#sayTooLarge();
    } else {
      void this.#fetch();
    }
  }

  get view(): DiffView | null {
    return this.#pane.view;
  }

  get shown(): ReviewShow | null {
    return this.#pane.shown;
  }

  /** The state on the screen, which a decision is about. */
  get seen(): ShownState | null {
    return this.#tooLarge ?? (this.shown === null ? null : stateOf(this.shown));
  }

  /** A newer revision waits for the user's choice. */
  get isChoosing(): boolean {
    return this.#conflict.newer !== null;
  }

  keepDraft(): void {
    this.#pane.keepDraft();
  }

  toggleLayout(): void {
    this.#pane.toggleLayout();
  }

  close(): void {
    this.#gone = true;
    this.#pane.close();
  }

  /** The model changed: check whether the shown state is still the newest and still open for choices. */
  check(): void {
    const fetched = (this.#conflict.newer ?? this.shown)?.revision ?? null;
    const { takesChoices } = this.#pane;
    switch (nextStep(this.#entry, { tooLarge: this.#tooLarge?.revision ?? null, fetched, takesChoices, refused: this.#refused })) {
      case "fetch":
        void this.#fetch();
        break;
      case "close":
        this.#pane.takeNoMoreChoices();
        this.#conflict.drop();
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

  /** A decision was refused because of a newer state, which is fetched now. */
  lookAgain(): void {
    this.#conflict.blockedDecision = true;
    void this.#fetch();
  }

  /** The hub is back and may have a different state. */
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
    const fetched = await fetchReview(this.#deps.connection, this.#entry.summary);
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
      // An event may have arrived in the meantime.
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
      // Work done before the review was closed meets the newer revision as if the review had stayed open.
      this.#mount(work.on, work.draft);
    } else if (!isWaiting(this.#entry)) {
      // The decided state stays on the screen.
      return;
    } else if (isSame(this.shown, shown)) {
      this.#conflict.blockedDecision = false;
      return;
    }
    this.#conflict.meet(shown);
    this.#offerAside();
    this.#touched();
    this.#deps.notices.announce("This review changed. Check it again before you decide.");
  }

  #draftOn(shown: ReviewShow): Draft | undefined {
    const { work } = this.#entry;
    return work !== undefined && isSame(work.on, shown) ? work.draft : undefined;
  }

  #mount(shown: ReviewShow, draft: Draft | undefined): void {
    if (this.#openDiff !== null) {
      this.#tooLarge = null;
      this.#pane.put(this.#openDiff, shown, draft);
      this.#offerAside();
    }
  }

  #sayTooLarge(): void {
    this.#pane.remove();
    this.#conflict.drop();
    this.#tooLarge = listed(this.#entry);
    this.#article.setRevision(this.#entry.revision);
    this.#article.notice(null);
    this.#article.instead(...oversizedText(this.#entry));
    this.#offerAside();
    this.#touched();
  }

  #notGot(why: string): void {
    const again = { action: "fetch-again", label: "Try again", press: () => void this.#fetch() };
    this.#refused = this.#entry.revision;
    if (this.view === null) {
      this.#article.instead(element("p", {}, why), button(again.action, [again.label], again.press));
    } else {
      this.#article.notice(`Could not load the newer version: ${why}`, [again]);
    }
    this.#deps.notices.error(why);
  }

  /** It is closed: only the user's own work on it is left. */
  async #forgotten(): Promise<void> {
    await this.#deps.deciding.past([this.#entry]).catch(() => undefined);
    this.#openDiff ??= await loadDiff().catch(() => null);
    if (this.#gone || this.shown !== null) {
      return;
    }
    const { work } = this.#entry;
    if (work !== undefined && this.#openDiff !== null) {
      this.#mount(work.on, work.draft);
    } else {
      this.#article.instead(element("p", {}, "This review is closed; its text is no longer available."));
    }
  }

  #mayWrite(): boolean {
    return this.#pane.takesChoices === true && this.#conflict.newer === null;
  }

  edit(): void {
    if (this.#mayWrite()) {
      this.view?.startEditing();
      this.#changed();
    }
  }

  /** Stashes the user's text, from where it can be restored. */
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
