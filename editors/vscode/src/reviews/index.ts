// The reviews of this window: shown, listed, decided. Everything about them meets here.

import * as vscode from "vscode";
import type { HideReason } from "../../../protocol";
import { inBackground } from "../background";
import type { Hub } from "../hub";
import { comments } from "./comments";
import { Deciding } from "./decide";
import { Drafts } from "./drafts";
import { Files, placeOf } from "./files";
import { inline } from "./inline";
import { lenses } from "./lenses";
import { plain, type Review, Store } from "./store";
import { Tabs } from "./tabs";
import { tree } from "./tree";

const SHORT_MS = 6_000;

export function reviews(
  context: vscode.ExtensionContext,
  hub: Hub,
  log: vscode.LogOutputChannel,
): { readonly pending: number; readonly onPending: vscode.Event<number> } {
  const pending = new vscode.EventEmitter<number>();
  const store = new Store(context.workspaceState);
  const drafts = new Drafts(context, hub, store, log);
  const files = new Files(context, store, (review, text) => drafts.written(review, text));
  const tabs = new Tabs(context, hub, store, files, drafts, log);
  new Deciding(hub, store, tabs, drafts, log).register(context);
  comments(context, store);
  lenses(context, store);
  inline(context, store);
  tree(context, store);

  hub.answers("review/show", (shown) => {
    store.show(shown);
    return null;
  });
  hub.answers("review/hide", ({ review: id, reason }) => {
    const review = store.get(id);
    // What she decides herself is told and taken away where she decides it.
    if (review !== undefined && !review.deciding) {
      tell(review, reason, tabs.isVisible(review));
      store.remove(review);
    }
    return null;
  });

  /** Asks what there is: the rest was settled while nobody told us. */
  async function reconcile(window: string): Promise<void> {
    const { reviews: all } = await hub.ask("reviews/list", { all: false });
    const ids = new Set(all.filter((each) => each.window === window).map((each) => each.review));
    store.reconcile(ids);
    for (const tab of tabs.of()) {
      const id = tab.input instanceof vscode.TabInputTextDiff ? placeOf(tab.input.modified)?.id : undefined;
      if (id !== undefined && !ids.has(id) && !tab.isDirty) {
        await tabs.closeAll(id);
      }
    }
  }
  const attached = (): void => {
    if (hub.state.kind === "attached") {
      inBackground(log, reconcile(hub.state.window));
    }
  };
  attached();
  context.subscriptions.push(
    pending,
    hub.onState(attached),
    store.onChange(() => {
      const { length } = store.pending;
      pending.fire(length);
      inBackground(log, vscode.commands.executeCommand("setContext", "linkspan.pending", length));
    }),
  );
  return {
    get pending() {
      return store.pending.length;
    },
    onPending: pending.event,
  };
}

function tell(review: Review, reason: HideReason, isVisible: boolean): void {
  if (reason.kind === "failed") {
    const says = `The change to ${review.name} was accepted, but could not be carried out: ${plain(reason.error)}`;
    vscode.window.showErrorMessage(says).then(undefined, () => undefined);
  } else if (isVisible) {
    vscode.window.setStatusBarMessage(`${review.name}: ${ending(review, reason)}`, SHORT_MS);
  }
}

function ending(review: Review, reason: Exclude<HideReason, { kind: "failed" }>): string {
  switch (reason.kind) {
    case "decided":
      return `${reason.verdict === "reject" ? "rejected" : "accepted"} in ${plain(reason.by)}`;
    case "withdrawn":
      return `${review.agent} took the change back`;
    case "superseded":
      return `${review.agent} proposes something newer`;
  }
}
