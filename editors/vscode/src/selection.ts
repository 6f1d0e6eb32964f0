// The user's selection, and *Send to Agent*.

import { basename } from "node:path";
import * as vscode from "vscode";
import type { LineRange, Selection } from "../../protocol";
import { agentsOf, sessionOf } from "./agents";
import { debounce, messageOf } from "./promises";
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
    vscode.commands.registerCommand("linkspan.mention", async (clicked?: unknown, all?: unknown) => {
      const message = hub.state.kind === "attached" ? await mention(hub, clicked, all) : "$(warning) The hub is not connected";
      if (message !== undefined) {
        showBriefly(message);
      }
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

/** The Explorer passes the clicked file and the whole selection there, an editor or its tab passes its file. Undefined if
 * the user changes their mind. */
async function mention(hub: Hub, clicked: unknown, all: unknown): Promise<string | undefined> {
  const editor = vscode.window.activeTextEditor;
  const named: unknown[] = Array.isArray(all) ? all : [clicked ?? editor?.document.uri];
  const files = named.filter((uri) => uri instanceof vscode.Uri).filter(isOnDisk);
  if (files.length === 0) {
    return "$(warning) No file to send here";
  }
  const mentions = files.map((uri) => {
    const isShown = !Array.isArray(all) && editor !== undefined && isSame(editor.document.uri, uri);
    const lines = isShown ? selectedLines(editor.selection) : undefined;
    const name = basename(pathOf(uri)) + (lines === undefined ? "" : `:${lines.first + 1}–${lines.last + 1}`);
    return { path: pathOf(uri), ...(lines && { lines }), name };
  });
  const to = await receiver(hub);
  if (to === undefined) {
    return undefined;
  }
  const sent = await Promise.allSettled(
    mentions.map(({ path, lines }) => hub.request("agents/mention", { path, ...(lines && { lines }), ...to })),
  );
  const failed = sent.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    return `$(warning) Not sent: ${plain(messageOf(failed.reason))}`;
  }
  const agents = new Set(sent.flatMap((each) => (each.status === "fulfilled" ? each.value.agents : [])));
  const names = plain(mentions.map(({ name }) => name).join(", "));
  return agents.size === 0
    ? `$(warning) ${names} was not sent: no agent that takes mentions is connected to this window`
    : `$(mention) Sent ${names} to ${plain([...agents].join(", "))}`;
}

/** One agent or all; the user is asked if there are several. */
async function receiver(hub: Hub): Promise<{ agent?: string } | undefined> {
  const agents = await agentsOf(hub);
  if (agents.length < 2) {
    return {};
  }
  const one = agents.map((agent) => ({ label: plain(agent.name), description: sessionOf(agent), to: { agent: agent.agent } }));
  const picked = await vscode.window.showQuickPick([{ label: "All agents", description: "", to: {} }, ...one], { title: "Send to Agent" });
  return picked?.to;
}

/** Whole lines. A last line that is selected only up to its first character does not count. */
function selectedLines({ start, end, isEmpty }: vscode.Selection): LineRange | undefined {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return isEmpty ? undefined : { first: start.line, last };
}
