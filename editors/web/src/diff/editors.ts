// The extensions of the two editors. Holds no state of its own.

import { defaultKeymap, history, historyKeymap, standardKeymap } from "@codemirror/commands";
import { Compartment, EditorState, type Extension, type Text } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap } from "@codemirror/view";
import { type Region, folded } from "./collapse";
import { type Comments, commentWidgets, commentsField } from "./comments";
import { proposedBars, baseBars, unifiedBars } from "./hunk_bar";
import { hiddenCharacters } from "./hidden_characters";
import { gaps } from "./align_sides";
import { marks } from "./marks";
import { numbers } from "./numbers";
import { colours, syntaxColours } from "./palette";
import { removedLines } from "./removed_lines";
import { lineEnds } from "./line_endings";
import { type DiffState, baseText, diffStateField, side } from "./diff_state";
import { searched, searching } from "./search";
import type { Separator } from "./text";
import { theme } from "./theme";
import type { Layout } from "./view";

/** The parts that are reconfigured while an editor exists. */
const layoutPart = new Compartment();
const abilityPart = new Compartment();

/** The configuration that both editors share. */
export interface Common {
  readonly base: Text;
  readonly separator: Separator;
  readonly nonce: string;
  readonly language: Extension;
  readonly conflicts: Extension;
  /** The container of the search field. */
  readonly finder: HTMLElement;
  /** Handlers of button presses and updates. */
  readonly reactions: Extension;
}

function common(with_: Common, shown: DiffState, regions: readonly Region[]): Extension {
  const { base, separator, nonce, language, conflicts, finder, reactions } = with_;
  return [
    EditorView.cspNonce.of(nonce),
    EditorState.lineSeparator.of(separator),
    EditorState.tabSize.of(4),
    EditorView.lineWrapping,
    baseText.of(base),
    diffStateField.init(() => shown),
    folded(regions),
    marks,
    hiddenCharacters,
    highlightActiveLine(),
    conflicts,
    language,
    colours,
    theme,
    syntaxColours,
    searching(finder),
    reactions,
  ];
}

export function beforeState(with_: Common, shown: DiffState, regions: readonly Region[]): EditorState {
  const extensions = [
    side.of("before"),
    baseBars,
    gaps,
    numbers("before", false),
    searched.of("base text"),
    reading("Base text"),
    common(with_, shown, regions),
  ];
  return EditorState.create({ doc: with_.base, extensions });
}

export interface After {
  readonly doc: Text;
  readonly layout: Layout;
  readonly comments: Comments;
}

export function afterState(with_: Common, shown: DiffState, regions: readonly Region[], after: After): EditorState {
  const { doc, layout, comments } = after;
  const extensions = [
    side.of("after"),
    commentsField.init(() => comments),
    commentWidgets,
    layoutPart.of(layoutExtension(layout)),
    abilityPart.of(shown.mode === "editing" ? writing(with_.separator) : reading("Proposed text")),
    common(with_, shown, regions),
  ];
  return EditorState.create({ doc, extensions });
}

export function layoutEffect(layout: Layout): ReturnType<typeof layoutPart.reconfigure> {
  return layoutPart.reconfigure(layoutExtension(layout));
}

export function closedEffect(): ReturnType<typeof abilityPart.reconfigure> {
  return abilityPart.reconfigure(reading("Proposed text"));
}

function layoutExtension(layout: Layout): Extension {
  return layout === "split"
    ? [proposedBars, gaps, numbers("after", false), searched.of("proposed text")]
    : [unifiedBars, removedLines, numbers("after", true), searched.of("proposed text, without removed lines")];
}

function writing(separator: Separator): Extension {
  return [
    lineEnds(separator),
    history(),
    keymap.of([...historyKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({ "aria-label": "Proposed text" }),
  ];
}

/** Not editable, but focusable: the current line can be moved and commented on. */
function reading(label: string): Extension {
  return [
    EditorView.editable.of(false),
    EditorState.readOnly.of(true),
    keymap.of(standardKeymap),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
  ];
}
