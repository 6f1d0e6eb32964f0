// How the diff looks. Colours come from the page's style and the palette; only shapes and places are here.

import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { StyleModule } from "style-mod";
import { BAR_HEIGHT, LINE_HEIGHT } from "./block";

const BAR = `${BAR_HEIGHT}px`;
const LINE = `${LINE_HEIGHT}px`;

const bars = {
  ".ls-head, .ls-foldRow, .ls-conflict": {
    boxSizing: "border-box",
    height: BAR,
    display: "flex",
    alignItems: "center",
    gap: "10px",
    padding: "0 10px",
    overflow: "hidden",
    whiteSpace: "nowrap",
    font: "12px/1.2 var(--sans)",
    color: "var(--muted)",
    background: "var(--raised)",
    borderTop: "1px solid var(--line)",
  },
  ".ls-head": { scrollMarginTop: "72px" },
  ".ls-head.ls-atHand": { background: "var(--chosen)", color: "var(--text)" },
<<<<<<< HEAD
  ".ls-head label": { display: "flex", alignItems: "center", gap: "7px", cursor: "pointer", color: "var(--text)", fontWeight: "600" },
  // As large as a finger or an unsteady hand needs it.
  ".ls-head input": { margin: "0", width: "24px", height: "24px", accentColor: "var(--accent)", cursor: "inherit" },
=======
  ".ls-head label": {
    display: "flex",
    alignItems: "center",
    gap: "7px",
    cursor: "pointer",
    color: "var(--text)",
    fontWeight: "600",
  },
  ".ls-head input": { margin: "0", width: "15px", height: "15px", accentColor: "var(--accent)", cursor: "inherit" },
>>>>>>> h-diff
  ".ls-head label:has(:disabled)": { cursor: "default" },
  ".ls-leftWord": {
    display: "none",
    fontWeight: "400",
    color: "var(--muted)",
    borderLeft: "1px solid var(--line)",
    paddingLeft: "7px",
  },
  ".ls-leftOut .ls-leftWord": { display: "inline" },
  ".ls-name": { display: "inline-flex", gap: "10px", alignItems: "center" },
  ".ls-counts": { marginLeft: "auto", display: "inline-flex", gap: "8px", fontVariantNumeric: "tabular-nums" },
  ".ls-plus": { color: "var(--ls-added-ink)" },
  ".ls-minus": { color: "var(--ls-removed-ink)" },
  ".ls-conflict": {
    background: "var(--ls-warn-ground)",
    color: "var(--ls-warn-ink)",
    borderTop: "1px solid var(--ls-warn-edge)",
    display: "block",
    lineHeight: BAR,
    textOverflow: "ellipsis",
    fontWeight: "600",
  },
  ".ls-foldRow": { padding: "0", borderBottom: "1px solid var(--line)" },
  ".ls-fold": { justifyContent: "center", cursor: "pointer", font: "inherit", color: "var(--accent)" },
  "button.ls-fold": { width: "100%", height: "100%", border: "none", background: "none" },
  ".ls-fold:hover": { background: "var(--chosen)" },
};

const controls = {
  ".ls-diff button:not(.ls-fold)": {
    font: "12px/1.4 var(--sans)",
    padding: "1px 9px",
    minHeight: "24px",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    background: "var(--surface)",
    color: "var(--text)",
    cursor: "pointer",
  },
  ".ls-diff button:not(.ls-fold):hover": { borderColor: "var(--accent)" },
  ".ls-diff button.ls-primary": { background: "var(--accent)", color: "var(--on-accent)", borderColor: "var(--accent)" },
  ".ls-diff :is(button, input, textarea):focus-visible": { outline: "2px solid var(--focus)", outlineOffset: "-1px" },
  ".ls-diff button.ls-more": { display: "block", margin: "4px 10px" },
  ".ls-comment": {
    font: "13px/1.45 var(--sans)",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
    padding: "8px 12px",
    maxWidth: "56em",
    boxSizing: "border-box",
    border: "1px solid var(--line)",
    borderLeft: "3px solid var(--accent)",
    borderRadius: "6px",
    background: "var(--raised)",
    color: "var(--text)",
  },
  // Padding and not a margin: an editor does not see margins between its lines.
  ".ls-commentRow": { padding: "4px 10px 6px" },
  ".ls-comment p": { margin: "0 0 6px" },
  ".ls-comment button": { marginRight: "6px" },
  ".ls-comment textarea": {
    display: "block",
    width: "100%",
    boxSizing: "border-box",
    margin: "0 0 8px",
    padding: "6px 8px",
    font: "inherit",
    color: "var(--text)",
    background: "var(--surface)",
    border: "1px solid var(--muted)",
    borderRadius: "6px",
    resize: "vertical",
  },
};

