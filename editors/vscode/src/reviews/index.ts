// The reviews of this window: shown, listed, decided. Everything about them meets here.

import * as vscode from "vscode";
import type { HideReason } from "../../../protocol";
import { inBackground } from "../background";
import type { Hub } from "../hub";
import { plain } from "../wording";
import { comments } from "./comments";
import { Deciding, SHORT_MS } from "./decide";
import { Drafts } from "./drafts";
import { Files } from "./files";
import { inline } from "./inline";
import { lenses } from "./lenses";
import { type Review, Store } from "./store";
import { Tabs } from "./tabs";
import { tree } from "./tree";

export function reviews(
  context: vscode.ExtensionContext,
  hub: Hub,
  log: vscode.LogOutputChannel,
): { readonly pending: number; readonly onPending: vscode.Event<number> } {
  const pending = new vscode.EventEmitter<number>();
  const store = new Store(context.workspaceState, () => ["starting", "away"].includes(hub.state.kind));
  const drafts = new Drafts(context, hub, store);
  const files = new Files(context, store, (review, text) => drafts.send(review, text));
  const tabs = new Tabs(context, hub, store, files, log);
  new Deciding(context, hub, store, tabs, drafts, log);
  for (const part of [comments, lenses, inline, tree]) {
    part(context, store);
  }

  hub.answers("review/show", (shown) => {
    store.show(shown);
    return null;
  });
  hub.answers("review/waiting", ({ review, ownerGone }) => {
    store.waiting(review, ownerGone);
    return null;
  });
  hub.answers("review/hide", ({ review: id, reason }) => {
    const review = store.get(id);
    // What she decides herself ends where she decides it.
    if (review !== undefined && !review.deciding) {
      const isSeen = tabs.of(id).some((tab) => tab.isActive);
      // Her own decision may have been answered with the same words.
      const isTold = reason.kind === "failed" && review.told === reason.error;
      if (reason.kind === "failed" && !isTold) {
        inBackground(log, vscode.window.showErrorMessage(`${review.name}: ${ending(review, reason)}`));
      } else if (isSeen && !isTold) {
        vscode.window.setStatusBarMessage(`${review.name}: ${ending(review, reason)}.`, SHORT_MS);
      }
      store.remove(review);
    }
    return null;
  });

  /** What the hub does not list was settled while nobody could tell us. */
  async function reconcile(window: string): Promise<void> {
    const { reviews: all } = await hub.ask("reviews/list", { all: false });
    const ids = new Set(all.filter((each) => each.window === window).map((each) => each.review));
    store.reconcile(ids);
    await tabs.closeAllBut(ids);
  }
  context.subscriptions.push(
    pending,
    hub.onState((state) => state.kind === "attached" && inBackground(log, reconcile(state.window))),
    store.onChange(() => {
      pending.fire(store.pending.length);
      inBackground(log, vscode.commands.executeCommand("setContext", "linkspan.pending", store.pending.length));
    }),
  );
  return {
    get pending() {
      return store.pending.length;
    },
    onPending: pending.event,
  };
}

function ending(review: Review, reason: HideReason): string {
  switch (reason.kind) {
    case "decided":
      return `${reason.verdict === "reject" ? "rejected" : "accepted"} in ${plain(reason.by)}`;
    case "withdrawn":
      return `${review.agent} took the change back`;
    case "superseded":
      return `${review.agent} proposes something newer`;
    case "failed":
      return plain(reason.error);
  }
}
