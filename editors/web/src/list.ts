// The list of reviews. Rows come at the end and stay where they are until the person clears those that are over.

import { element, part, say } from "./dom";
import type { Places } from "./places";
import { isOver, type Entry, type Reviews } from "./reviews";
import { makeRow, type Row } from "./row";
import { SetHeader, type SetDeciding } from "./sets";

const AGES_EVERY_MS = 5_000;

interface Group {
  set: string | undefined;
  rows: HTMLOListElement;
  header: SetHeader | undefined;
  entries: Entry[];
}

export class List {
  readonly #reviews: Reviews;
  readonly #places: Places;
  readonly #open: (entry: Entry) => void;
  readonly #sets: SetDeciding;
  readonly #groups = part("groups", HTMLElement);
  readonly #clear = part("clear", HTMLButtonElement);
  readonly #empty = part("empty", HTMLElement);
  readonly #rows = new Map<string, Row>();
  #made: Group[] = [];
  #current: string | null = null;
  #known = false;

  constructor(reviews: Reviews, places: Places, open: (entry: Entry) => void, sets: SetDeciding) {
    this.#reviews = reviews;
    this.#places = places;
    this.#open = open;
    this.#sets = sets;
    this.#clear.addEventListener("click", () => {
      reviews.clearOver();
      this.#groups.querySelector<HTMLElement>("button")?.focus();
    });
    reviews.onChange((entry) => (entry === null ? this.paint() : this.#paintOne(entry)));
    setInterval(() => {
      if (!document.hidden) {
        for (const row of this.#rows.values()) row.paintAge();
      }
    }, AGES_EVERY_MS);
  }

  /** The hub has said what there is, so an empty list means that nothing waits. */
  listed(): void {
    this.#known = true;
    this.paint();
  }

  setCurrent(id: string | null): void {
    this.#current = id;
    for (const entry of this.#reviews.entries) {
      this.#rows.get(entry.id)?.paint(entry.id === id);
    }
    const row = id === null ? undefined : this.#rows.get(id);
    row?.item.scrollIntoView({ block: "nearest" });
  }

  /** Moves the focus along with the choice, if it is in the list already. */
  focusCurrent(always = false): void {
    if (this.#current !== null && (always || this.#groups.contains(document.activeElement))) {
      this.#rows.get(this.#current)?.button.focus();
    }
  }

  paint(): void {
    const there = new Set(this.#reviews.entries.map((entry) => entry.id));
    for (const [id, row] of this.#rows) {
      if (!there.has(id)) {
        row.item.remove();
        this.#rows.delete(id);
      }
    }
    for (const group of this.#made) {
      group.entries = group.entries.filter((entry) => there.has(entry.id));
      if (group.entries.length === 0) {
        group.rows.parentElement?.remove();
      }
    }
    this.#made = this.#made.filter((group) => group.entries.length > 0);
    for (const entry of this.#reviews.entries) {
      if (!this.#rows.has(entry.id)) {
        this.#append(entry);
      }
      this.#rows.get(entry.id)?.paint(entry.id === this.#current);
    }
    for (const group of this.#made) {
      group.header?.paint(group.entries);
    }
    this.#paintEnds();
  }

  #append(entry: Entry): void {
    const { set } = entry.summary;
    let group = this.#made.at(-1);
    if (group === undefined || group.set !== set) {
      const rows = element("ol");
      const header = set === undefined ? undefined : new SetHeader(set, this.#sets);
      this.#groups.append(element("section", { class: set === undefined ? "group" : "group set" }, header?.root, rows));
      group = { set, rows, header, entries: [] };
      this.#made.push(group);
    }
    const row = makeRow(entry, this.#places, this.#open);
    this.#rows.set(entry.id, row);
    group.entries.push(entry);
    group.rows.append(row.item);
  }

  #paintOne(entry: Entry): void {
    this.#rows.get(entry.id)?.paint(entry.id === this.#current);
    const group = this.#made.find((made) => made.entries.includes(entry));
    group?.header?.paint(group.entries);
    this.#paintEnds();
  }

  #paintEnds(): void {
    const over = this.#reviews.entries.filter(isOver).length;
    this.#clear.hidden = over === 0;
    this.#empty.hidden = this.#reviews.entries.length > 0 || !this.#known;
    const waiting = this.#reviews.waiting().length;
    const tab = part("waiting", HTMLElement);
    say(tab, waiting === 0 ? "" : String(waiting));
    tab.hidden = waiting === 0;
  }
}
