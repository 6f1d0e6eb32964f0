// What the person has selected, and what she points the agents at.

import { basename } from "node:path";
import * as vscode from "vscode";
import type { LineRange, Selection } from "../../protocol";
import { atRest } from "./background";
import type { Hub } from "./hub";
import { fromSelection, isOnDisk, isSame, pathOf } from "./places";
import { sayBriefly } from "./status";
import { plain } from "./wording";

const REST_MS = 100;
/** Enough for any agent; all of a huge file is not sent each time the cursor rests. */
const LONGEST_TEXT = 1_000_000;

export function selection(context: vscode.ExtensionContext, hub: Hub): void {
  // It outlives the focus: agents are spoken to in a terminal.
  let latest = current();
  const rested = atRest(context, REST_MS, () => {
    const now = current();
    if (now !== null) {
      latest = now;
      hub.tell("selection/changed", { selection: now });
    }
  });
  context.subscriptions.push(
    vscode.window.onDidChangeTextEditorSelection(rested),
    vscode.window.onDidChangeActiveTextEditor(rested),
    hub.onState(rested),
    vscode.commands.registerCommand("linkspan.mention", (clicked?: unknown, all?: unknown) => {
      const icon = hub.state.kind === "attached" ? "mention" : "warning";
      const said = hub.state.kind === "attached" ? mention(hub, clicked, all) : "The hub is not there";
      sayBriefly(`$(${icon}) ${said}`);
    }),
  );
  hub.answers("selection/current", current);
  // What was told once is remembered, even if it has not rested yet.
  hub.answers("selection/latest", () => (latest = current() ?? latest));
}

function current(): Selection | null {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !isOnDisk(editor.document.uri)) {
    return null;
  }
  const text = editor.document.getText(editor.selection).slice(0, LONGEST_TEXT);
  const { isEmpty } = editor.selection;
  return { path: pathOf(editor.document.uri), text, isEmpty, ...fromSelection(editor.selection) };
}

/** The explorer gives what was clicked and all that is selected there, an editor or its tab what it shows. */
function mention(hub: Hub, clicked: unknown, all: unknown): string {
  const editor = vscode.window.activeTextEditor;
  const named: unknown[] = Array.isArray(all) ? all : [clicked ?? editor?.document.uri];
  const files = named.filter((uri) => uri instanceof vscode.Uri).filter(isOnDisk);
  const sent = files.map((uri) => {
    const isShown = !Array.isArray(all) && editor !== undefined && isSame(editor.document.uri, uri);
    const lines = isShown ? selectedLines(editor.selection) : undefined;
    hub.tell("mentioned", { path: pathOf(uri), ...(lines && { lines }) });
    return basename(pathOf(uri)) + (lines === undefined ? "" : `:${lines.first + 1}–${lines.last + 1}`);
  });
  return sent.length === 0 ? "There is no file here to send" : `Mentioned ${plain(sent.join(", "))} to this window's agents`;
}

/** Whole lines; one that is selected only up to its first character is not meant. */
function selectedLines({ start, end, isEmpty }: vscode.Selection): LineRange | undefined {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return isEmpty ? undefined : { first: start.line, last };
}
