// The list of past decisions, undo and redo, and `linkspan doctor`.

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { HistoryEntry } from "../../protocol";
import { inBackground } from "./promises";
import { folders } from "./attach_params";
import { failureOf, inWorkspace } from "./failure";
import { uriOf } from "./uris";
import type { AttachProcess } from "./attach_process";
import type { Hub } from "./hub";
import { outcomeOf, PastDiffs, reasonOf } from "./past_diff";
import { showText } from "./status";
import { count, plain } from "./plain_text";

const SHOWN = 50;
const DOCTOR_MS = 30_000;
const button = (icon: string, tooltip: string): vscode.QuickInputButton => ({ iconPath: new vscode.ThemeIcon(icon), tooltip });
const UNDO = button("discard", "Undo This Change");
const UNDO_SET = button("files", "Undo the Change Set");
const UNDO_TURN = button("comment-discussion", "Undo the Turn of the Conversation");
const OPEN_FILE = button("go-to-file", "Open File");

interface Item extends vscode.QuickPickItem {
  entry: HistoryEntry;
}

export function history(context: vscode.ExtensionContext, hub: AttachProcess, log: vscode.LogOutputChannel): void {
  const failed = (error: unknown) => vscode.window.showErrorMessage(failureOf(error));
  const start = (work: Promise<unknown>) => inBackground(log, work.catch(failed));
  const { registerCommand } = vscode.commands;
  const diffs = new PastDiffs(context, hub);
  context.subscriptions.push(
    registerCommand("linkspan.undo", () => start(undoNewest(hub))),
    registerCommand("linkspan.history", () => start(show(hub, diffs, start))),
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
    await vscode.window.showInformationMessage("No change to undo in this window.");
  } else {
    await undo(hub, changeOf(newest), ["Undone", "Redo"], ["Redone", "Undo"]);
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

/** Undoes several changes, the newest first, because the hub undoes one at a time. */
export async function undoAll(hub: Hub, changes: readonly { id: string; name: string }[]): Promise<void> {
  const failed: string[] = [];
  for (const { id, name } of changes) {
    try {
      await hub.request("history/undo", { change: id });
    } catch (error) {
      failed.push(`${name}: ${failureOf(error)}`);
    }
  }
  await reportUndone(changes.length, failed);
}

async function undoTurn(hub: Hub, turn: string): Promise<void> {
  const { changes } = await hub.request("history/undoTurn", { turn });
  const failed = changes.filter(({ undone }) => undone === undefined);
  await reportUndone(changes.length, failed.map(({ path, error }) => `${plain(nameOf(path))}: ${inWorkspace(plain(error ?? "no reason was given"))}`));
}

async function reportUndone(all: number, failed: readonly string[]): Promise<void> {
  const message = [`Undone ${count(all - failed.length, "change")}.`, ...failed].join(" ");
  const { showInformationMessage, showWarningMessage } = vscode.window;
  await (failed.length > 0 ? showWarningMessage(message) : showInformationMessage(message));
}

async function show(hub: AttachProcess, diffs: PastDiffs, start: (work: Promise<unknown>) => void): Promise<void> {
  const entries = await entriesOf(hub, false, SHOWN);
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = entries.length === 0 ? "No decisions in this window yet" : "Decisions in this window, newest first";
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.items = entries.map((entry) => itemOf(entry, setOf(entry, entries)));
  picker.onDidAccept(() => {
    for (const { entry } of picker.selectedItems) {
      start(diffs.open(entry));
    }
    picker.hide();
  });
  picker.onDidTriggerItemButton(({ item: { entry }, button: pressed }) => {
    picker.hide();
    start(act(hub, entry, entries, pressed));
  });
  picker.onDidHide(() => picker.dispose());
  picker.show();
}

async function act(
  hub: AttachProcess,
  entry: HistoryEntry,
  entries: readonly HistoryEntry[],
  pressed: vscode.QuickInputButton,
): Promise<void> {
  const { origin, path } = entry;
  if (pressed === OPEN_FILE) {
    await vscode.window.showTextDocument(uriOf(path));
  } else if (pressed === UNDO_SET) {
    await undoAll(hub, setOf(entry, entries).map((each) => ({ id: changeOf(each), name: plain(nameOf(each.path)) })));
  } else if (pressed === UNDO_TURN && origin !== undefined) {
    await undoTurn(hub, `${origin.chat}/${origin.turn}`);
  } else {
    await undo(hub, changeOf(entry), ["Undone", "Redo"], ["Redone", "Undo"]);
  }
}

/** What an undo of its change set would undo. */
function setOf({ set }: HistoryEntry, entries: readonly HistoryEntry[]): HistoryEntry[] {
  const isIn = (other: HistoryEntry) => other.set === set && other.undoable && !other.undone && other.undoes === undefined;
  return set === undefined ? [] : entries.filter(isIn);
}

function changeOf({ change, review }: HistoryEntry): string {
  return change ?? review;
}

function itemOf(entry: HistoryEntry, set: readonly HistoryEntry[]): Item {
  const { undone, undoable, onDisk, added = 0, removed = 0, origin, undoes } = entry;
  const canUndo = undoable && !undone;
  const reason = reasonOf(entry);
  const comments = entry.comments.length > 0 ? [count(entry.comments.length, "comment")] : [];
  const facts = [new Date(entry.endedAtMs).toLocaleString(), ...(reason ? [`“${reason}”`] : []), ...comments];
  return {
    entry,
    label: plain(`${nameOf(entry.path)} — ${entry.agent}`),
    description: `${outcomeOf(entry)}${undone ? ", undone" : ""}${onDisk === false ? ", not on disk" : ""} +${added} −${removed}`,
    detail: facts.join(" · "),
    buttons: [
      ...(canUndo && set.length > 1 && set.includes(entry) ? [UNDO_SET] : []),
      ...(canUndo && origin !== undefined && undoes === undefined ? [UNDO_TURN] : []),
      ...(canUndo ? [UNDO] : []),
      OPEN_FILE,
    ],
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
