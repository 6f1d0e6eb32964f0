// What the person has selected, and what she points the agents at.

import { basename } from "node:path";
import * as vscode from "vscode";
import type { LineRange, Selection } from "../../protocol";
import { atRest } from "./background";
import type { Hub } from "./hub";
import { fromSelection, isOnDisk, isSame, pathOf } from "./places";

const REST_MS = 100;
/** Enough for any agent; all of a huge file is not sent each time the cursor rests. */
const LONGEST_TEXT = 1_000_000;

export function selection(context: vscode.ExtensionContext, hub: Hub): void {
  const current = () => {
    const editor = vscode.window.activeTextEditor;
    return editor !== undefined && isOnDisk(editor.document.uri) ? selectionOf(editor) : null;
  };
  // It outlives the focus: agents are asked in a terminal.
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
    hub.onState(({ kind }) => {
      if (kind === "attached") {
        rested();
      }
    }),
    vscode.commands.registerCommand("linkspan.mention", (clicked?: unknown, all?: unknown) => {
      mention(hub, clicked, all);
    }),
  );
  hub.answers("selection/current", current);
  hub.answers("selection/latest", () => current() ?? latest);
}

function selectionOf({ document, selection }: vscode.TextEditor): Selection {
  const text = document.getText(selection).slice(0, LONGEST_TEXT);
  return { path: pathOf(document.uri), text, isEmpty: selection.isEmpty, ...fromSelection(selection) };
}

/** The explorer gives what was clicked and all that is selected there, an editor or its tab what it shows. */
function mention(hub: Hub, clicked: unknown, all: unknown): void {
  const editor = vscode.window.activeTextEditor;
  const named = Array.isArray(all) ? all : [clicked ?? editor?.document.uri];
  const files = named.filter((uri) => uri instanceof vscode.Uri).filter(isOnDisk);
  if (hub.state.kind !== "attached" || files.length === 0) {
    const why = files.length === 0 ? "there is no file here to send" : "the hub is not there: see the status bar";
    vscode.window.setStatusBarMessage(`$(warning) Linkspan: ${why}`, 5000);
    return;
  }
  const sent = files.map((uri) => {
    const fromEditor = !Array.isArray(all) && editor !== undefined && isSame(editor.document.uri, uri);
    const lines = fromEditor ? selectedLines(editor.selection) : undefined;
    hub.tell("mentioned", { path: pathOf(uri), ...(lines && { lines }) });
    return basename(pathOf(uri)) + (lines === undefined ? "" : `:${lines.first + 1}-${lines.last + 1}`);
  });
  vscode.window.setStatusBarMessage(`$(mention) Sent to agents: ${sent.join(", ")}`, 5000);
}

/** Whole lines; one that is selected only up to its first character is not meant. */
function selectedLines({ start, end, isEmpty }: vscode.Selection): LineRange | undefined {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return isEmpty ? undefined : { first: start.line, last };
}
