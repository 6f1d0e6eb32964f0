// Work that nobody waits for: it may fail, but never silently and never as an unhandled rejection.

import type * as vscode from "vscode";

export function inBackground(log: vscode.LogOutputChannel, work: Thenable<unknown>): void {
  work.then(undefined, (error: unknown) => {
    log.error(error instanceof Error ? error : String(error));
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
