// What integrated terminals are told, so that an agent started there finds this window, and `linkspan` itself.

import { delimiter, dirname } from "node:path";
import * as vscode from "vscode";
import type { Program } from "./program";

const SETTING = "linkspan.terminal.environment";

export function environment(context: vscode.ExtensionContext, hub: Program): void {
  // Kept over restarts: terminals that VS Code restores open before this extension runs, and the hub gives a window
  // its port back. What is no longer true is replaced on the next attach.
  const variables = context.environmentVariableCollection;
  variables.description = "Lets agents that are started here find this window.";
  const update = () => {
    const { state } = hub;
    if (state.kind === "failed" || !vscode.workspace.getConfiguration().get<boolean>(SETTING, true)) {
      variables.clear();
    } else if (state.kind === "attached") {
      variables.clear();
      for (const [name, value] of Object.entries(state.environment)) {
        variables.replace(name, value);
      }
      const folder = dirname(hub.binary);
      // Nothing else is in our own folder; one that the person named must not come before hers.
      if (hub.isBundled) {
        variables.prepend("PATH", folder + delimiter);
      } else {
        variables.append("PATH", delimiter + folder);
      }
    }
  };
  context.subscriptions.push(
    hub.onState(update),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(SETTING)) {
        update();
      }
    }),
  );
}
