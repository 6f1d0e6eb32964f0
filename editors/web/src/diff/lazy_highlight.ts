// Syntax colours of an editor. A text too large to parse as a whole, which would keep the machine busy while scrolling,
// is parsed in blocks: those on screen, each on its own and at most once.

import { Language } from "@codemirror/language";
import { type Extension, Prec, RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { type Coloured, coloursOf, languageFacet } from "./syntax_colours";
import type { FileLanguage } from "./languages";

const LARGEST_WHOLE = 1_000_000;

/** Block boundaries are at multiples of this line count, so that blocks stay the same while scrolling. */
const LINES = 32;
const MOST_KEPT = 2_000;

export function syntaxOf(made: FileLanguage | null, length: number): Extension {
  if (made === null) return [];
  const known = languageFacet.of(made instanceof Language ? made : made.language);
  return [known, length <= LARGEST_WHOLE ? made : Prec.high(stretchColours)];
}

const stretchColours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    readonly #kept = new Map<string, readonly Coloured[]>();

    constructor(view: EditorView) {
      this.decorations = this.#painted(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged || this.#kept.size > MOST_KEPT) this.#kept.clear();
      if (update.docChanged || update.viewportChanged) this.decorations = this.#painted(update.view);
    }

    #painted(view: EditorView): DecorationSet {
      const builder = new RangeSetBuilder<Decoration>();
      for (const { from, to } of view.visibleRanges) {
        for (let start = from; start < to; ) {
          const { number } = view.state.doc.lineAt(start);
          const last = Math.min(Math.ceil(number / LINES) * LINES, view.state.doc.lines);
          const end = Math.min(to, view.state.doc.line(last).to);
          for (const colour of this.#colours(view, start, end)) builder.add(colour.from, colour.to, mark(colour.name));
          start = end + 1;
        }
      }
      return builder.finish();
    }

    #colours(view: EditorView, from: number, to: number): readonly Coloured[] {
      const name = `${from}-${to}`;
      const colours = this.#kept.get(name) ?? coloursOf(view.state, view.state.doc, from, to);
      this.#kept.set(name, colours);
      return colours;
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const marks = new Map<string, Decoration>();

function mark(name: string): Decoration {
  const known = marks.get(name) ?? Decoration.mark({ class: name });
  marks.set(name, known);
  return known;
}
