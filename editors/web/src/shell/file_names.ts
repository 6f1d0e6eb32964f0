// Display names of files: paths relative to their window's folder, which is named if there are several windows.

import type { HistoryEntry, ReviewSummary, WindowStatus } from "../../../protocol";
import { visible } from "./visible";
import { relative, split } from "./labels";

export interface FileName {
  /** The window's folder, if it has to be shown. */
  window: string | undefined;
  folder: string;
  name: string;
  /** The complete name in one line. */
  whole: string;
}

export class FileNames {
  readonly #folders = new Map<string, readonly string[]>();
  #several = false;

  /** Closed windows are kept: their reviews and history entries still need names. */
  learn(windows: readonly WindowStatus[]): void {
    for (const window of windows) {
      this.#folders.set(window.window, window.folders);
    }
    this.#several = new Set([...this.#folders.values()].map((folders) => folders.join("\n"))).size > 1;
  }

  knows(window: string): boolean {
    return this.#folders.has(window);
  }

  of({ path, window }: Pick<ReviewSummary | HistoryEntry, "path" | "window">): FileName {
    const folders = this.#folders.get(window) ?? [];
    const inside = relative(path, folders);
    const { folder, name } = split(visible(inside));
    const home = folders.find((candidate) => path === `${candidate.replace(/\/$/, "")}/${inside}`);
    const named = this.#several && home !== undefined ? visible(split(home.replace(/\/$/, "")).name) : undefined;
    return { window: named, folder, name, whole: (named === undefined ? "" : `${named}: `) + folder + name };
  }
}
