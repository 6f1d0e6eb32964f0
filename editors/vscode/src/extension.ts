// The extension's beginning: makes the line to the hub and lets every part join it. It ends with the window.

import * as vscode from "vscode";
import { messageOf } from "./background";
import { diagnostics } from "./diagnostics";
import { documents } from "./documents";
import { edits } from "./edits";
import { environment } from "./environment";
import { history } from "./history";
import { folders } from "./introduction";
import { language } from "./language";
import { notebook } from "./notebook";
import { Program } from "./program";
import { reviews } from "./reviews";
import { selection } from "./selection";
import { status } from "./status";
import { terminal } from "./terminal";
import { user } from "./user";

/** Names that other agents' extensions gave to the same things. */
const ALIASES = {
  "nexus3.diffAccept": "linkspan.accept",
  "nexus3.diffReject": "linkspan.reject",
  "ppxai.showBridgeStatus": "linkspan.bridgeStatus",
};

export function activate(context: vscode.ExtensionContext): { ask: Program["answer"] } | undefined {
  const log = vscode.window.createOutputChannel("Linkspan", { log: true });
  const hub = new Program(context.extensionPath, log);
  context.subscriptions.push(log, hub);
  hub.answers("ping", () => null);
  for (const part of [documents, edits, selection, diagnostics, language, terminal, notebook, user]) {
    part(context, hub, log);
  }
  environment(context, hub);
  history(context, hub, log);
  status(context, hub, log, reviews(context, hub, log));
  const others = vscode.extensions.all.filter(({ id }) => id !== context.extension.id);
  for (const [alias, command] of Object.entries(ALIASES)) {
    if (others.some((extension) => hasCommand(extension, alias))) {
      continue;
    }
    const perform = (...given: unknown[]) => vscode.commands.executeCommand(command, ...given);
    try {
      context.subscriptions.push(vscode.commands.registerCommand(alias, perform));
    } catch (error) {
      log.info(`The extension that \`${alias}\` comes from keeps it: ${messageOf(error)}`);
    }
  }
  context.subscriptions.push(
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

/** What a manifest says of commands may be one or many. */
function hasCommand({ packageJSON }: vscode.Extension<unknown>, command: string): boolean {
  const { contributes } = packageJSON as { contributes?: { commands?: unknown } };
  return JSON.stringify(contributes?.commands ?? []).includes(`"command":"${command}"`);
}
