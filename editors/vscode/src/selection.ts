// The user's selection, and *Send to Agent*.

import { basename } from "node:path";
import * as vscode from "vscode";
import type { LineRange, Selection } from "../../protocol";
import { debounce } from "./promises";
import type { Hub } from "./hub";
import { fromSelection, isOnDisk, isSame, pathOf } from "./uris";
import { showBriefly } from "./status";
import { plain } from "./plain_text";

const DEBOUNCE_MS = 100;
/** Enough for any agent; a huge file is not sent whole on every selection. */
const MAX_TEXT = 1_000_000;

export function selection(context: vscode.ExtensionContext, hub: Hub): void {
  // Kept when the editor loses focus, because users talk to agents in a terminal.
  let latest = current();
  const changed = debounce(context, DEBOUNCE_MS, () => {
    const now = current();
    if (now !== null) {
      latest = now;
      hub.notify("selection/changed", { selection: now });
    }
  });
  context.subscriptions.push(
    vscode.window.onDidChangeTextEditorSelection(changed),
    vscode.window.onDidChangeActiveTextEditor(changed),
    hub.onState(changed),
    vscode.commands.registerCommand("linkspan.mention", (clicked?: unknown, all?: unknown) => {
      const icon = hub.state.kind === "attached" ? "mention" : "warning";
      const message = hub.state.kind === "attached" ? mention(hub, clicked, all) : "The hub is not connected";
      showBriefly(`$(${icon}) ${message}`);
    }),
  );
  hub.onRequest("selection/current", current);
  // Includes a selection that is still being debounced.
  hub.onRequest("selection/latest", () => (latest = current() ?? latest));
}

function current(): Selection | null {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !isOnDisk(editor.document.uri)) {
    return null;
  }
  const text = editor.document.getText(editor.selection).slice(0, MAX_TEXT);
  const { isEmpty } = editor.selection;
  return { path: pathOf(editor.document.uri), text, isEmpty, ...fromSelection(editor.selection) };
}

/** The Explorer passes the clicked file and the whole selection there, an editor or its tab passes its file. */
function mention(hub: Hub, clicked: unknown, all: unknown): string {
  const editor = vscode.window.activeTextEditor;
  const named: unknown[] = Array.isArray(all) ? all : [clicked ?? editor?.document.uri];
  const files = named.filter((uri) => uri instanceof vscode.Uri).filter(isOnDisk);
  const sent = files.map((uri) => {
    const isShown = !Array.isArray(all) && editor !== undefined && isSame(editor.document.uri, uri);
    const lines = isShown ? selectedLines(editor.selection) : undefined;
    hub.notify("mentioned", { path: pathOf(uri), ...(lines && { lines }) });
    return basename(pathOf(uri)) + (lines === undefined ? "" : `:${lines.first + 1}–${lines.last + 1}`);
  });
  return sent.length === 0 ? "No file to send here" : `Mentioned ${plain(sent.join(", "))} to this window's agents`;
}

/** Whole lines. A last line that is selected only up to its first character does not count. */
function selectedLines({ start, end, isEmpty }: vscode.Selection): LineRange | undefined {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return isEmpty ? undefined : { first: start.line, last };
}
