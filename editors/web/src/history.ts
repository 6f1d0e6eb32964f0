// What was decided and done, newest first, and taking it back. Rows that are there change in place; new ones wait for a
// moment in which they move nothing under the pointer.

import type { HistoryEntry } from "../../protocol";
import type { Connection } from "./connection";
import { button, disable, part, say } from "./dom";
import { pastRow } from "./history_row";
import type { Notices } from "./notices";
import type { Places } from "./places";
import { Lost, NotAsked } from "./socket";
import { Steady } from "./steady";
import { visible } from "./visible";

const MOST = 100;
/** Several things happen at once when a review ends. */
const TOGETHER_MS = 120;

export class History {
  readonly #connection: Connection;
  readonly #places: Places;
  readonly #notices: Notices;
  readonly #list = part("past", HTMLOListElement);
  readonly #words = part("past-words", HTMLElement);
  readonly #newer: HTMLButtonElement;
  readonly #rows = new Map<string, { item: HTMLLIElement; holds: string }>();
  readonly #steady = new Steady();
  #waiting: readonly HistoryEntry[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown = false;

  constructor(connection: Connection, places: Places, notices: Notices) {
    this.#connection = connection;
    this.#places = places;
    this.#notices = notices;
    this.#newer = button("newer", [""], () => this.#paint(this.#waiting, true), { class: "small", hidden: true });
    this.#list.before(this.#newer);
    this.#list.addEventListener("pointerleave", () => this.#paint(this.#waiting, false));
  }

  show(shown: boolean): void {
    this.#shown = shown;
    if (shown) {
      void this.#fetch(true);
    }
  }

  /** Something happened that may belong here. */
  stir(): void {
    if (this.#shown) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#fetch(false), TOGETHER_MS);
    }
  }

  async #fetch(atOnce: boolean): Promise<void> {
    try {
      const { entries } = await this.#connection.request("history/list", { limit: MOST, undoable: false });
      this.#waiting = entries;
      this.#paint(entries, atOnce);
    } catch (error) {
      if (!(error instanceof Lost)) {
        this.#notices.fail(`The history cannot be shown: ${error instanceof Error ? visible(error.message) : "no answer"}`);
      }
    }
  }

  #paint(entries: readonly HistoryEntry[], atOnce: boolean): void {
    const fresh = entries.filter((entry) => !this.#rows.has(key(entry)));
    const busy = this.#list.matches(":hover") || this.#list.contains(document.activeElement);
    const hold = fresh.length > 0 && busy && !atOnce;
    say(this.#newer, fresh.length === 1 ? "Show 1 newer entry" : `Show ${fresh.length} newer entries`);
    this.#newer.hidden = !hold;
    say(this.#words, entries.length === 0 ? "Nothing has been decided yet." : "");
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
        this.#steady.touch();
      }
      before = item;
    }
  }

  #row(entry: HistoryEntry): HTMLLIElement {
    const id = key(entry);
    const holds = JSON.stringify([entry, this.#places.of(entry).whole]);
    const known = this.#rows.get(id);
    if (known !== undefined && known.holds === holds) {
      return known.item;
    }
    const undo = (made: HTMLButtonElement): void => void this.#undo(entry, made);
    const item = pastRow(id, entry, this.#places.of(entry), undo);
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

  async #undo(entry: HistoryEntry, made: HTMLButtonElement): Promise<void> {
    if (!this.#steady.wasSeen()) {
      this.#notices.tell("That press was ignored: the list had only just changed. Look, then press again.");
      return;
    }
    disable(made, true);
    const name = this.#places.of(entry).whole;
    try {
      const undone = await this.#connection.request("history/undo", { change: key(entry) });
      const now = undone.removedFile ? "the file was removed again" : "the file holds what it held before";
      this.#notices.tell(`Taken back: ${name}; ${now}.`);
    } catch (error) {
      this.#notices.fail(notUndone(name, error));
    }
    disable(made, false);
    await this.#fetch(true);
  }
}

/** What names the change for `history/undo`. */
function key(entry: HistoryEntry): string {
  return entry.change ?? entry.review;
}

/** What is known of a change that was to be taken back. */
function notUndone(name: string, error: unknown): string {
  if (error instanceof NotAsked) {
    return `${name} was not taken back: there is no connection to the hub, so it was not asked.`;
  }
  if (error instanceof Lost) {
    return `It is not known whether ${name} was taken back: the connection was lost. Look at it below when it is back.`;
  }
  return `${name} was not taken back: ${error instanceof Error ? visible(error.message) : "no answer"}`;
}
