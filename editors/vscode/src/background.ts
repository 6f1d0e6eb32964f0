// Work that nobody waits for: it may fail, but never silently, and never as an unhandled rejection.

import type * as vscode from "vscode";

export function inBackground(log: vscode.LogOutputChannel, work: Thenable<unknown>): void {
  work.then(undefined, (error: unknown) => {
    log.error(error instanceof Error ? error : String(error));
  });
}

/** An action that follows once nothing has called for it for a while. */
export function atRest(context: vscode.ExtensionContext, restMs: number, action: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  context.subscriptions.push({ dispose: () => clearTimeout(timer) });
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, restMs);
  };
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
