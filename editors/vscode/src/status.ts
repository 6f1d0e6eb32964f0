// The status bar item, its menu, and one-time warnings about the connection and the folders.

import * as vscode from "vscode";
import { inBackground } from "./promises";
import type { Hub, HubState, Remedy } from "./hub";
import { isOnDisk } from "./uris";
import { count, plain } from "./plain_text";
import type { Questions } from "./user";

/** How many reviews are pending. */
export interface PendingCount {
  readonly pending: number;
  readonly onPending: vscode.Event<number>;
}

/** A button or menu item: label, command, arguments. */
type Action = [label: string, command: string, ...given: unknown[]];

const BRIEFLY_MS = 6_000;
const LOG: Action = ["Show Log", "linkspan.showLog"];
const RECONNECT: Action = ["Reconnect", "linkspan.restart"];
/** The settings of the machine that the program runs on: the local one, or the remote one of this window. */
const SETTINGS = `workbench.action.open${vscode.env.remoteName === undefined ? "" : "Remote"}Settings`;
const REMEDIES: Record<Remedy, Action[]> = {
  settings: [["Open Settings", SETTINGS, { query: "linkspan.binary" }], LOG],
  log: [LOG, RECONNECT],
  reconnect: [RECONNECT, LOG],
};
let textChannel: vscode.OutputChannel | undefined;
const OPEN_FOLDER: Action = ["Open Folder", "workbench.action.files.openFolder"];
const NO_FOLDER_SHOWN = "noFolderTold";
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

/** Shows a message in the status bar for a few seconds. */
export function showBriefly(text: string): void {
  vscode.window.setStatusBarMessage(text, BRIEFLY_MS);
}

/** Shows a long text in an output channel of its own: the log hides what is below its level. */
export function showText(text: string): void {
  textChannel ??= vscode.window.createOutputChannel("Linkspan: Text");
  textChannel.replace(text);
  textChannel.show(true);
}

export function status(
  context: vscode.ExtensionContext,
  hub: Hub,
  log: vscode.LogOutputChannel,
  reviews: PendingCount,
  questions: Questions,
): void {
  const item = vscode.window.createStatusBarItem("linkspan.status", vscode.StatusBarAlignment.Left);
  item.name = "Linkspan";
  const update = () => {
    const waiting = reviews.pending + questions.open.length;
    const isWaiting = waiting > 0 && hub.state.kind === "attached";
    item.text = isWaiting ? `$(bell-dot) Linkspan: ${waiting}` : TEXTS[hub.state.kind];
    item.command = isWaiting ? "linkspan.nextReview" : "linkspan.menu";
    item.tooltip = describe(hub.state, reviews.pending, questions.open.length);
    item.accessibilityInformation = { label: item.tooltip };
    const isBad = hub.state.kind === "failed";
    item.backgroundColor = isBad ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
  };
  update();
  item.show();

  const warn = (message: string, actions: Action[]) => {
    const labels = actions.map(([label]) => label);
    const chosen = vscode.window.showWarningMessage(`Linkspan: ${plain(message)}`, ...labels);
    inBackground(log, chosen.then((label) => perform(actions, label)));
  };
  let lastWarning: string | undefined;
  const warnAboutHub = (state: HubState) => {
    if (state.kind === "attached") {
      lastWarning = undefined;
    } else if ("remedy" in state && state.why !== lastWarning) {
      lastWarning = state.why;
      warn(state.why, REMEDIES[state.remedy]);
    }
  };
  const warnAboutFolders = () => {
    const folders = vscode.workspace.workspaceFolders ?? [];
    const unreachable = folders.filter((folder) => !isOnDisk(folder.uri)).map((folder) => folder.name);
    if (unreachable.length > 0) {
      warn(`agents cannot reach ${unreachable.join(", ")}: not on this machine's disk.`, [OPEN_FOLDER]);
    } else if (folders.length === 0 && !context.globalState.get<boolean>(NO_FOLDER_SHOWN, false)) {
      // Empty windows are common: one notice for all of them is enough.
      inBackground(log, context.globalState.update(NO_FOLDER_SHOWN, true));
      warn("no folder is open, so agents cannot find this window. Open the folder they work in.", [OPEN_FOLDER]);
    }
  };
  warnAboutFolders();
  context.subscriptions.push(
    item,
    hub.onState(update),
    hub.onState(warnAboutHub),
    reviews.onPending(update),
    questions.onChange(update),
    vscode.workspace.onDidChangeWorkspaceFolders(warnAboutFolders),
    vscode.commands.registerCommand("linkspan.menu", async () => {
      const title = describe(hub.state, reviews.pending, questions.open.length);
      await perform(MENU, await vscode.window.showQuickPick(MENU.map(([label]) => label), { title }));
    }),
    vscode.commands.registerCommand("linkspan.bridgeStatus", () => {
      const address = hub.state.kind === "attached" ? `http://127.0.0.1:${hub.state.port}` : "";
      const message = `Linkspan runs on ${address}. Connect from the terminal with: /ide connect ${address}`;
      inBackground(log, vscode.window.showInformationMessage(address === "" ? describe(hub.state, 0, 0) : message));
    }),
  );
}

function describe(state: HubState, pending: number, asked: number): string {
  if (state.kind === "attached") {
    const summary = [pending > 0 && `${pending} to review`, asked > 0 && count(asked, "question")].filter(Boolean).join(", ");
    return `Linkspan: ${summary === "" ? "nothing to review" : summary} (port ${state.port})`;
  }
  return state.kind === "starting" ? "Linkspan is starting" : `Linkspan: ${state.why}`;
}

async function perform(actions: Action[], chosen: string | undefined): Promise<void> {
  for (const [, command, ...given] of actions.filter(([label]) => label === chosen)) {
    await vscode.commands.executeCommand(command, ...given);
  }
}
