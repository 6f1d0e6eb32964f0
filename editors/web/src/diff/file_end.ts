// Says that a text ends without a line end, where that is part of a change.

import type { Text } from "@codemirror/state";
import { Decoration, WidgetType } from "@codemirror/view";
import { element } from "../dom";

export function lacksLineEnd(doc: Text, lineTo: number): boolean {
  return lineTo === doc.length && doc.lineAt(lineTo).length > 0;
}

export function lackOfLineEnd(): HTMLElement {
  return element("span", { class: "ls-noEnd" }, "no line end");
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
