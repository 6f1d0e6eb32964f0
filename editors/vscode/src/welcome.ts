// Offers the walkthrough, once in the life of an installation, without taking the focus.

import * as vscode from "vscode";
import type { Hub } from "./hub";

const OFFERED = "linkspan.walkthroughOffered";
const WALKTHROUGH = "linkspan.linkspan#linkspan.start";
const SHOW = "Show Me";

export function welcome(context: vscode.ExtensionContext, _hub: Hub, log: vscode.LogOutputChannel): void {
  if (context.globalState.get<boolean>(OFFERED) ?? false) {
    return;
  }
  offer(context).catch((error: unknown) => {
    log.warn(`The walkthrough could not be offered: ${String(error)}`);
  });
}

async function offer(context: vscode.ExtensionContext): Promise<void> {
  await context.globalState.update(OFFERED, true);
  const choice = await vscode.window.showInformationMessage(
    "Linkspan shows what agents in your terminal want to change, and nothing is written before you accept it.",
    SHOW,
  );
  if (choice === SHOW) {
    await vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH, false);
  }
}