const finder = {
  ".ls-finder": { position: "sticky", top: "0", zIndex: "400" },
  ".ls-finder .cm-panels": { background: "none", border: "none" },
  ".ls-find": {
    display: "flex",
    flexWrap: "wrap",
    alignItems: "center",
    gap: "6px 8px",
    padding: "6px 10px",
    font: "12px/1.4 var(--sans)",
    color: "var(--text)",
    background: "var(--raised)",
    borderBottom: "1px solid var(--line)",
  },
  ".ls-find label": { display: "flex", flex: "0 1 44em", alignItems: "center", gap: "8px", minWidth: "0" },
  ".ls-find label span": { flex: "none", maxWidth: "60%" },
  ".ls-find input": {
    flex: "1 1 8em",
    minWidth: "6em",
    padding: "2px 7px",
    font: "12.5px/1.5 var(--mono)",
    color: "var(--text)",
    background: "var(--surface)",
    border: "1px solid var(--muted)",
    borderRadius: "6px",
  },
  ".ls-nothing": { color: "var(--muted)" },
  ".ls-find [data-action=find-close]": { marginLeft: "auto" },
};

const sides = {
  ".ls-diff": {
    height: "100%",
    overflowY: "auto",
    overflowX: "hidden",
    background: "var(--surface)",
    color: "var(--text)",
    containerType: "inline-size",
  },
  ".ls-sides": { display: "flex", alignItems: "stretch", minHeight: "100%" },
  ".ls-side": { flex: "1 1 0", minWidth: "0", position: "relative" },
  ".ls-side:has(.cm-content:focus-visible)::after": {
    content: '""',
    position: "absolute",
    inset: "0",
    border: "2px solid var(--focus)",
    pointerEvents: "none",
    zIndex: "300",
  },
  ".ls-before": { borderRight: "1px solid var(--line)" },
  // One column of numbers is left: a removed line has its old number there. Important, because the editor insists on
  // showing its gutters.
  "@container (max-width: 600px)": {
    ".ls-diff .cm-gutters .ls-oldNumbers": { display: "none !important" },
    ".ls-diff .ls-removedNumber": { right: "calc(100% + 18px + 8px) !important" },
  },
};

