// What the open review shows: fetches it, shows it, and follows it through newer revisions with the person's draft in
// hand. It decides nothing.

import { ERRORS, type ReviewShow } from "../../protocol";
import type { Article } from "./article";
import type { Connection } from "./connection";
import type { Deciding } from "./deciding";
import type { DiffView, Draft } from "./diff/view";
import { loadDiff, nonce } from "./diff_loader";
import { element } from "./dom";
import { fittingLayout, wishLayout } from "./layout";
import type { Notices } from "./notices";
import { oversizedWords } from "./oversized";
import { isOversized, type Entry } from "./reviews";
import { HubError, Lost } from "./socket";
import { visible } from "./visible";
import { count } from "./wording";

/** Each key in a large text would cost a look at all of it. */
const TYPING_MS = 40;

export interface Means {
  readonly connection: Connection;
  readonly deciding: Deciding;
  readonly notices: Notices;
}

export class Looking {
  readonly #entry: Entry;
  readonly #article: Article;
  readonly #means: Means;
  /** What a decision would be about came or changed on the screen. */
  readonly #touched: () => void;
  readonly #changed: () => void;
  readonly #resized: ResizeObserver;
  #view: DiffView | null = null;
  #shown: ReviewShow | null = null;
  /** A newer one that waits until the person is done with what she writes, or says which text she wants. */
  #newer: ReviewShow | null = null;
  /** The diff takes no more choices. */
  #closed = false;
  #fetching = false;
  #gone = false;
  #typing: ReturnType<typeof setTimeout> | undefined;
  /** A decision met what changed, and that is to be said along with it. */
  #metDecision = false;

  constructor(entry: Entry, article: Article, means: Means, hears: { touched(): void; changed(): void }) {
    this.#entry = entry;
    this.#article = article;
    this.#means = means;
    this.#touched = hears.touched;
    this.#changed = hears.changed;
    this.#resized = new ResizeObserver(() => this.#fitLayout());
    this.#resized.observe(article.diff);
    if (isOversized(entry)) {
      article.setRevision(entry.revision);
      article.instead(...oversizedWords(entry));
    } else {
      article.instead(element("p", { class: "loading" }, "Loading…"));
      void this.fetch();
    }
  }

  get view(): DiffView | null {
    return this.#view;
  }

  get shown(): ReviewShow | null {
    return this.#shown;
  }

  /** A newer revision waits for the person's word. */
  get isChoosing(): boolean {
    return this.#newer !== null;
  }

  /** Keeps what she did, for when she comes back to it. */
  keepDraft(): void {
    if (this.#view !== null && this.#entry.state === "pending") {
      this.#entry.draft = this.#view.draft();
    }
  }

