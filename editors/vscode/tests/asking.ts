// What every suite needs: asking the extension as the hub would, files to ask about, and a clean window afterwards.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import type { HubToEditorRequests } from "../../protocol";

interface Api {
  ask(method: string, params: unknown): unknown;
}

let files = 0;

/** Asks as the hub does, and gets what it would get. */
export async function ask<M extends keyof HubToEditorRequests>(
  method: M,
  params: HubToEditorRequests[M]["params"],
): Promise<HubToEditorRequests[M]["result"]> {
  const extension = vscode.extensions.getExtension<Api | undefined>("linkspan.linkspan");
  const api = await extension?.activate();
  if (api === undefined) {
    throw new Error("the extension is not there, or does not run as under test");
  }
  // The extension answers by the same types; a test that goes on with something else fails there.
  return (await api.ask(method, params)) as HubToEditorRequests[M]["result"];
}

export function workspace(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) {
    throw new Error("the test window has no folder");
  }
  return folder.uri.fsPath;
}

/** A new file in the workspace; its name is its own, its ending is `name`'s. */
export function file(name: string, content: string | Buffer): string {
  files += 1;
  const path = join(workspace(), `case${files}`, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

export function onDisk(path: string): string {
  return readFileSync(path, "utf8");
}

/** Opens it for the person, with the focus unless `options` say otherwise. */
export async function show(path: string, options?: vscode.TextDocumentShowOptions): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  return vscode.window.showTextDocument(document, { preview: false, ...options });
}

/** Types at the cursor's place, as a person would: not saved. */
export async function type(editor: vscode.TextEditor, at: vscode.Position, text: string): Promise<void> {
  if (!(await editor.edit((edit) => edit.insert(at, text)))) {
    throw new Error("VS Code did not take what was typed");
  }
}

export function at(line: number, character: number): vscode.Position {
  return new vscode.Position(line, character);
}

/** Waits until it holds; the window is another process. */
export async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 15_000;
  while (Date.now() < deadline) {
    const seen = await look();
    if (seen !== undefined && seen !== false) {
      return seen;
    }
    await pause(50);
  }
  throw new Error(`did not happen: ${what}`);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Sets one of VS Code's own settings for this workspace; gives back how it was. */
export async function setting(name: string, value: unknown): Promise<() => Promise<void>> {
  const [, section, key] = /^(.*)\.([^.]+)$/.exec(name) ?? [];
  if (section === undefined || key === undefined) {
    throw new Error(`${name} is no setting`);
  }
  const set = async (to: unknown) => {
    await vscode.workspace.getConfiguration(section).update(key, to, vscode.ConfigurationTarget.Workspace);
  };
  await set(value);
  return () => set(undefined);
}

/** No tab is left, whatever is unsaved. */
export async function closeEverything(): Promise<void> {
  // On a busy machine the active editor is not always the one that was just shown: then another round.
  await until("no tab is left", async () => {
    for (const document of vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty)) {
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    }
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    // Newer versions keep tabs that are pinned.
    const left = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
    await vscode.window.tabGroups.close(left);
    return left.length === 0 || undefined;
  });
}
