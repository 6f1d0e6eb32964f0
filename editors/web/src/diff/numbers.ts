// Line numbers and the signs of changed lines, for the visible part.

import type { EditorState, Extension } from "@codemirror/state";
import { type BlockInfo, type EditorView, GutterMarker, type ViewUpdate, type WidgetType, gutter } from "@codemirror/view";
import { Block } from "./block";
import { basePosition, firstEndingAfter } from "./chunks";
import { type Side, actions, baseText, isLeft, diffStateField, side, stretchOf } from "./diff_state";

class Marker extends GutterMarker {
  override readonly elementClass: string;

  constructor(
    readonly text: string,
    kind: string,
  ) {
    super();
    this.elementClass = kind;
  }

  override eq(other: Marker): boolean {
    return this.text === other.text && this.elementClass === other.elementClass;
  }

  override toDOM(): Node {
    return document.createTextNode(this.text);
  }
}

type Kind = "" | "ls-removed" | "ls-kept" | "ls-added" | "ls-left";

function kindAt(state: EditorState, pos: number): Kind {
  const shown = state.field(diffStateField);
  const on = state.facet(side);
  const index = firstEndingAfter(shown.chunks, pos, on);
  const chunk = shown.chunks[index];
  if (chunk === undefined || stretchOf(chunk, on).from > pos) return "";
  const left = isLeft(shown, index);
  return on === "before" ? (left ? "ls-kept" : "ls-removed") : left ? "ls-left" : "ls-added";
}

const SIGNS: Readonly<Record<Kind, string>> = {
  "": "",
  "ls-added": "+",
  "ls-left": "",
  "ls-removed": "−",
  "ls-kept": "",
};

/** The empty line after a final line ending is not a line of the file. */
function isPhantom(state: EditorState, line: BlockInfo): boolean {
  return line.from === state.doc.length && state.doc.lineAt(line.from).length === 0;
}

function changed(update: ViewUpdate): boolean {
  return update.startState.field(diffStateField) !== update.state.field(diffStateField);
}

function besideBlock(_view: EditorView, widget: WidgetType): GutterMarker | null {
  return widget instanceof Block && widget.edge !== "" ? new Marker("", widget.edge) : null;
}

function numberOf(view: EditorView, line: BlockInfo): Marker {
  const number = view.state.doc.lineAt(line.from).number;
  return new Marker(isPhantom(view.state, line) ? "" : String(number), kindAt(view.state, line.from));
}

/** The base line number of an unchanged line. */
function oldNumberOf(view: EditorView, line: BlockInfo): Marker {
  const kind = kindAt(view.state, line.from);
  if (kind !== "" || isPhantom(view.state, line)) return new Marker("", kind);
  const base = view.state.facet(baseText);
  const pos = basePosition(view.state.field(diffStateField).chunks, line.from, base);
  return new Marker(pos === null ? "" : String(base.lineAt(pos).number), "");
}

function signOf(view: EditorView, line: BlockInfo): Marker {
  const kind = kindAt(view.state, line.from);
  return new Marker(SIGNS[kind], kind);
}

const signs = gutter({ class: "ls-signs", lineMarker: signOf, lineMarkerChange: changed, widgetMarker: besideBlock });

const oldNumbers = gutter({
  class: "ls-numbers ls-oldNumbers",
  lineMarker: oldNumberOf,
  lineMarkerChange: changed,
  widgetMarker: besideBlock,
});

const beforeNumbers = gutter({
  class: "ls-numbers",
  lineMarker: numberOf,
  lineMarkerChange: changed,
  widgetMarker: besideBlock,
});

const afterNumbers = gutter({
  class: "ls-numbers ls-commentable",
  lineMarker: numberOf,
  lineMarkerChange: changed,
  widgetMarker: besideBlock,
  domEventHandlers: {
    click(view, line) {
      if (isPhantom(view.state, line)) return false;
      view.state.facet(actions)?.comment(line.from);
      return true;
    },
  },
});

/** Numbers of both sides, for the unified layout. */
export function numbers(on: Side, both: boolean): Extension {
  return on === "before" ? [beforeNumbers, signs] : [both ? oldNumbers : [], afterNumbers, signs];
}