  close(): void {
    this.keepDraft();
    this.#gone = true;
    clearTimeout(this.#typing);
    this.#resized.disconnect();
    this.#view?.destroy();
  }

  /** The model changed: is what is shown still the newest, and may it still be chosen among? */
  check(): void {
    const { state, revision, draft } = this.#entry;
    const known = this.#newer ?? this.#shown;
    if (state !== "pending") {
      if (!this.#closed && this.#view !== null) {
        this.#closed = true;
        this.#view.setReadOnly();
      }
    } else if (known !== null && revision !== undefined && revision > known.revision) {
      void this.fetch();
    } else if (this.#closed && this.#shown !== null) {
      void this.#mount(this.#shown, draft);
    }
  }

  /** A decision was not taken, because of what is fetched now. */
  lookAgain(): void {
    this.#metDecision = true;
    void this.fetch();
  }

  async fetch(): Promise<void> {
    if (this.#fetching || isOversized(this.#entry)) {
      return;
    }
    this.#fetching = true;
    try {
      const code = loadDiff();
      const { shown } = await this.#means.connection.request("reviews/get", { review: this.#entry.id });
      await code;
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
      this.check();
      this.#changed();
    }
  }

  async #got(shown: ReviewShow): Promise<void> {
    this.#entry.revision = shown.revision;
    const before = this.#shown;
    if (before === null) {
      return this.#mount(shown, this.#entry.draft);
    }
    if (before.revision === shown.revision && before.base === shown.base && before.proposed === shown.proposed) {
      return;
    }
    const draft = this.#view?.draft();
    this.#newer = shown;
    this.#article.setRevision(shown.revision);
    this.#touched();
    if (draft?.text === shown.proposed) {
      // The hub took her text along.
      await this.#renew({ left: [], comments: draft.comments, on: draft.on });
    } else if (draft?.text !== undefined) {
      const proposal = { left: [], comments: draft.comments, on: draft.on };
      this.#article.notice("The proposal changed while you edited. Your text is untouched: which one do you want?", [
        { action: "keep-text", label: "Keep my text", press: () => void this.#renew(draft) },
        { action: "show-proposal", label: "Show the new proposal", press: () => void this.#renew(proposal) },
      ]);
    } else if (this.#commentInHand()) {
      this.#article.notice("There is a newer version of this change. It is shown when your comment is saved or closed.", [
        { action: "show-proposal", label: "Show it now", press: () => void this.#renew(this.#view?.draft()) },
      ]);
    } else {
      await this.#renew(draft);
    }
    this.#means.notices.announce("This review changed: look again before you decide.");
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
    await this.#mount(newer, draft && { ...draft, left: draft.left.filter((hunk) => there.has(hunk)) });
    const undecided = this.#metDecision ? "Nothing is decided yet. " : "";
    this.#metDecision = false;
    this.#article.notice(`${undecided}${whatChanged(before, newer)} Look again before you decide.`);
  }

  async #mount(shown: ReviewShow, draft: Draft | undefined): Promise<void> {
    const openDiff = await loadDiff();
    if (this.#gone) {
      return;
    }
    const { diff } = this.#article;
    const hadFocus = diff.contains(document.activeElement);
    const top = diff.firstElementChild?.scrollTop ?? 0;
    this.#view?.destroy();
    diff.replaceChildren();
    this.#shown = shown;
    this.#entry.shown = shown;
    this.#closed = this.#entry.state !== "pending";
    this.#view = openDiff(diff, shown, {
      layout: fittingLayout(diff.clientWidth),
      nonce: nonce(),
      readOnly: this.#closed,
      ...(draft === undefined ? {} : { draft }),
      changed: () => this.#draftChanged(),
      announce: this.#means.notices.announce,
    });
    diff.firstElementChild?.scrollTo(0, top);
    if (hadFocus) {
      this.#view.focus();
    }
    this.#article.setRevision(shown.revision);
    this.#touched();
    this.#changed();
  }

  async #notGot(error: unknown): Promise<void> {
    if (error instanceof Lost) {
      void this.#means.connection.connected().then(() => (this.#gone ? undefined : this.fetch()));
      return;
    }
    if (error instanceof HubError && error.code === ERRORS.UNKNOWN_REVIEW) {
      await this.#means.deciding.past(this.#entry).catch(() => undefined);
      if (this.#shown === null && this.#entry.shown !== undefined) {
        await this.#mount(this.#entry.shown, this.#entry.draft);
      } else if (this.#shown === null) {
        this.#article.instead(element("p", {}, "It is over, and the hub keeps its text no longer."));
      }
      return;
    }
    const isHubs = error instanceof HubError;
    const why = isHubs ? visible(error.message) : "The code that shows changes could not be loaded. Reload the page.";
    this.#article.instead(element("p", {}, why));
    this.#means.notices.fail(why);
  }

  #draftChanged(): void {
    if (this.#newer !== null && !this.#commentInHand() && this.#view?.draft().text === undefined) {
      void this.#renew(this.#view?.draft());
    }
    this.#typing ??= setTimeout(() => {
      this.#typing = undefined;
      this.#changed();
    }, TYPING_MS);
  }

  #commentInHand(): boolean {
    const box = this.#article.diff.querySelector<HTMLTextAreaElement>("[data-field=comment]");
    return box !== null && box.value.trim() !== "";
  }

  toggleLayout(): void {
    if (this.#view !== null) {
      const layout = this.#view.layout() === "split" ? "unified" : "split";
      wishLayout(layout, this.#article.diff.clientWidth);
      this.#fitLayout();
      this.#means.notices.announce(layout === "split" ? "Side by side" : "Unified");
    }
  }

  #fitLayout(): void {
    const { clientWidth } = this.#article.diff;
    if (this.#view !== null && clientWidth > 0 && this.#view.layout() !== fittingLayout(clientWidth)) {
      this.#view.setLayout(fittingLayout(clientWidth));
      this.#changed();
    }
  }

  edit(): void {
    if (this.#entry.state === "pending" && this.#newer === null) {
      this.#view?.startEditing();
      this.#changed();
    }
  }

  /** Sets her text aside, from where it can be brought back. */
  discardEdit(): void {
    const aside = this.#view?.draft();
    const shown = this.#shown;
    if (aside === undefined || shown === null || this.#newer !== null) {
      return;
    }
    this.#view?.discardEdits();
    this.#changed();
    if (aside.text !== undefined) {
      const bringBack = (): void => {
        this.#article.notice(null);
        void this.#mount(shown, aside);
      };
      this.#article.notice("Your text is set aside.", [
        { action: "restore-edit", label: "Bring it back", press: bringBack },
        { action: "forget-edit", label: "Forget it", press: () => this.#article.notice(null) },
      ]);
    }
  }
}

function whatChanged(before: ReviewShow | null, newer: ReviewShow): string {
  if (newer.conflicts.length > 0) {
    return `The file changed meanwhile, with ${count(newer.conflicts.length, "conflict")} to look at.`;
  }
  return before?.base === newer.base
    ? "The proposed text was edited elsewhere."
    : "The file changed meanwhile, and the change was fitted to it.";
}
