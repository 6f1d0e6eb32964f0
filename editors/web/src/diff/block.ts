// Blocks between lines that are not text: bars, folds, removed lines, comments.

import { WidgetType } from "@codemirror/view";

/** The heights that the theme gives a bar and an unwrapped line. */
export const BAR_HEIGHT = 29;
export const LINE_HEIGHT = 20;

export abstract class Block extends WidgetType {
  /** The class of the gutters next to it, so that it spans the full width. */
  get edge(): string {
    return "";
  }

  /** The editor ignores events inside. */
  override ignoreEvent(): boolean {
    return true;
  }
}

export abstract class Bar extends Block {
  override get edge(): string {
    return "ls-barEdge";
  }

  override get estimatedHeight(): number {
    return BAR_HEIGHT;
  }
}
