// Errors and warnings, as the language servers tell them, and whether they are about the text as it is now.

import * as vscode from "vscode";
import type { Diagnostic, FileDiagnostics, Severity } from "../../protocol";
import { pause } from "./background";
import type { Hub } from "./hub";
import { documentOf, fromRange, isOnDisk, pathOf, uriOf } from "./places";

/** A server that has spoken since the last change is done after this much silence. */
const QUIET_MS = 250;
/** One that has not spoken has nothing to say after this much. */
const SILENT_MS = 2_000;
const DEFAULT_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;
const LOOK_MS = 50;
/** Servers tell of many files at once. */
const COLLECT_MS = 150;

const SEVERITIES: Record<vscode.DiagnosticSeverity, Severity> = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
  [vscode.DiagnosticSeverity.Information]: "info",
  [vscode.DiagnosticSeverity.Hint]: "hint",
};

export function diagnostics(context: vscode.ExtensionContext, hub: Hub): void {
  const startedAt = Date.now();
  /** By URI: when the text last changed (or was loaded), and when its diagnostics did. */
  const changedAt = new Map<string, number>();
  const heardAt = new Map<string, number>();
  const news = new Map<string, vscode.Uri>();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer = undefined;
    const files = [...news.values()].map((uri) => ({ path: pathOf(uri), ...versionOf(uri) }));
    news.clear();
    hub.tell("diagnostics/changed", { files });
  };
  context.subscriptions.push(
    { dispose: () => clearTimeout(timer) },
    vscode.workspace.onDidOpenTextDocument(({ uri }) => changedAt.set(uri.toString(), Date.now())),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      changedAt.delete(uri.toString());
      heardAt.delete(uri.toString());
    }),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0) {
        changedAt.set(document.uri.toString(), Date.now());
      }
    }),
    vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      for (const uri of uris.filter(isOnDisk)) {
        heardAt.set(uri.toString(), Date.now());
        news.set(uri.toString(), uri);
        timer ??= setTimeout(tell, COLLECT_MS);
      }
    }),
  );

  const isSettled = (uri: vscode.Uri) => {
    if (documentOf(pathOf(uri)) === undefined) {
      return vscode.languages.getDiagnostics(uri).length > 0;
    }
    const changed = changedAt.get(uri.toString()) ?? startedAt;
    const heard = heardAt.get(uri.toString()) ?? 0;
    const silence = Date.now() - Math.max(changed, heard);
    return silence >= (heard > changed ? QUIET_MS : SILENT_MS);
  };
  hub.answers("diagnostics/get", async ({ path, waitMs }) => {
    const uris = () => (path === undefined ? urisWithAny() : [uriOf(path)]);
    const deadline = Date.now() + Math.min(waitMs ?? (path === undefined ? 0 : DEFAULT_WAIT_MS), LONGEST_WAIT_MS);
    // For a file that is not open nobody is at work.
    const isAtWork = (uri: vscode.Uri) => documentOf(pathOf(uri)) !== undefined && !isSettled(uri);
    while (Date.now() < deadline && uris().some(isAtWork)) {
      await pause(LOOK_MS);
    }
    return { files: uris().map((uri) => describe(uri, isSettled(uri))) };
  });
}

function urisWithAny(): vscode.Uri[] {
  return vscode.languages
    .getDiagnostics()
    .filter(([uri, found]) => isOnDisk(uri) && found.length > 0)
    .map(([uri]) => uri);
}

function versionOf(uri: vscode.Uri): { version?: number } {
  const document = documentOf(pathOf(uri));
  return document === undefined ? {} : { version: document.version };
}

function describe(uri: vscode.Uri, settled: boolean): FileDiagnostics {
  const found = vscode.languages.getDiagnostics(uri).toSorted((a, b) => {
    return a.range.start.compareTo(b.range.start) || a.range.end.compareTo(b.range.end);
  });
  return { path: pathOf(uri), settled, diagnostics: found.map(fromDiagnostic), ...versionOf(uri) };
}

function fromDiagnostic({ message, severity, range, source, code }: vscode.Diagnostic): Diagnostic {
  const value = typeof code === "object" ? code.value : code;
  return {
    message,
    severity: SEVERITIES[severity],
    range: fromRange(range),
    ...(source !== undefined && { source }),
    ...(value !== undefined && { code: String(value) }),
  };
}
