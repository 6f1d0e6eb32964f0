// What was decided and done: looking at it, taking it back; and Linkspan's own examination of itself.

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { HistoryEntry } from "../../protocol";
import { messageOf } from "./background";
import { uriOf } from "./places";
import type { Program } from "./program";
import { plain } from "./wording";

const SHOWN = 50;
const DOCTOR_MS = 30_000;
const UNDO: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("discard"), tooltip: "Undo This Change" };

interface Item extends vscode.QuickPickItem {
  entry: HistoryEntry;
}

export function history(context: vscode.ExtensionContext, hub: Program, log: vscode.LogOutputChannel): void {
  const said = (work: () => Promise<void>) => async () => {
    try {
      await work();
    } catch (error) {
      log.error(messageOf(error));
      await vscode.window.showErrorMessage(`Linkspan: ${plain(messageOf(error))}`);
    }
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("linkspan.undo", said(() => undoNewest(hub))),
    vscode.commands.registerCommand("linkspan.history", said(() => show(hub, said))),
    vscode.commands.registerCommand("linkspan.doctor", said(() => doctor(hub, log))),
  );
}

async function entriesOf(hub: Program, undoable: boolean, limit: number): Promise<HistoryEntry[]> {
  if (hub.state.kind !== "attached") {
    throw new Error("the hub is not there: see the status bar");
  }
  return (await hub.ask("history/list", { window: hub.state.window, undoable, limit })).entries;
}

async function undoNewest(hub: Program): Promise<void> {
  const [newest] = await entriesOf(hub, true, 1);
  if (newest === undefined) {
    await vscode.window.showInformationMessage("Linkspan: there is nothing in this window to undo.");
    return;
  }
  await undo(hub, newest.change ?? newest.review, "Undone");
}

/** Takes a change back; what takes that back in turn is offered, as long as she likes. */
async function undo(hub: Program, change: string, done: string): Promise<void> {
  const { path, removedFile, redo } = await hub.ask("history/undo", { change });
  const again = done === "Undone" ? "Redo" : "Undo";
  const what = `${nameOf(path)}${removedFile ? " (the file is gone again)" : ""}`;
  const chosen = await vscode.window.showInformationMessage(`Linkspan: ${done}: ${plain(what)}`, again);
  if (chosen === again) {
    await undo(hub, redo, done === "Undone" ? "Done again" : "Undone");
  }
}

async function show(hub: Program, said: (work: () => Promise<void>) => () => Promise<void>): Promise<void> {
  const entries = await entriesOf(hub, false, SHOWN);
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = entries.length === 0 ? "Nothing was decided in this window yet" : "What was decided, newest first";
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.items = entries.map(itemOf);
  const opened = said(async () => {
    const [item] = picker.selectedItems;
    picker.hide();
    if (item !== undefined) {
      await vscode.window.showTextDocument(uriOf(item.entry.path));
    }
  });
  picker.onDidAccept(opened);
  picker.onDidTriggerItemButton(({ item: { entry } }) => {
    picker.hide();
    return said(() => undo(hub, entry.change ?? entry.review, "Undone"))();
  });
  picker.onDidHide(() => picker.dispose());
  picker.show();
}

function itemOf(entry: HistoryEntry): Item {
  const lines = entry.added === undefined ? "" : ` +${entry.added} −${entry.removed ?? 0}`;
  return {
    entry,
    label: `${nameOf(entry.path)} — ${entry.agent}`,
    description: outcomeOf(entry) + lines,
    detail: `${new Date(entry.endedAtMs).toLocaleString()}  ${entry.path}`,
    buttons: entry.undoable && !entry.undone ? [UNDO] : [],
  };
}

function outcomeOf({ ended, undoes, undone }: HistoryEntry): string {
  const taken = ended.kind === "accepted" && ended.taken !== "all" ? ` (${ended.taken})` : "";
  const outcome = undoes === undefined ? ended.kind + taken : "taken back";
  return undone ? `${outcome}, undone` : outcome;
}

function nameOf(path: string): string {
  return vscode.workspace.asRelativePath(uriOf(path));
}

async function doctor(hub: Program, log: vscode.LogOutputChannel): Promise<void> {
  const report = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: "Linkspan: Doctor" },
    () =>
      new Promise<string>((resolve) => {
        const options = { timeout: DOCTOR_MS, env: { ...process.env, NO_COLOR: "1" } };
        // It ends with an error when it found one: what it says is the point.
        execFile(hub.binary, ["doctor"], options, (error, stdout, stderr) => resolve(stdout + stderr || `${error?.message}`));
      }),
  );
  log.info(`${hub.binary} doctor\n${report}`);
  log.show(true);
}
