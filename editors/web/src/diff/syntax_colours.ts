// Syntax colours of a range of a text that no editor holds. Knows nothing of changes.

import { type Language, highlightingFor } from "@codemirror/language";
import { type EditorState, Facet, type Text } from "@codemirror/state";
import { highlightTree } from "@lezer/highlight";

type Tree = Parameters<typeof highlightTree>[0];

export interface Coloured {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

export const languageFacet = Facet.define<Language, Language | null>({ combine: (values) => values[0] ?? null });

/** In a larger text, a range is parsed without the text before it. */
const LARGEST_WHOLE = 200_000;
const LARGEST_STRETCH = 20_000;

const trees = new WeakMap<Text, Tree>();

export function coloursOf(state: EditorState, doc: Text, from: number, to: number): Coloured[] {
  const known = state.facet(languageFacet);
  if (known === null) return [];
  const colours: Coloured[] = [];
  const paint = (tree: Tree, offset: number): void => {
    const style = { style: (tags: Parameters<typeof highlightingFor>[1]) => highlightingFor(state, tags) };
    const put = (start: number, end: number, name: string): void => {
      colours.push({ from: start + offset, to: end + offset, name });
    };
    highlightTree(tree, style, put, from - offset, to - offset);
  };
  if (doc.length <= LARGEST_WHOLE) {
    const tree = trees.get(doc) ?? known.parser.parse(doc.toString());
    trees.set(doc, tree);
    paint(tree, 0);
  } else if (to - from <= LARGEST_STRETCH) {
    paint(known.parser.parse(doc.sliceString(from, to)), from);
  }
  return colours;
}
