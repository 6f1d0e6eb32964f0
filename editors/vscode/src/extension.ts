// The extension's beginning and end: makes the line to the hub and lets every part join it.

import * as vscode from "vscode";
import { Program, folders } from "./program";
import { reviews } from "./reviews";

export function activate(context: vscode.ExtensionContext): { ask: Program["answer"] } | undefined {
  const log = vscode.window.createOutputChannel("Linkspan", { log: true });
  const hub = new Program(context, log);
  context.subscriptions.push(log, hub);
  reviews(context, hub, log);
  context.subscriptions.push(
    vscode.commands.registerCommand("linkspan.restart", () => hub.restart()),
    vscode.commands.registerCommand("linkspan.showLog", () => log.show()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("linkspan.binary")) {
        hub.restart();
      }
    }),
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
