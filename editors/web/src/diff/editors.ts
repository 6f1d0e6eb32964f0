// What the two editors are made of. Holds no state of its own.

import { defaultKeymap, history, historyKeymap, standardKeymap } from "@codemirror/commands";
import { Compartment, EditorState, type Extension, type Text } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap } from "@codemirror/view";
import { type Region, folded } from "./collapse";
import { type Comments, commentWidgets, commentsField } from "./comments";
import { afterHeads, beforeHeads, bothHeads } from "./heads";
import { hiddenCharacters } from "./hidden";
import { gaps } from "./level";
import { marks } from "./marks";
import { numbers } from "./numbers";
import { colours, syntaxColours } from "./palette";
import { removedLines } from "./removed";
import { lineEnds } from "./returns";
import { type Shown, baseText, shownField, side } from "./shown";
import { searched, searching } from "./searching";
import type { Separator } from "./text";
import { theme } from "./theme";
import type { Layout } from "./view";

/** What changes while an editor lives. */
const layoutPart = new Compartment();
const abilityPart = new Compartment();

/** What both editors have in common. */
export interface Common {
  readonly base: Text;
  readonly separator: Separator;
  readonly nonce: string;
  readonly language: Extension;
  readonly conflicts: Extension;
  /** Where the field to search with is put. */
  readonly finder: HTMLElement;
  /** What presses and updates do. */
  readonly reactions: Extension;
}

function common(with_: Common, shown: Shown, regions: readonly Region[]): Extension {
  const { base, separator, nonce, language, conflicts, finder, reactions } = with_;
  return [
    EditorView.cspNonce.of(nonce),
    EditorState.lineSeparator.of(separator),
    EditorState.tabSize.of(4),
    EditorView.lineWrapping,
    baseText.of(base),
    shownField.init(() => shown),
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

export function beforeState(with_: Common, shown: Shown, regions: readonly Region[]): EditorState {
  const extensions = [
    side.of("before"),
    beforeHeads,
    gaps,
    numbers("before", false),
    searched.of("text before"),
    reading("Text before"),
    common(with_, shown, regions),
  ];
  return EditorState.create({ doc: with_.base, extensions });
}

export interface After {
  readonly doc: Text;
  readonly layout: Layout;
  readonly comments: Comments;
}

export function afterState(with_: Common, shown: Shown, regions: readonly Region[], after: After): EditorState {
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
    ? [afterHeads, gaps, numbers("after", false), searched.of("proposed text")]
    : [bothHeads, removedLines, numbers("after", true), searched.of("proposed text, without removed lines")];
}

function writing(separator: Separator): Extension {
  return [
    lineEnds(separator),
    history(),
    keymap.of([...historyKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({ "aria-label": "Proposed text" }),
  ];
}

/** Not editable, and yet a place for the keyboard: the line at hand can be moved and commented. */
function reading(label: string): Extension {
  return [
    EditorView.editable.of(false),
    EditorState.readOnly.of(true),
    keymap.of(standardKeymap),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
  ];
}
