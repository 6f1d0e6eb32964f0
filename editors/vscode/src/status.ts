// The status bar item, its menu, and what has to be said once when something is not as it should be.

import * as vscode from "vscode";
import { inBackground } from "./background";
import type { Hub, HubState, Remedy } from "./hub";
import { isOnDisk } from "./places";
import { plain } from "./wording";

/** How many reviews wait for the person. */
export interface Waiting {
  readonly pending: number;
  readonly onPending: vscode.Event<number>;
}

/** What can be done by a click: a label, a command, what it is given. */
type Action = [label: string, command: string, ...given: string[]];

const LOG: Action = ["Show Log", "linkspan.showLog"];
const RECONNECT: Action = ["Reconnect", "linkspan.restart"];
const REMEDIES: Record<Remedy, Action[]> = {
  settings: [["Open Settings", "workbench.action.openSettings", "linkspan.binary"], LOG],
  log: [LOG, RECONNECT],
  reconnect: [RECONNECT, LOG],
};
const OPEN_FOLDER: Action = ["Open Folder", "workbench.action.files.openFolder"];
const NO_FOLDER_TOLD = "noFolderTold";
const MENU: Action[] = [
  ["$(checklist) Reviews", "linkspan.reviews.focus"],
  ["$(history) History", "linkspan.history"],
  ["$(discard) Undo Last Applied Change", "linkspan.undo"],
  ["$(pulse) Doctor", "linkspan.doctor"],
  ["$(debug-restart) Reconnect", "linkspan.restart"],
  ["$(output) Show Log", "linkspan.showLog"],
  ["$(gear) Settings", "workbench.action.openSettings", "linkspan"],
];
const TEXTS: Record<HubState["kind"], string> = {
  starting: "$(sync~spin) Linkspan",
  attached: "$(check) Linkspan",
  away: "$(sync~spin) Linkspan",
  failed: "$(error) Linkspan",
};

export function status(
  context: vscode.ExtensionContext,
  hub: Hub,
  log: vscode.LogOutputChannel,
  waiting: Waiting,
): void {
  const item = vscode.window.createStatusBarItem("linkspan.status", vscode.StatusBarAlignment.Left);
  item.name = "Linkspan";
  item.command = "linkspan.menu";
  const update = () => {
    const { pending } = waiting;
    item.text = pending > 0 && hub.state.kind === "attached" ? `$(bell-dot) ${pending}` : TEXTS[hub.state.kind];
    item.tooltip = describe(hub.state, pending);
    item.accessibilityInformation = { label: item.tooltip };
    const isBad = hub.state.kind === "failed";
    item.backgroundColor = isBad ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
  };
  update();
  item.show();

  const say = (message: string, actions: Action[]) => {
    const labels = actions.map(([label]) => label);
    const chosen = vscode.window.showWarningMessage(`Linkspan: ${plain(message)}`, ...labels);
    inBackground(log, chosen.then((label) => perform(actions, label)));
  };
  let told: string | undefined;
  const tell = (state: HubState) => {
    if (state.kind === "attached") {
      told = undefined;
    } else if ("remedy" in state && state.why !== told) {
      told = state.why;
      say(state.why, REMEDIES[state.remedy]);
    }
  };
  const tellOfFolders = () => {
    const folders = vscode.workspace.workspaceFolders ?? [];
    const elsewhere = folders.filter((folder) => !isOnDisk(folder.uri)).map((folder) => folder.name);
    if (elsewhere.length > 0) {
      say(`agents cannot reach ${elsewhere.join(", ")}: it is not on this machine's disk.`, [OPEN_FOLDER]);
    } else if (folders.length === 0 && !context.globalState.get<boolean>(NO_FOLDER_TOLD, false)) {
      // An empty window is nothing unusual: once is enough for all of them.
      inBackground(log, context.globalState.update(NO_FOLDER_TOLD, true));
      say("no folder is open, so agents do not find this window. Open the one they work in.", [OPEN_FOLDER]);
    }
  };
  tellOfFolders();
  context.subscriptions.push(
    item,
    hub.onState(update),
    hub.onState(tell),
    waiting.onPending(update),
    vscode.workspace.onDidChangeWorkspaceFolders(tellOfFolders),
    vscode.commands.registerCommand("linkspan.menu", async () => {
      const title = describe(hub.state, waiting.pending);
      await perform(MENU, await vscode.window.showQuickPick(MENU.map(([label]) => label), { title }));
    }),
    vscode.commands.registerCommand("linkspan.bridgeStatus", () => {
      const address = hub.state.kind === "attached" ? `http://127.0.0.1:${hub.state.port}` : "";
      const said = `Linkspan runs on ${address}. Connect from the terminal with: /ide connect ${address}`;
      inBackground(log, vscode.window.showInformationMessage(address === "" ? describe(hub.state, 0) : said));
    }),
  );
}

function describe(state: HubState, pending: number): string {
  if (state.kind === "attached") {
    const waits = pending === 0 ? "nothing waits for you" : `${pending} to review`;
    return `Linkspan: ${waits} (window ${state.window}, port ${state.port})`;
  }
  return state.kind === "starting" ? "Linkspan is starting" : `Linkspan: ${state.why}`;
}

async function perform(actions: Action[], chosen: string | undefined): Promise<void> {
  for (const [, command, ...given] of actions.filter(([label]) => label === chosen)) {
    await vscode.commands.executeCommand(command, ...given);
  }
}
