// Entry point: creates the connection to the hub and registers every part with it.

import * as vscode from "vscode";
import { messageOf } from "./promises";
import { agents } from "./agents";
import { chat } from "./chat";
import { diagnostics } from "./diagnostics";
import { documents } from "./documents";
import { edits } from "./edits";
import { engine } from "./engine";
import { environment } from "./environment";
import { history } from "./history";
import { folders } from "./attach_params";
import { language } from "./language";
import { notebook } from "./notebook";
import { AttachProcess } from "./attach_process";
import { reviews } from "./reviews";
import { selection } from "./selection";
import { status } from "./status";
import { terminal } from "./terminal";
import { user } from "./user";

/** Command names of other agents' extensions for the same actions. */
const ALIASES = {
  "nexus3.diffAccept": "linkspan.accept",
  "nexus3.diffReject": "linkspan.reject",
  "ppxai.showBridgeStatus": "linkspan.bridgeStatus",
};

export function activate(context: vscode.ExtensionContext): { handle: AttachProcess["handle"] } | undefined {
  const log = vscode.window.createOutputChannel("Linkspan", { log: true });
  const hub = new AttachProcess(context.extensionPath, log);
  context.subscriptions.push(log, hub);
  hub.onRequest("ping", () => null);
  for (const part of [documents, edits, selection, diagnostics, language, terminal, notebook, agents]) {
    part(context, hub, log);
  }
  engine(context, hub, log);
  environment(context, hub);
  history(context, hub, log);
  chat(context, hub, log);
  const questions = user(context, hub, log);
  status(context, hub, log, reviews(context, hub, log, questions), questions);
  const others = vscode.extensions.all.filter(({ id }) => id !== context.extension.id);
  for (const [alias, command] of Object.entries(ALIASES)) {
    if (others.some((extension) => hasCommand(extension, alias))) {
      continue;
    }
    const perform = (...given: unknown[]) => vscode.commands.executeCommand(command, ...given);
    try {
      context.subscriptions.push(vscode.commands.registerCommand(alias, perform));
    } catch (error) {
      log.info(`\`${alias}\` is already registered by another extension: ${messageOf(error)}`);
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
    // Capabilities depend on trust and are sent on attach.
    vscode.workspace.onDidGrantWorkspaceTrust(() => hub.restart()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => hub.notify("folders/changed", { folders: folders() })),
    vscode.window.onDidChangeWindowState(({ focused }) => hub.notify("focus/changed", { focused })),
    hub.onState(({ kind }) => {
      if (kind === "attached") {
        hub.notify("focus/changed", { focused: vscode.window.state.focused });
      }
    }),
  );
  hub.start();
  return context.extensionMode === vscode.ExtensionMode.Test ? { handle: hub.handle.bind(hub) } : undefined;
}

/** `contributes.commands` may be one command or a list. */
function hasCommand({ packageJSON }: vscode.Extension<unknown>, command: string): boolean {
  const { contributes } = packageJSON as { contributes?: { commands?: unknown } };
  return JSON.stringify(contributes?.commands ?? []).includes(`"command":"${command}"`);
}
