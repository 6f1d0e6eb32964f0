// The status bar item, its menu, and what has to be said once when something is not as it should be.

import * as vscode from "vscode";
import { inBackground } from "./background";
import type { Hub, HubState, Remedy } from "./hub";
import { isOnDisk } from "./places";

/** How many reviews wait for the person. */
export interface Waiting {
  readonly pending: number;
  readonly onPending: vscode.Event<number>;
}

interface Action {
  command: string;
  argument?: string;
}

interface Button extends Action {
  title: string;
}

const SHOW_LOG: Button = { title: "Show Log", command: "linkspan.showLog" };
const RECONNECT: Button = { title: "Reconnect", command: "linkspan.restart" };
const SETTINGS: Button = { title: "Open Settings", command: "workbench.action.openSettings", argument: "linkspan.binary" };
const OPEN_FOLDER: Button = { title: "Open Folder", command: "workbench.action.files.openFolder" };
const BUTTONS: Record<Remedy, Button[]> = {
  settings: [SETTINGS, SHOW_LOG],
  log: [SHOW_LOG, RECONNECT],
  reconnect: [RECONNECT, SHOW_LOG],
};
const NO_FOLDER_TOLD = "noFolderTold";

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
    const failed = hub.state.kind === "failed";
    item.backgroundColor = failed ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    item.show();
  };
  update();

  let told: string | undefined;
  const tell = (state: HubState) => {
    if (state.kind === "attached") {
      told = undefined;
    } else if ("remedy" in state && state.why !== told) {
      told = state.why;
      inBackground(log, offer(vscode.window.showErrorMessage, `Linkspan: ${state.why}`, BUTTONS[state.remedy]));
    }
  };
  const say = (message: string, ...buttons: Button[]) => {
    inBackground(log, offer(vscode.window.showWarningMessage, `Linkspan: ${message}`, buttons));
  };
  tellOfFolders(context, log, say);
  context.subscriptions.push(
    item,
    hub.onState(update),
    hub.onState(tell),
    waiting.onPending(update),
    vscode.workspace.onDidChangeWorkspaceFolders(() => tellOfFolders(context, log, say)),
    vscode.commands.registerCommand("linkspan.menu", () => menu(hub.state, waiting.pending)),
    vscode.commands.registerCommand("ppxai.showBridgeStatus", () => {
      const { state } = hub;
      const address = state.kind === "attached" ? `http://127.0.0.1:${state.port}` : undefined;
      const running = `Linkspan runs on ${address}. Connect from the terminal with: /ide connect ${address}`;
      inBackground(log, vscode.window.showInformationMessage(address === undefined ? describe(state, 0) : running));
    }),
  );
}

const TEXTS: Record<HubState["kind"], string> = {
  starting: "$(sync~spin) Linkspan",
  attached: "$(check) Linkspan",
  away: "$(sync~spin) Linkspan",
  failed: "$(error) Linkspan",
};

function describe(state: HubState, pending: number): string {
  switch (state.kind) {
    case "starting":
      return "Linkspan is starting";
    case "attached": {
      const waits = pending === 0 ? "nothing waits for you" : `${pending} to review`;
      return `Linkspan: ${waits} (window ${state.window}, port ${state.port})`;
    }
    case "away":
    case "failed":
      return `Linkspan: ${state.why}`;
  }
}

async function menu(state: HubState, pending: number): Promise<void> {
  const items: (vscode.QuickPickItem & Action)[] = [
    { label: "$(checklist) Reviews", description: `${pending} pending`, command: "linkspan.reviews.focus" },
    { label: "$(history) History", command: "linkspan.history" },
    { label: "$(discard) Undo Last Applied Change", command: "linkspan.undo" },
    { label: "$(pulse) Doctor", command: "linkspan.doctor" },
    { label: "$(debug-restart) Reconnect", command: "linkspan.restart" },
    { label: "$(output) Show Log", command: "linkspan.showLog" },
    { label: "$(gear) Settings", command: "workbench.action.openSettings", argument: "linkspan" },
  ];
  await perform(await vscode.window.showQuickPick(items, { title: describe(state, pending) }));
}

async function perform(action: Action | undefined): Promise<void> {
  if (action !== undefined) {
    await vscode.commands.executeCommand(action.command, ...(action.argument === undefined ? [] : [action.argument]));
  }
}

type Show = (message: string, ...titles: string[]) => Thenable<string | undefined>;

/** Says something and does what the person chooses. */
async function offer(show: Show, message: string, buttons: Button[]): Promise<void> {
  const title = await show(message, ...buttons.map((button) => button.title));
  await perform(buttons.find((button) => button.title === title));
}

function tellOfFolders(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  say: (message: string, ...buttons: Button[]) => void,
): void {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const elsewhere = folders.filter((folder) => !isOnDisk(folder.uri)).map((folder) => folder.name);
  if (elsewhere.length > 0) {
    say(`agents cannot reach ${elsewhere.join(", ")}: not on this machine's disk, so left out.`, OPEN_FOLDER);
  } else if (folders.length === 0 && !context.globalState.get<boolean>(NO_FOLDER_TOLD, false)) {
    // An empty window is nothing unusual: once is enough for all of them.
    inBackground(log, context.globalState.update(NO_FOLDER_TOLD, true));
    say("no folder is open, so no agent can find this window. Open the folder that agents work in.", OPEN_FOLDER);
  }
}
