// Where files are, in words: paths are shown from the folder of their window, which is named where there are several.

import type { HistoryEntry, ReviewSummary, WindowStatus } from "../../protocol";
import { visible } from "./visible";
import { relative, split } from "./wording";

export interface Place {
  /** The window's folder, where it has to be said. */
  window: string | undefined;
  folder: string;
  name: string;
  /** All of it, in one line. */
  whole: string;
}

export class Places {
  readonly #folders = new Map<string, readonly string[]>();
  #several = false;

  /** Windows that are gone are kept: their reviews and their past still have names. */
  learn(windows: readonly WindowStatus[]): void {
    for (const window of windows) {
      this.#folders.set(window.window, window.folders);
    }
    this.#several = new Set([...this.#folders.values()].map((folders) => folders.join("\n"))).size > 1;
  }

  knows(window: string): boolean {
    return this.#folders.has(window);
  }

  of({ path, window }: Pick<ReviewSummary | HistoryEntry, "path" | "window">): Place {
    const folders = this.#folders.get(window) ?? [];
    const inside = relative(path, folders);
    const { folder, name } = split(visible(inside));
    const home = folders.find((candidate) => path === `${candidate.replace(/\/$/, "")}/${inside}`);
    const named = this.#several && home !== undefined ? visible(split(home.replace(/\/$/, "")).name) : undefined;
    return { window: named, folder, name, whole: (named === undefined ? "" : `${named}: `) + folder + name };
  }
}
