// Who this window is and what it can do, as the hub is told on attaching.

import * as vscode from "vscode";
import { version } from "../package.json";
import { type Attach, ERRORS, PROTOCOL } from "../../protocol";
import { Refusal } from "./hub";
import { isOnDisk, pathOf } from "./places";

export function introduction(): Attach {
  // Nothing runs in a folder that she does not trust.
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
      format: true,
      language: true,
      terminal: isTrusted,
      messages: true,
      questions: true,
      executeCode: isTrusted,
    },
  };
}

/** What is asked in spite of the capabilities that were told. */
export function refuseUntrusted(): void {
  if (!vscode.workspace.isTrusted) {
    throw new Refusal(ERRORS.DENIED, "nothing runs in a folder that is not trusted: the person has to trust it first");
  }
}

/** The workspace folders that agents can reach. */
export function folders(): string[] {
  const uris = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri);
  return uris.filter(isOnDisk).map(pathOf);
}