const lines = EditorView.theme({
  "&": { background: "transparent", color: "var(--text)", fontSize: "12.5px", height: "auto" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    lineHeight: LINE,
    overflow: "visible !important",
  },
  ".cm-content": { padding: "0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 10px 0 6px" },
  ".cm-line::selection, .cm-line ::selection": { background: "var(--ls-selection) !important" },
  ".cm-activeLine": { background: "transparent" },
  "&.cm-focused .cm-activeLine": { boxShadow: "inset 0 0 0 100px var(--ls-line)" },
  ".cm-gutters": { background: "var(--surface)", color: "var(--muted)", border: "none" },
  ".ls-numbers": { minWidth: "calc(var(--ls-digits, 3) * 1ch + 18px)", fontVariantNumeric: "tabular-nums" },
  ".ls-numbers .cm-gutterElement": { padding: "0 8px 0 10px", textAlign: "right" },
  ".ls-commentable .cm-gutterElement": { cursor: "pointer" },
  ".ls-commentable .cm-gutterElement:hover": { color: "var(--text)", textDecoration: "underline" },
  ".ls-signs": { width: "18px" },
  ".ls-signs .cm-gutterElement": { textAlign: "center" },
  ".ls-added": { background: "var(--ls-added-line)" },
  ".ls-removed": { background: "var(--ls-removed-line)" },
  ".cm-gutterElement.ls-added": { background: "var(--ls-added-edge)", color: "var(--ls-added-ink)" },
  ".cm-gutterElement.ls-removed": { background: "var(--ls-removed-edge)", color: "var(--ls-removed-ink)" },
  ".cm-searchMatch": { background: "var(--ls-match)" },
  ".cm-searchMatch.cm-searchMatch-selected": { background: "var(--ls-match-here)", outline: "1px solid currentColor" },
  ".cm-line .cm-searchMatch .ls-word": { background: "none" },
  ".ls-word": { borderRadius: "2px" },
  ".ls-added .ls-word": { background: "var(--ls-added-word)" },
  ".ls-removed .ls-word": { background: "var(--ls-removed-word)" },
  ".cm-gutterElement.ls-barEdge": { background: "var(--raised)", boxShadow: "inset 0 1px var(--line)" },
  ".cm-gutterElement.ls-foldEdge": { boxShadow: "inset 0 1px var(--line), inset 0 -1px var(--line)" },
  ".cm-gutterElement.ls-atHandEdge": { background: "var(--chosen)" },
  ".ls-numbers:first-child .ls-atHandEdge": { boxShadow: "inset 3px 0 var(--accent), inset 0 1px var(--line)" },
  ".cm-gutterElement.ls-conflictEdge": { background: "var(--ls-warn-ground)", boxShadow: "inset 0 1px var(--ls-warn-edge)" },
  ".ls-left": { background: "var(--raised)", textDecoration: "line-through" },
  ".cm-line.ls-left, .cm-line.ls-left *": { color: "var(--muted)" },
  ".cm-gutterElement.ls-left": { textDecoration: "none" },
  ".ls-gap": { background: "var(--ls-gap)" },
  ".ls-hidden": {
    font: "10px/14px var(--mono)",
    padding: "0 3px",
    margin: "0 1px",
    borderRadius: "3px",
    background: "var(--ls-hidden-ground)",
    color: "var(--ls-hidden-ink)",
    outline: "1px solid currentColor",
    outlineOffset: "-1px",
    unicodeBidi: "isolate",
  },
  ".ls-noEnd": {
    font: "11px/14px var(--sans)",
    padding: "0 5px",
    marginLeft: "8px",
    borderRadius: "3px",
    color: "var(--ls-warn-ink)",
    background: "var(--ls-warn-ground)",
    userSelect: "none",
  },
  ".ls-hidden.ls-return": { background: "none", color: "var(--ls-comment)", fontSize: "8.5px", padding: "0 2px" },
  ".ls-removedLine": {
    position: "relative",
    padding: "0 10px 0 6px",
    whiteSpace: "break-spaces",
    overflowWrap: "anywhere",
    minHeight: LINE,
  },
  ".ls-removedLine del": { textDecoration: "none" },
  ".ls-removedNumber, .ls-removedSign": {
    position: "absolute",
    top: "0",
    zIndex: "201",
    whiteSpace: "nowrap",
    color: "var(--ls-removed-ink)",
    pointerEvents: "none",
  },
  ".ls-removedSign": { right: "100%", width: "18px", textAlign: "center" },
  ".ls-removedNumber": { right: "calc(100% + 18px + var(--ls-digits, 3) * 1ch + 18px + 8px)" },
  ".ls-kept .ls-removedNumber": { color: "var(--muted)" },
});

const frame = new StyleModule({ ...sides, ...bars, ...controls, ...finder });

export const theme: Extension = [lines, EditorView.styleModule.of(frame)];
