// Errors and warnings from the language servers, and whether they are about the current text.

import * as vscode from "vscode";
import type { Diagnostic, FileDiagnostics, Severity } from "../../protocol";
import { until } from "./promises";
import type { Hub } from "./hub";
import { documentOf, fromRange, isOnDisk, pathOf, uriOf } from "./uris";

/** A server that has reported since the last change is done when it stays quiet for this long. */
const QUIET_MS = 250;
/** One that has not reported since the last change has nothing to report after this long. */
const SILENT_MS = 2_000;
/** One that never reported on the file may still be starting. */
const STARTING_MS = 10_000;
const DEFAULT_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;
/** Servers report on many files at once. */
const COLLECT_MS = 150;

const SEVERITIES: Record<vscode.DiagnosticSeverity, Severity> = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
  [vscode.DiagnosticSeverity.Information]: "info",
  [vscode.DiagnosticSeverity.Hint]: "hint",
};

export function diagnostics(context: vscode.ExtensionContext, hub: Hub): void {
  const startedAt = Date.now();
  /** By path: when the text last changed (or was loaded), and when its diagnostics last changed. */
  const [changedAt, reportedAt] = [new Map<string, number>(), new Map<string, number>()];
  const unsent = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const send = () => {
    timer = undefined;
    hub.notify("diagnostics/changed", { files: [...unsent].map((path) => ({ path, ...versionOf(path) })) });
    unsent.clear();
  };
  const changed = ({ uri }: vscode.TextDocument) => isOnDisk(uri) && changedAt.set(pathOf(uri), Date.now());
  context.subscriptions.push(
    { dispose: () => clearTimeout(timer) },
    vscode.workspace.onDidOpenTextDocument(changed),
    vscode.workspace.onDidChangeTextDocument((event) => event.contentChanges.length > 0 && changed(event.document)),
    vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      for (const path of uris.filter(isOnDisk).map(pathOf)) {
        reportedAt.set(path, Date.now());
        unsent.add(path);
        timer ??= setTimeout(send, COLLECT_MS);
      }
    }),
  );

  const isSettled = (path: string) => {
    if (documentOf(path) === undefined) {
      return vscode.languages.getDiagnostics(uriOf(path)).length > 0;
    }
    const [changed, reported] = [changedAt.get(path) ?? startedAt, reportedAt.get(path)];
    const waitMs = reported === undefined ? STARTING_MS : reported > changed ? QUIET_MS : SILENT_MS;
    return Date.now() - Math.max(changed, reported ?? 0) >= waitMs;
  };
  hub.onRequest("diagnostics/get", async ({ path, waitMs = path === undefined ? 0 : DEFAULT_WAIT_MS }) => {
    const paths = () => (path === undefined ? pathsWithAny() : [path]);
    // No server works on a file that is not open.
    const isDone = (each: string) => documentOf(each) === undefined || isSettled(each);
    await until(Math.min(waitMs, LONGEST_WAIT_MS), () => paths().every(isDone));
    return { files: paths().map((each) => describe(each, isSettled(each))) };
  });
}

function pathsWithAny(): string[] {
  const all = vscode.languages.getDiagnostics().filter(([uri, found]) => isOnDisk(uri) && found.length > 0);
  return all.map(([uri]) => pathOf(uri));
}

function versionOf(path: string): { version?: number } {
  const document = documentOf(path);
  return document === undefined ? {} : { version: document.version };
}

function describe(path: string, settled: boolean): FileDiagnostics {
  const found = vscode.languages.getDiagnostics(uriOf(path)).toSorted((a, b) => {
    return a.range.start.compareTo(b.range.start) || a.range.end.compareTo(b.range.end);
  });
  return { path, settled, diagnostics: found.map(fromDiagnostic), ...versionOf(path) };
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
