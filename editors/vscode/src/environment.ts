// What integrated terminals are told, so that an agent started there finds this window, and `linkspan` itself.

import { delimiter, dirname } from "node:path";
import * as vscode from "vscode";
import type { Program } from "./program";

export function environment(context: vscode.ExtensionContext, hub: Program): void {
  // Kept over restarts: terminals that VS Code restores open before this extension runs, and the hub gives a window
  // its port back. What is no longer true is replaced on the next attach.
  const variables = context.environmentVariableCollection;
  variables.description = "Lets agents that are started here find this window.";
  const update = () => {
    const isWanted = vscode.workspace.getConfiguration("linkspan").get<boolean>("terminal.environment", true);
    if (hub.state.kind === "attached" || hub.state.kind === "failed" || !isWanted) {
      variables.clear();
    }
    if (hub.state.kind === "attached" && isWanted) {
      for (const [name, value] of Object.entries(hub.state.environment)) {
        variables.replace(name, value);
      }
      // In our own folder there is nothing else; one that the person named must not come before hers.
      const folder = dirname(hub.binary);
      if (hub.isBundled) {
        variables.prepend("PATH", folder + delimiter);
      } else {
        variables.append("PATH", delimiter + folder);
      }
    }
  };
  context.subscriptions.push(hub.onState(update), vscode.workspace.onDidChangeConfiguration(update));
}
