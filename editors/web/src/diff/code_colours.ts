// Syntax colours of a piece of code that is in no file, such as in a message. The classes are in the style of those who
// show it.

import { LanguageSupport } from "@codemirror/language";
import { highlightTree, tagHighlighter, tags } from "@lezer/highlight";
import { languageOf } from "./languages";

export interface CodeColour {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** Names that people write after the fence, where they are not the ending of a file. */
const ENDINGS: Readonly<Record<string, string>> = {
  rust: "rs",
  javascript: "js",
  typescript: "ts",
  python: "py",
  python3: "py",
  shell: "sh",
  console: "sh",
  shellscript: "sh",
  ruby: "rb",
  "c++": "cpp",
  "c#": "cs",
  csharp: "cs",
  kotlin: "kt",
  haskell: "hs",
  julia: "jl",
  perl: "pl",
  powershell: "ps1",
  protobuf: "proto",
  markdown: "md",
};

const highlighter = tagHighlighter([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword, tags.deleted], class: "c-keyword" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.macroName, tags.labelName],
    class: "c-name",
  },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.annotation, tags.meta], class: "c-type" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.inserted], class: "c-string" },
  {
    tag: [tags.number, tags.bool, tags.atom, tags.propertyName, tags.attributeName, tags.tagName, tags.url],
    class: "c-constant",
  },
  { tag: [tags.comment, tags.quote], class: "c-comment" },
]);

/** In order, without overlaps; empty if the language is not known. */
export function colourCode(text: string, language: string): CodeColour[] {
  const name = language.toLowerCase();
  const found = languageOf(`code.${ENDINGS[name] ?? name}`) ?? languageOf(name);
  if (found === null) {
    return [];
  }
  const { parser } = found instanceof LanguageSupport ? found.language : found;
  const colours: CodeColour[] = [];
  highlightTree(parser.parse(text), highlighter, (from, to, classes) => colours.push({ from, to, name: classes }));
  return colours;
}
