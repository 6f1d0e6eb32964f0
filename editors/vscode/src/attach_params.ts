// The parameters of `attach`: this window, its folders and its capabilities.

import * as vscode from "vscode";
import { version } from "../package.json";
import { type Attach, ERRORS, PROTOCOL } from "../../protocol";
import { Refusal } from "./hub";
import { isOnDisk, pathOf } from "./uris";

export function attachParams(): Attach {
  // Nothing runs in a folder that the user does not trust.
  const { isTrusted } = vscode.workspace;
  return {
    protocol: PROTOCOL,
    version,
    editor: { name: vscode.env.appName, version: vscode.version },
    // Integrated terminals, and so the agents in them, descend from the extension host's parent.
    pid: process.ppid,
    folders: folders(),
    capabilities: {
      documents: true,
      selection: true,
      diagnostics: true,
      reviews: true,
      edits: true,
      editRanges: true,
      format: true,
      language: true,
      terminal: isTrusted,
      messages: true,
      questions: true,
      executeCode: isTrusted,
      trusted: isTrusted,
    },
  };
}

/** Rejects a request that the capabilities do not offer. */
export function refuseUntrusted(): void {
  if (!vscode.workspace.isTrusted) {
    throw new Refusal(ERRORS.DENIED, "the folder is not trusted, so nothing runs in it; the user has to trust it first");
  }
}

/** The workspace folders that agents can reach. */
export function folders(): string[] {
  const uris = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri);
  return uris.filter(isOnDisk).map(pathOf);
}
