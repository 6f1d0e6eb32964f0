// What stands between lines and is no text: bars, folds, removed lines, comments.

import { WidgetType } from "@codemirror/view";

/** The heights the theme gives a bar and a line that is not wrapped. */
export const BAR_HEIGHT = 29;
export const LINE_HEIGHT = 20;

export abstract class Block extends WidgetType {
  /** How the gutters beside it look, so that it goes from edge to edge. */
  get edge(): string {
    return "";
  }

  /** The editor takes no part in what happens inside. */
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
