// The colours that only the diff uses, for the light and the dark theme. Every text colour has a contrast of at least
// 4.5 : 1 on every background it can appear on.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { StyleModule } from "style-mod";

const COLOURS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  "added-line": ["#e9fbee", "#10251a"],
  "added-word": ["#b5f0c5", "#1a4a29"],
  "added-edge": ["#d3f5dc", "#16371f"],
  "added-ink": ["#116329", "#56d364"],
  "removed-line": ["#fff0ee", "#2a1519"],
  "removed-word": ["#ffd3ce", "#632428"],
  "removed-edge": ["#ffe2de", "#3f1b20"],
  "removed-ink": ["#a40e26", "#ff9d96"],
  gap: ["#f3f5f7", "#11161d"],
  line: ["#0860ca14", "#4493f818"],
  match: ["#fff0a8", "#3f3a12"],
  "match-here": ["#ffd24d", "#5a4300"],
  selection: ["#b6d8ff", "#1b4270"],
  "warn-ground": ["#fff8c5", "#33290c"],
  "warn-ink": ["#6a4a00", "#e8bf4f"],
  "warn-edge": ["#d4a72c", "#9e6a03"],
  "hidden-ground": ["#ffe2b8", "#5a3600"],
  "hidden-ink": ["#6b2f00", "#ffcf8a"],
  keyword: ["#9a1030", "#ffaba3"],
  name: ["#5a32a3", "#d8b9ff"],
  type: ["#7a3500", "#ffbe85"],
  string: ["#0a3069", "#a5d6ff"],
  constant: ["#0349a0", "#8cc8ff"],
  comment: ["#4b545e", "#b6bfc9"],
};

const names = Object.entries(COLOURS).map(([name, [light, dark]]) => [`--ls-${name}`, `light-dark(${light}, ${dark})`]);

/** The page's style selects light or dark. */
export const colours: Extension = EditorView.styleModule.of(
  new StyleModule({ ".ls-diff": Object.fromEntries(names) }),
);

const inks = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword, tags.deleted],
    color: "var(--ls-keyword)",
  },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.macroName, tags.labelName],
    color: "var(--ls-name)",
  },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.annotation, tags.meta], color: "var(--ls-type)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.inserted], color: "var(--ls-string)" },
  {
    tag: [tags.number, tags.bool, tags.atom, tags.propertyName, tags.attributeName, tags.tagName, tags.url],
    color: "var(--ls-constant)",
  },
  { tag: [tags.comment, tags.quote], color: "var(--ls-comment)", fontStyle: "italic" },
  { tag: tags.heading, color: "var(--ls-constant)", fontWeight: "bold" },
  { tag: tags.strong, fontWeight: "bold" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.link, textDecoration: "underline" },
]);

export const syntaxColours: Extension = syntaxHighlighting(inks);
