// What integrated terminals are told, so that an agent started there finds this window, and `linkspan` itself.

import { delimiter, dirname } from "node:path";
import * as vscode from "vscode";
import type { Program } from "./program";

const SETTING = "linkspan.terminal.environment";
const { Append, Prepend, Replace } = vscode.EnvironmentVariableMutatorType;

type Variable = [name: string, type: vscode.EnvironmentVariableMutatorType, value: string];

export function environment(context: vscode.ExtensionContext, hub: Program): void {
  // Kept over restarts: terminals that VS Code restores open before this extension runs, and the hub gives a window
  // its port back. What is no longer true is replaced on the next attach.
  const variables = context.environmentVariableCollection;
  variables.description = "Lets agents that are started here find this window.";
  const update = () => {
    if (hub.state.kind === "starting" || hub.state.kind === "away") {
      return;
    }
    const wanted = vscode.workspace.getConfiguration().get<boolean>(SETTING, true) ? variablesFor(hub) : [];
    const given = [...variables].map(([name, { type, value }]): Variable => [name, type, value]);
    // Whatever is written makes VS Code mark every open terminal as out of date.
    if (JSON.stringify(given) === JSON.stringify(wanted)) {
      return;
    }
    variables.clear();
    for (const [name, type, value] of wanted) {
      if (type === Replace) {
        variables.replace(name, value);
      } else if (type === Prepend) {
        variables.prepend(name, value);
      } else {
        variables.append(name, value);
      }
    }
  };
  context.subscriptions.push(
    hub.onState(update),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration(SETTING) && update()),
  );
}

function variablesFor({ state, binary, isBundled }: Program): Variable[] {
  if (state.kind !== "attached") {
    return [];
  }
  const folder = dirname(binary);
  // In our own folder there is nothing else; one that the person named must not come before hers.
  const path: Variable = isBundled ? ["PATH", Prepend, folder + delimiter] : ["PATH", Append, delimiter + folder];
  return [...Object.entries(state.environment).map(([name, value]): Variable => [name, Replace, value]), path];
}
