// Past decisions and writes, newest first, with undo. Existing rows are updated in place; new rows wait until they
// would not move anything under the pointer.

import type { HistoryEntry } from "../../../protocol";
import type { Connection } from "../connection/connection";
import { button, disable, part, setText } from "../shell/dom";
import { ConversationFilter } from "./conversation_filter";
import { historyRow } from "./history_row";
import { turnUndoneWords } from "./turn_undone";
import type { OpenConversation } from "../review/why_proposed";
import type { Notices } from "../shell/notices";
import type { FileNames } from "../shell/file_names";
import { ConnectionLost, NotSent } from "../connection/socket";
import { MisclickGuard } from "../decision/misclick_guard";
import { visible } from "../shell/visible";

const MOST = 100;
/** Several events arrive together when a review ends. */
const TOGETHER_MS = 120;
/** One file after another. */
const UNDO_PATIENCE_MS = 5 * 60_000;

export class History {
  readonly #connection: Connection;
  readonly #fileNames: FileNames;
  readonly #notices: Notices;
  readonly #list = part("past", HTMLOListElement);
  readonly #words = part("past-words", HTMLElement);
  readonly #newer: HTMLButtonElement;
  readonly #rows = new Map<string, { item: HTMLLIElement; holds: string }>();
  readonly #guard = new MisclickGuard();
  readonly #filter: ConversationFilter;
  #waiting: readonly HistoryEntry[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown = false;

  constructor(connection: Connection, fileNames: FileNames, notices: Notices, openConversation: OpenConversation) {
    this.#connection = connection;
    this.#fileNames = fileNames;
    this.#notices = notices;
    this.#newer = button("newer", [""], () => this.#paint(this.#waiting, true), { class: "small", hidden: true });
    this.#filter = new ConversationFilter({
      changed: () => void this.#fetch(true),
      openConversation,
      undoTurn: (turn) => this.#undoTurn(turn),
    });
    this.#list.before(this.#filter.root, this.#newer);
    this.#list.addEventListener("pointerleave", () => this.#paint(this.#waiting, false));
  }

  show(shown: boolean): void {
    this.#shown = shown;
    if (shown) {
      void this.#fetch(true);
    }
  }

  /** Something happened that may add an entry. */
  stir(): void {
    if (this.#shown) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#fetch(false), TOGETHER_MS);
    }
  }

  async #fetch(atOnce: boolean): Promise<void> {
    try {
      const { chat } = this.#filter;
      const { entries } = await this.#connection.request("history/list", { limit: MOST, undoable: false, ...(chat === null ? {} : { chat }) });
      if (chat !== this.#filter.chat) {
        return;
      }
      this.#filter.paint(entries);
      this.#waiting = entries;
      this.#paint(entries, atOnce);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) {
        this.#notices.error(`Could not load the history: ${error instanceof Error ? visible(error.message) : "no response"}`);
      }
    }
  }

  #paint(entries: readonly HistoryEntry[], atOnce: boolean): void {
    const fresh = entries.filter((entry) => !this.#rows.has(key(entry)));
    const busy = this.#list.matches(":hover") || this.#list.contains(document.activeElement);
    const hold = fresh.length > 0 && busy && !atOnce;
    setText(this.#newer, fresh.length === 1 ? "Show 1 newer entry" : `Show ${fresh.length} newer entries`);
    this.#newer.hidden = !hold;
    setText(this.#words, entries.length === 0 ? (this.#filter.chat === null ? "Nothing has been decided yet." : "No change of this conversation is recorded.") : "");
    const painted = hold ? entries.filter((entry) => this.#rows.has(key(entry))) : entries;
    const there = new Set(painted.map(key));
    for (const [id, { item }] of this.#rows) {
      if (!there.has(id)) {
        item.remove();
        this.#rows.delete(id);
      }
    }
    let before: Element | null = null;
    for (const entry of painted) {
      const item = this.#row(entry);
      const wanted: Element | null = before === null ? this.#list.firstElementChild : before.nextElementSibling;
      if (item !== wanted) {
        this.#list.insertBefore(item, wanted);
        this.#guard.touch();
      }
      before = item;
    }
  }

  #row(entry: HistoryEntry): HTMLLIElement {
    const id = key(entry);
    const holds = JSON.stringify([entry, this.#fileNames.of(entry).whole]);
    const known = this.#rows.get(id);
    if (known !== undefined && known.holds === holds) {
      return known.item;
    }
    const undo = (made: HTMLButtonElement): void => void this.#undo(entry, made);
    const item = historyRow(id, entry, this.#fileNames.of(entry), undo, (origin) => this.#filter.choose(origin));
    if (known !== undefined) {
      const focused = known.item.contains(document.activeElement);
      known.item.replaceWith(item);
      if (focused) {
        (item.querySelector("button") ?? item).focus({ preventScroll: true });
      }
    }
    this.#rows.set(id, { item, holds });
    return item;
  }

  async #undoTurn(turn: string): Promise<void> {
    try {
      const result = await this.#connection.request("history/undoTurn", { turn }, UNDO_PATIENCE_MS);
      this.#notices.show(turnUndoneWords(result));
      const failed = result.changes.filter(({ undone }) => undone === undefined);
      for (const { path, error } of failed) {
        this.#notices.error(`${visible(path)} was not undone: ${visible(error ?? "no reason was given")}`);
      }
    } catch (error) {
      this.#notices.error(notUndone(`Turn ${turn}`, error));
    }
    await this.#fetch(true);
  }

  async #undo(entry: HistoryEntry, made: HTMLButtonElement): Promise<void> {
    if (!this.#guard.wasSeen()) {
      this.#notices.show("Ignored: the list had only just changed. Check it, then press again.");
      return;
    }
    disable(made, true);
    const name = this.#fileNames.of(entry).whole;
    try {
      const undone = await this.#connection.request("history/undo", { change: key(entry) });
      const now = undone.removedFile ? "the new file was removed" : "the previous content is restored";
      this.#notices.show(`Undone: ${name}; ${now}.`);
    } catch (error) {
      this.#notices.error(notUndone(name, error));
    }
    disable(made, false);
    await this.#fetch(true);
  }
}

/** The id of the change for `history/undo`. */
function key(entry: HistoryEntry): string {
  return entry.change ?? entry.review;
}

/** Why an undo failed, or that its result is unknown. */
function notUndone(name: string, error: unknown): string {
  if (error instanceof NotSent) {
    return `${name} was not undone: there is no connection to the hub.`;
  }
  if (error instanceof ConnectionLost) {
    return `The connection was lost, so it is unknown whether ${name} was undone. Check the list when the hub is back.`;
  }
  return `${name} was not undone: ${error instanceof Error ? visible(error.message) : "no response"}`;
}
