// The history of decisions, undo and redo, and `linkspan doctor`.

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { HistoryEntry } from "../../protocol";
import { inBackground, messageOf } from "./promises";
import { folders } from "./attach_params";
import { uriOf } from "./uris";
import type { AttachProcess } from "./attach_process";
import { showText } from "./status";
import { plain } from "./plain_text";

const SHOWN = 50;
const DOCTOR_MS = 30_000;
const UNDO: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("discard"), tooltip: "Undo This Change" };

interface Item extends vscode.QuickPickItem {
  entry: HistoryEntry;
}

export function history(context: vscode.ExtensionContext, hub: AttachProcess, log: vscode.LogOutputChannel): void {
  const failed = (error: unknown) => vscode.window.showErrorMessage(`Linkspan: ${plain(messageOf(error))}`);
  const start = (work: Promise<unknown>) => inBackground(log, work.catch(failed));
  const { registerCommand } = vscode.commands;
  context.subscriptions.push(
    registerCommand("linkspan.undo", () => start(undoNewest(hub))),
    registerCommand("linkspan.history", () => start(show(hub, start))),
    registerCommand("linkspan.doctor", () => start(doctor(hub))),
  );
}

async function entriesOf(hub: AttachProcess, undoable: boolean, limit: number): Promise<HistoryEntry[]> {
  if (hub.state.kind !== "attached") {
    throw new Error("the hub is not connected; see the status bar");
  }
  return (await hub.request("history/list", { window: hub.state.window, undoable, limit })).entries;
}

async function undoNewest(hub: AttachProcess): Promise<void> {
  const [newest] = await entriesOf(hub, true, 1);
  if (newest === undefined) {
    await vscode.window.showInformationMessage("Linkspan: this window has no change to undo.");
  } else {
    await undo(hub, newest.change ?? newest.review, ["Undone", "Redo"], ["Redone", "Undo"]);
  }
}

/** Undoes a change and offers to redo it, and so on. */
async function undo(hub: AttachProcess, change: string, now: [string, string], next: [string, string]): Promise<void> {
  const { path, removedFile, redo } = await hub.request("history/undo", { change });
  const [done, again] = now;
  const message = `${done}: ${plain(nameOf(path))}${removedFile ? " (the file was removed)" : ""}`;
  if ((await vscode.window.showInformationMessage(message, again)) === again) {
    await undo(hub, redo, next, now);
  }
}

async function show(hub: AttachProcess, start: (work: Promise<unknown>) => void): Promise<void> {
  const entries = await entriesOf(hub, false, SHOWN);
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = entries.length === 0 ? "No decisions in this window yet" : "Decisions in this window, newest first";
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
    start(undo(hub, entry.change ?? entry.review, ["Undone", "Redo"], ["Redone", "Undo"]));
  });
  picker.onDidHide(() => picker.dispose());
  picker.show();
}

function itemOf(entry: HistoryEntry): Item {
  const { ended, undoes, undone, onDisk, added = 0, removed = 0 } = entry;
  const taken = ended.kind === "accepted" && ended.taken !== "all" ? ` (${ended.taken})` : "";
  const outcome = undoes === undefined ? ended.kind + taken : "undo";
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

async function doctor(hub: AttachProcess): Promise<void> {
  const [program, [cwd]] = [hub.runnable, folders()];
  const options = { timeout: DOCTOR_MS, env: { ...process.env, NO_COLOR: "1" }, ...(cwd !== undefined && { cwd }) };
  const runDoctor = () =>
    new Promise<string>((resolve) => {
      // It exits with an error when it finds a problem: show its output either way.
      execFile(program, ["doctor"], options, (error, stdout, stderr) => {
        resolve(stdout + stderr || (error?.message ?? ""));
      });
    });
  const progress = { location: vscode.ProgressLocation.Window, title: "Linkspan: Doctor" };
  showText(`${program} doctor\n${await vscode.window.withProgress(progress, runDoctor)}`);
}
