// The list of reviews. New rows are appended, and rows stay in place until the user clears the finished ones.

import { element, part, setText } from "../shell/dom";
import { oncePerFrame } from "../shell/throttle";
import type { FileNames } from "../shell/file_names";
import { isOver, type Entry, type Reviews } from "./reviews";
import { makeRow, type Row } from "./row";
import { SetHeader, type SetDependencies } from "./change_set";

const AGES_EVERY_MS = 5_000;

interface Group {
  set: string | undefined;
  rows: HTMLOListElement;
  header: SetHeader | undefined;
  entries: Entry[];
  /** Some of its entries were cleared since it was painted. */
  shrunk: boolean;
}

export class List {
  readonly #reviews: Reviews;
  readonly #fileNames: FileNames;
  readonly #open: (entry: Entry) => void;
  readonly #sets: SetDependencies;
  readonly #groups = part("groups", HTMLElement);
  readonly #clear = part("clear", HTMLButtonElement);
  readonly #empty = part("empty", HTMLElement);
  readonly #rows = new Map<string, Row>();
  readonly #soon = oncePerFrame(() => this.#paintNow());
  #made: Group[] = [];
  #current: string | null = null;
  #known = false;

  constructor(reviews: Reviews, fileNames: FileNames, open: (entry: Entry) => void, sets: SetDependencies) {
    this.#reviews = reviews;
    this.#fileNames = fileNames;
    this.#open = open;
    this.#sets = sets;
    this.#clear.addEventListener("click", () => {
      reviews.clearOver();
      this.#paintNow();
      this.#groups.querySelector<HTMLElement>("button")?.focus();
    });
    reviews.onChange(() => this.paint());
    setInterval(() => {
      if (!document.hidden) {
        for (const row of this.#rows.values()) row.paintAge();
      }
    }, AGES_EVERY_MS);
  }

  /** The hub's list has arrived, so an empty list means that nothing is pending. */
  listed(): void {
    this.#known = true;
    this.paint();
  }

  setCurrent(id: string | null): void {
    this.#current = id;
    this.#paintNow();
    const row = id === null ? undefined : this.#rows.get(id);
    row?.item.scrollIntoView({ block: "nearest" });
  }

  /** Moves the focus to the current row, if the focus is already in the list. */
  focusCurrent(): void {
    if (this.#current !== null && this.#groups.contains(document.activeElement)) {
      this.#rows.get(this.#current)?.button.focus();
    }
  }

  /** Paints once per frame: a thousand reviews may arrive at once. */
  paint(): void {
    this.#soon();
  }

  #paintNow(): void {
    this.#dropCleared();
    const changed = new Set<string>();
    for (const entry of this.#reviews.entries) {
      const row = this.#rows.get(entry.id) ?? this.#append(entry);
      if (row.paint(entry.id === this.#current)) {
        changed.add(entry.id);
      }
    }
    for (const group of this.#made) {
      if (group.shrunk || group.entries.some((entry) => changed.has(entry.id))) {
        group.header?.paint(group.entries);
        group.shrunk = false;
      }
    }
    this.#paintEnds();
  }

  #dropCleared(): void {
    if (this.#rows.size === 0) {
      return;
    }
    const there = new Set(this.#reviews.entries.map((entry) => entry.id));
    for (const [id, row] of this.#rows) {
      if (!there.has(id)) {
        row.item.remove();
        this.#rows.delete(id);
      }
    }
    for (const group of this.#made) {
      const stay = group.entries.filter((entry) => there.has(entry.id));
      group.shrunk ||= stay.length < group.entries.length;
      group.entries = stay;
      if (stay.length === 0) {
        group.rows.parentElement?.remove();
      }
    }
    this.#made = this.#made.filter((group) => group.entries.length > 0);
  }

  #append(entry: Entry): Row {
    const { set } = entry.summary;
    let group = this.#made.at(-1);
    if (group === undefined || group.set !== set) {
      const rows = element("ol");
      const header = set === undefined ? undefined : new SetHeader(set, this.#sets);
      this.#groups.append(element("section", { class: set === undefined ? "group" : "group set" }, header?.root, rows));
      group = { set, rows, header, entries: [], shrunk: false };
      this.#made.push(group);
    }
    const row = makeRow(entry, this.#fileNames, this.#open);
    this.#rows.set(entry.id, row);
    group.entries.push(entry);
    group.rows.append(row.item);
    return row;
  }

  #paintEnds(): void {
    const over = this.#reviews.entries.filter(isOver).length;
    this.#clear.hidden = over === 0;
    this.#empty.hidden = this.#reviews.entries.length > 0 || !this.#known;
    const waiting = this.#reviews.waiting().length;
    const tab = part("waiting", HTMLElement);
    setText(tab, waiting === 0 ? "" : String(waiting));
    tab.hidden = waiting === 0;
  }
}
