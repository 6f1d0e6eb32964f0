// Work that goes on by itself: it may fail, but never silently, and never as an unhandled rejection.

import type * as vscode from "vscode";

const LOOK_MS = 40;

export function inBackground(log: vscode.LogOutputChannel, work: Thenable<unknown>): void {
  work.then(undefined, (error: unknown) => log.error(error instanceof Error ? error : String(error)));
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

/** Looks until it holds or the time is over. */
export async function until(limitMs: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds()) && Date.now() < deadline) {
    await pause(LOOK_MS);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
