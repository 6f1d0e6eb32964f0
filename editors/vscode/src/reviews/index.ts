// The reviews of this window.

import * as vscode from "vscode";
import type { Hub } from "../hub";

export function reviews(
  context: vscode.ExtensionContext,
  hub: Hub,
  _log: vscode.LogOutputChannel,
): { readonly pending: number; onPending: vscode.Event<number> } {
  const pending = new vscode.EventEmitter<number>();
  context.subscriptions.push(pending);
  hub.answers("review/show", () => null);
  hub.answers("review/hide", () => null);
  return { pending: 0, onPending: pending.event };
}
