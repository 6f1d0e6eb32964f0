// Marks a missing final line ending where that is part of a change.

import type { Text } from "@codemirror/state";
import { Decoration, WidgetType } from "@codemirror/view";
import { element } from "../shell/dom";

export function lacksLineEnd(doc: Text, lineTo: number): boolean {
  return lineTo === doc.length && doc.lineAt(lineTo).length > 0;
}

export function lackOfLineEnd(): HTMLElement {
  return element("span", { class: "ls-noEnd" }, "no newline at end of file");
}

class LackOfLineEnd extends WidgetType {
  override eq(): boolean {
    return true;
  }

  override toDOM(): HTMLElement {
    return lackOfLineEnd();
  }
}

export const LACK_OF_LINE_END = Decoration.widget({ widget: new LackOfLineEnd(), side: 1 });
