// The language of a file, by its name alone.

import { cpp } from "@codemirror/lang-cpp";
import { css } from "@codemirror/lang-css";
import { go } from "@codemirror/lang-go";
import { html } from "@codemirror/lang-html";
import { java } from "@codemirror/lang-java";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { php } from "@codemirror/lang-php";
import { python } from "@codemirror/lang-python";
import { rust } from "@codemirror/lang-rust";
import { sql } from "@codemirror/lang-sql";
import { xml } from "@codemirror/lang-xml";
import { yaml } from "@codemirror/lang-yaml";
import { type Language, type LanguageSupport, StreamLanguage, type StreamParser } from "@codemirror/language";
import { c, csharp, dart, kotlin, scala } from "@codemirror/legacy-modes/mode/clike";
import { cmake } from "@codemirror/legacy-modes/mode/cmake";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { haskell } from "@codemirror/legacy-modes/mode/haskell";
import { julia } from "@codemirror/legacy-modes/mode/julia";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { nginx } from "@codemirror/legacy-modes/mode/nginx";
import { perl } from "@codemirror/legacy-modes/mode/perl";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { protobuf } from "@codemirror/legacy-modes/mode/protobuf";
import { r } from "@codemirror/legacy-modes/mode/r";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";

export type FileLanguage = Language | LanguageSupport;

type Make = () => FileLanguage;

function stream(parser: StreamParser<unknown>): Make {
  return () => StreamLanguage.define(parser);
}

/** By file extension. */
const ENDINGS: ReadonlyArray<readonly [string, Make]> = [
  ["rs", rust],
  ["js mjs cjs", javascript],
  ["jsx", () => javascript({ jsx: true })],
  ["ts mts cts", () => javascript({ typescript: true })],
  ["tsx", () => javascript({ jsx: true, typescript: true })],
  ["py pyi pyw", python],
  ["json jsonc json5 ipynb webmanifest", json],
  ["html htm xhtml vue svelte", html],
  ["css scss less", css],
  ["md markdown mdx", markdown],
  ["cpp cc cxx hpp hh hxx ino h", cpp],
  ["c", stream(c)],
  ["java", java],
  ["go", go],
  ["php phtml", php],
  ["sql", sql],
  ["xml svg xsd xsl plist csproj", xml],
  ["yaml yml", yaml],
  ["sh bash zsh ksh env", stream(shell)],
  ["toml", stream(toml)],
  ["rb rake gemspec", stream(ruby)],
  ["lua", stream(lua)],
  ["swift", stream(swift)],
  ["kt kts", stream(kotlin)],
  ["cs", stream(csharp)],
  ["scala sc", stream(scala)],
  ["dart", stream(dart)],
  ["gradle groovy", stream(groovy)],
  ["hs", stream(haskell)],
  ["jl", stream(julia)],
  ["pl pm", stream(perl)],
  ["ps1 psm1", stream(powerShell)],
  ["r", stream(r)],
  ["proto", stream(protobuf)],
  ["cmake", stream(cmake)],
  ["diff patch", stream(diff)],
  ["ini cfg conf properties editorconfig gitconfig", stream(properties)],
  ["dockerfile", stream(dockerFile)],
];

/** By the whole name. */
const NAMES: ReadonlyArray<readonly [string, Make]> = [
  ["dockerfile containerfile", stream(dockerFile)],
  ["cmakelists.txt", stream(cmake)],
  ["cargo.lock pipfile", stream(toml)],
  ["gemfile rakefile vagrantfile", stream(ruby)],
  ["nginx.conf", stream(nginx)],
  ["jenkinsfile", stream(groovy)],
  [".bashrc .zshrc .profile .bash_profile", stream(shell)],
];

export function languageOf(path: string): FileLanguage | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const ending = name.slice(name.lastIndexOf(".") + 1);
  const found = find(NAMES, name) ?? (ending === name ? undefined : find(ENDINGS, ending));
  return found === undefined ? null : found();
}

function find(table: ReadonlyArray<readonly [string, Make]>, key: string): Make | undefined {
  return table.find(([keys]) => keys.split(" ").includes(key))?.[1];
}
