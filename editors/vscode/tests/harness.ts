// Shared by all suites: requests to the extension as the hub sends them, files in the workspace, and a clean window
// afterwards.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import type { HubToEditorRequests } from "../../protocol";

interface Api {
  handle(method: string, params: unknown): unknown;
}

let files = 0;

/** Sends a request to the extension as the hub does. */
export async function request<M extends keyof HubToEditorRequests>(
  method: M,
  params: HubToEditorRequests[M]["params"],
): Promise<HubToEditorRequests[M]["result"]> {
  const extension = vscode.extensions.getExtension<Api | undefined>("linkspan.linkspan");
  const api = await extension?.activate();
  if (api === undefined) {
    throw new Error("the extension is not installed, or not in test mode");
  }
  // The extension uses the same types; a test that receives something else fails.
  return (await api.handle(method, params)) as HubToEditorRequests[M]["result"];
}

export function workspace(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) {
    throw new Error("the test window has no folder");
  }
  return folder.uri.fsPath;
}

/** A new file in the workspace, in a folder of its own. */
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

/** Opens a file for the user, with the focus unless `options` say otherwise. */
export async function show(path: string, options?: vscode.TextDocumentShowOptions): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  return vscode.window.showTextDocument(document, { preview: false, ...options });
}

/** Inserts text as the user would, without saving. */
export async function type(editor: vscode.TextEditor, at: vscode.Position, text: string): Promise<void> {
  if (!(await editor.edit((edit) => edit.insert(at, text)))) {
    throw new Error("VS Code rejected the text");
  }
}

export function at(line: number, character: number): vscode.Position {
  return new vscode.Position(line, character);
}

/** Polls until `look` returns a value; the window is another process. */
export async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 15_000;
  while (Date.now() < deadline) {
    const seen = await look();
    if (seen !== undefined && seen !== false) {
      return seen;
    }
    await pause(50);
  }
  throw new Error(`timed out: ${what}`);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Sets one of VS Code's own settings for this workspace; returns a function that restores it. */
export async function setting(name: string, value: unknown): Promise<() => Promise<void>> {
  const [, section, key] = /^(.*)\.([^.]+)$/.exec(name) ?? [];
  if (section === undefined || key === undefined) {
    throw new Error(`${name} is not a setting`);
  }
  const set = async (to: unknown) => {
    await vscode.workspace.getConfiguration(section).update(key, to, vscode.ConfigurationTarget.Workspace);
  };
  await set(value);
  return () => set(undefined);
}

/** Closes every tab; unsaved text is discarded. */
export async function closeEverything(): Promise<void> {
  // On a busy machine the active editor is not always the one that was just shown, another editor may open in the
  // meantime, and a tab that is being opened appears late: so this may take several rounds, and is looked at twice.
  let rounds = 0;
  await until("no tab is left", async () => {
    try {
      for (const document of vscode.workspace.textDocuments.filter(isOfTests)) {
        await vscode.window.showTextDocument(document);
        await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
      }
      await vscode.commands.executeCommand("workbench.action.closeAllEditors");
      // Newer versions keep pinned tabs.
      const left = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
      await vscode.window.tabGroups.close(left);
      rounds = left.length === 0 ? rounds + 1 : 0;
    } catch {
      rounds = 0;
    }
    return rounds > 1 || undefined;
  });
}

/** VS Code's own settings may have unsaved text for a moment. */
function isOfTests({ isDirty, uri }: vscode.TextDocument): boolean {
  return isDirty && (uri.scheme === "untitled" || uri.fsPath.startsWith(workspace()));
}
