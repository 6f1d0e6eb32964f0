// The message of a failure as it is shown: names in the workspace instead of absolute paths, and without the ids that
// commands take.

import * as vscode from "vscode";
import { plain } from "./plain_text";
import { messageOf } from "./promises";

/** Not in a command, which is quoted, nor in the name of a file. */
const QUOTED_OR_ID = /`[^`]*`|(?<![\w./-])[rc]\d+(?![\w/-]|\.\w)/g;

export function failureOf(error: unknown): string {
  return inWorkspace(plain(messageOf(error)));
}

/** A message of the hub, which has to name files and changes for every surface. */
export function inWorkspace(message: string): string {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const prefixOf = ({ name }: vscode.WorkspaceFolder): string => (folders.length > 1 ? `${name}/` : "");
  const relative = folders.reduce((text, folder) => text.replaceAll(`${folder.uri.fsPath}/`, prefixOf(folder)), message);
  return relative.replaceAll(QUOTED_OR_ID, (found) => (found.startsWith("`") ? found : "the change"));
}
