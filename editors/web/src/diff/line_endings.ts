// Line endings of a text that mixes both kinds. There a `\r` before a line break is a character and still belongs to
// the line ending: nothing is inserted between the two, and neither is deleted without the other.

import { EditorSelection, EditorState, type Extension, RangeSet, RangeValue, type Text } from "@codemirror/state";
import { type Command, EditorView, keymap } from "@codemirror/view";
import type { Separator } from "./text";

class LineEnd extends RangeValue {}

const lineEnd = new LineEnd();

export function lineEnds(separator: Separator): Extension {
  const written = [
    keymap.of([{ key: "Enter", run: sameLineEnd }]),
    EditorView.clipboardInputFilter.of((text, state) => text.replace(/\r\n?|\n/g, endAtHand(state))),
  ];
  return separator === "\n" ? [written, wholeLineEnds] : written;
}

const wholeLineEnds: Extension = [
  EditorState.transactionFilter.of((transaction) => {
    if (transaction.selection === undefined && !transaction.docChanged) return transaction;
    const kept = outside(transaction.newDoc, transaction.newSelection);
    return kept === null ? transaction : [transaction, { selection: kept, sequential: true }];
  }),
  EditorView.atomicRanges.of(({ state }) => nearEnds(state)),
];

/** A new line gets the ending of the line it was split from. */
export const sameLineEnd: Command = ({ state, dispatch }) => {
  if (endAtHand(state) === state.lineBreak) return false;
  dispatch(state.update(state.replaceSelection(endAtHand(state)), { scrollIntoView: true, userEvent: "input" }));
  return true;
};

function endAtHand(state: EditorState): string {
  return isReturned(state.doc, state.doc.lineAt(state.selection.main.head).number) ? "\r\n" : state.lineBreak;
}

/** Whether a line, counted from 1, ends with `\r\n`. */
function isReturned(doc: Text, line: number): boolean {
  return line >= 1 && line < doc.lines && doc.line(line).text.endsWith("\r");
}

/** The selection moved so that no end of it is between `\r` and `\n`; `null` if it already is. */
function outside(doc: Text, selection: EditorSelection): EditorSelection | null {
  const kept = (pos: number): number => {
    const line = doc.lineAt(pos);
    return pos === line.to && isReturned(doc, line.number) ? pos - 1 : pos;
  };
  const ranges = selection.ranges.map((range) => {
    const [anchor, head] = [kept(range.anchor), kept(range.head)];
    if (anchor === range.anchor && head === range.head) return range;
    return range.empty ? EditorSelection.cursor(head, range.assoc) : EditorSelection.range(anchor, head);
  });
  return ranges.every((range, index) => range === selection.ranges[index])
    ? null
    : EditorSelection.create(ranges, selection.mainIndex);
}

/** The line endings that one cursor step can reach. */
function nearEnds(state: EditorState): RangeSet<LineEnd> {
  const lines = state.selection.ranges.flatMap(({ from, to }) => {
    const [first, last] = [state.doc.lineAt(from).number, state.doc.lineAt(to).number];
    return [first - 1, first, last - 1, last];
  });
  const ends = [...new Set(lines)].filter((line) => isReturned(state.doc, line)).map((number) => {
    const { to } = state.doc.line(number);
    return lineEnd.range(to - 1, to + 1);
  });
  return RangeSet.of(ends, true);
}
