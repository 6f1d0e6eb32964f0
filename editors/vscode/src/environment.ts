// Environment variables of integrated terminals, so that an agent started there finds this window and the `linkspan`
// program.

import { delimiter, dirname } from "node:path";
import * as vscode from "vscode";
import type { AttachProcess } from "./attach_process";

const SETTING = "linkspan.terminal.environment";
const { Append, Prepend, Replace } = vscode.EnvironmentVariableMutatorType;

type Variable = [name: string, type: vscode.EnvironmentVariableMutatorType, value: string];

export function environment(context: vscode.ExtensionContext, hub: AttachProcess): void {
  // Persisted: VS Code restores terminals before this extension runs, and the hub gives a window its port back. Stale
  // values are replaced on the next attach.
  const variables = context.environmentVariableCollection;
  variables.description = "Lets agents started here find this window.";
  const update = () => {
    if (hub.state.kind === "starting" || hub.state.kind === "away") {
      return;
    }
    const wanted = vscode.workspace.getConfiguration().get<boolean>(SETTING, true) ? variablesFor(hub) : [];
    const given = [...variables].map(([name, { type, value }]): Variable => [name, type, value]);
    // Any write makes VS Code mark every open terminal as out of date.
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

function variablesFor({ state, binary, isBundled }: AttachProcess): Variable[] {
  if (state.kind !== "attached") {
    return [];
  }
  const folder = dirname(binary);
  // The bundled folder contains nothing else. A folder from the settings must not shadow the user's own programs.
  const path: Variable = isBundled ? ["PATH", Prepend, folder + delimiter] : ["PATH", Append, delimiter + folder];
  return [...Object.entries(state.environment).map(([name, value]): Variable => [name, Replace, value]), path];
}
