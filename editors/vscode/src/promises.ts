// Promises that nothing awaits, debouncing and polling. A failure in the background is logged, never an unhandled
// rejection.

import type * as vscode from "vscode";

const POLL_MS = 40;

export function inBackground(log: vscode.LogOutputChannel, work: Thenable<unknown>): void {
  work.then(undefined, (error: unknown) => log.error(error instanceof Error ? error : String(error)));
}

/** Returns a function that runs `action` once it has not been called for `restMs`. */
export function debounce(context: vscode.ExtensionContext, restMs: number, action: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  context.subscriptions.push({ dispose: () => clearTimeout(timer) });
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, restMs);
  };
}

/** Polls until the condition holds or the time limit has passed. */
export async function until(limitMs: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds()) && Date.now() < deadline) {
    await pause(POLL_MS);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
