// What was decided and done: looking at it, taking it back; and Linkspan's own examination of itself.

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { HistoryEntry } from "../../protocol";
import { inBackground, messageOf } from "./background";
import { folders } from "./introduction";
import { uriOf } from "./places";
import type { Program } from "./program";
import { showText } from "./status";
import { plain } from "./wording";

const SHOWN = 50;
const DOCTOR_MS = 30_000;
const UNDO: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("discard"), tooltip: "Undo This Change" };

interface Item extends vscode.QuickPickItem {
  entry: HistoryEntry;
}

export function history(context: vscode.ExtensionContext, hub: Program, log: vscode.LogOutputChannel): void {
  const failed = (error: unknown) => vscode.window.showErrorMessage(`Linkspan: ${plain(messageOf(error))}`);
  const start = (work: Promise<unknown>) => inBackground(log, work.catch(failed));
  const { registerCommand } = vscode.commands;
  context.subscriptions.push(
    registerCommand("linkspan.undo", () => start(undoNewest(hub))),
    registerCommand("linkspan.history", () => start(show(hub, start))),
    registerCommand("linkspan.doctor", () => start(doctor(hub))),
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
  } else {
    await undo(hub, newest.change ?? newest.review, ["Undone", "Redo"], ["Done again", "Undo"]);
  }
}

/** Takes a change back and offers to take that back in turn, as long as she likes. */
async function undo(hub: Program, change: string, now: [string, string], next: [string, string]): Promise<void> {
  const { path, removedFile, redo } = await hub.ask("history/undo", { change });
  const [done, again] = now;
  const message = `${done}: ${plain(nameOf(path))}${removedFile ? " (the file is gone again)" : ""}`;
  if ((await vscode.window.showInformationMessage(message, again)) === again) {
    await undo(hub, redo, next, now);
  }
}

async function show(hub: Program, start: (work: Promise<unknown>) => void): Promise<void> {
  const entries = await entriesOf(hub, false, SHOWN);
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = entries.length === 0 ? "Nothing was decided in this window yet" : "What was decided, newest first";
  picker.matchOnDescription = true;
  picker.items = entries.map(itemOf);
  picker.onDidAccept(() => {
    for (const { entry } of picker.selectedItems) {
      start(Promise.resolve(vscode.window.showTextDocument(uriOf(entry.path))));
    }
    picker.hide();
  });
  picker.onDidTriggerItemButton(({ item: { entry } }) => {
    picker.hide();
    start(undo(hub, entry.change ?? entry.review, ["Undone", "Redo"], ["Done again", "Undo"]));
  });
  picker.onDidHide(() => picker.dispose());
  picker.show();
}

function itemOf(entry: HistoryEntry): Item {
  const { ended, undoes, undone, onDisk, added = 0, removed = 0 } = entry;
  const taken = ended.kind === "accepted" && ended.taken !== "all" ? ` (${ended.taken})` : "";
  const outcome = undoes === undefined ? ended.kind + taken : "taken back";
  return {
    entry,
    label: plain(`${nameOf(entry.path)} — ${entry.agent}`),
    description: `${outcome}${undone ? ", undone" : ""}${onDisk === false ? ", not on disk" : ""} +${added} −${removed}`,
    detail: new Date(entry.endedAtMs).toLocaleString(),
    buttons: entry.undoable && !undone ? [UNDO] : [],
  };
}

function nameOf(path: string): string {
  return vscode.workspace.asRelativePath(uriOf(path));
}

async function doctor(hub: Program): Promise<void> {
  const [program, [cwd]] = [hub.runnable, folders()];
  const options = { timeout: DOCTOR_MS, env: { ...process.env, NO_COLOR: "1" }, ...(cwd !== undefined && { cwd }) };
  const examine = () =>
    new Promise<string>((resolve) => {
      // It ends with an error when it found one: what it says is the point.
      execFile(program, ["doctor"], options, (error, said, alsoSaid) => {
        resolve(said + alsoSaid || (error?.message ?? ""));
      });
    });
  const place = { location: vscode.ProgressLocation.Window, title: "Linkspan: Doctor" };
  showText(`${program} doctor\n${await vscode.window.withProgress(place, examine)}`);
}
