// The extension's beginning: makes the line to the hub and lets every part join it. It ends with the window, silently.

import * as vscode from "vscode";
import { diagnostics } from "./diagnostics";
import { documents } from "./documents";
import { edits } from "./edits";
import { environment } from "./environment";
import { history } from "./history";
import { language } from "./language";
import { notebook } from "./notebook";
import { Program, folders } from "./program";
import { reviews } from "./reviews";
import { selection } from "./selection";
import { status } from "./status";
import { terminal } from "./terminal";
import { user } from "./user";

/** Names that other agents' extensions gave to the same commands. */
const ALIASES = { "nexus3.diffAccept": "linkspan.accept", "nexus3.diffReject": "linkspan.reject" };

export function activate(context: vscode.ExtensionContext): { ask: Program["answer"] } | undefined {
  const log = vscode.window.createOutputChannel("Linkspan", { log: true });
  const hub = new Program(context, log);
  context.subscriptions.push(log, hub);
  hub.answers("ping", () => null);
  for (const part of [documents, edits, selection, diagnostics, language, terminal, notebook, user]) {
    part(context, hub, log);
  }
  environment(context, hub);
  history(context, hub, log);
  status(context, hub, log, reviews(context, hub, log));
  context.subscriptions.push(
    ...Object.entries(ALIASES).map(([alias, command]) =>
      vscode.commands.registerCommand(alias, (...given: unknown[]) => vscode.commands.executeCommand(command, ...given)),
    ),
    vscode.commands.registerCommand("linkspan.restart", () => hub.restart()),
    vscode.commands.registerCommand("linkspan.showLog", () => log.show()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("linkspan.binary")) {
        hub.restart();
      }
    }),
    // Only a trusted folder may have commands run in it, which is said on attaching.
    vscode.workspace.onDidGrantWorkspaceTrust(() => hub.restart()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => hub.tell("folders/changed", { folders: folders() })),
    vscode.window.onDidChangeWindowState(({ focused }) => hub.tell("focus/changed", { focused })),
    hub.onState(({ kind }) => {
      if (kind === "attached") {
        hub.tell("focus/changed", { focused: vscode.window.state.focused });
      }
    }),
  );
  hub.start();
  return context.extensionMode === vscode.ExtensionMode.Test ? { ask: hub.answer.bind(hub) } : undefined;
}
