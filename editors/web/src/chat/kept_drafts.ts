// What the user typed and which conversation is open: kept while this tab lives, also over a reload. Pictures, which are
// too large for that, are kept until the reload.

import { NO_DRAFT, type Draft } from "./composer";

const KEY = "linkspan-chat";

export class KeptDrafts {
  readonly #drafts = new Map<string, Draft>();
  /** The open conversation; `null` is the form for a new one. */
  open: string | null = null;

  constructor() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as { open: string | null; drafts: Array<[string, Draft]> } | null;
      this.open = kept?.open ?? null;
      for (const [chat, draft] of kept?.drafts ?? []) {
        this.#drafts.set(chat, { ...draft, pictures: [] });
      }
    } catch {
      // Storage is blocked, or holds something else: nothing is restored.
    }
  }

  of(chat: string | null): Draft {
    return this.#drafts.get(chat ?? "") ?? NO_DRAFT;
  }

  set(chat: string | null, draft: Draft): void {
    if (draft.text === "" && draft.attachments.length === 0 && draft.pictures.length === 0) {
      this.#drafts.delete(chat ?? "");
    } else {
      this.#drafts.set(chat ?? "", draft);
    }
    this.save();
  }

  save(): void {
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ open: this.open, drafts: [...this.#drafts].map(([chat, { text, attachments }]) => [chat, { text, attachments }]) }));
    } catch {
      // Storage is blocked or full: drafts last until the page is closed.
    }
  }
}
