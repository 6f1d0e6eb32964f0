// The reviews of this window: connects the hub's requests with the store, the tabs, the list and the decisions.

import * as vscode from "vscode";
import type { HideReason } from "../../../protocol";
import { inBackground } from "../promises";
import type { Hub } from "../hub";
import { inWorkspace } from "../failure";
import { plain } from "../plain_text";
import { comments } from "./comments";
import { Decisions, SHORT_MS } from "./decide";
import { Drafts } from "./drafts";
import { Files, proposedUri } from "./files";
import { lenses } from "./lenses";
import { marks } from "./marks";
import { preview } from "./preview";
import { type Review, Store } from "./store";
import { Tabs } from "./tabs";
import type { Questions } from "../user";
import { tree } from "./tree";

export function reviews(
  context: vscode.ExtensionContext,
  hub: Hub,
  log: vscode.LogOutputChannel,
  questions: Questions,
): { readonly pending: number; readonly onPending: vscode.Event<number> } {
  const pending = new vscode.EventEmitter<number>();
  const isConnecting = (): boolean => ["starting", "away"].includes(hub.state.kind);
  const store = new Store(context.workspaceState, isConnecting, proposedUri);
  const drafts = new Drafts(context, hub, store);
  const files = new Files(context, store, (review, text) => drafts.send(review, text));
  const tabs = new Tabs(context, hub, store, files, log);
  new Decisions(context, hub, store, tabs, drafts, log);
  for (const part of [comments, marks, preview]) {
    part(context, store);
  }
  lenses(context, store, hub);
  tree(context, store, questions);

  hub.onRequest("review/show", (shown) => {
    store.show(shown);
    store.arrived(shown.review);
    return null;
  });
  hub.onRequest("review/waiting", ({ review, ownerGone }) => {
    store.setOwnerGone(review, ownerGone);
    return null;
  });
  hub.onRequest("review/hide", ({ review: id, reason }) => {
    const review = store.get(id);
    store.arrived(id);
    // A decision made in this window closes the review itself.
    if (review !== undefined && !review.deciding) {
      const isVisible = tabs.of(review).some((tab) => tab.isActive);
      // The response to a decision made here may have had the same message.
      const isShown = reason.kind === "failed" && review.shownRefusal === reason.error;
      if (reason.kind === "failed" && !isShown) {
        inBackground(log, vscode.window.showErrorMessage(`${review.name}: ${describe(review, reason)}`));
      } else if (isVisible && !isShown) {
        vscode.window.setStatusBarMessage(`${review.name}: ${describe(review, reason)}.`, SHORT_MS);
      }
      store.remove(review);
    }
    return null;
  });

  context.subscriptions.push(
    pending,
    hub.onState((state) => state.kind === "attached" && store.attached(state.pendingReviews ?? [])),
    store.onComplete(() => inBackground(log, tabs.closeStale())),
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

function describe(review: Review, reason: HideReason): string {
  switch (reason.kind) {
    case "decided":
      return `${reason.verdict === "reject" ? "rejected" : "accepted"} in ${plain(reason.by)}`;
    case "withdrawn":
      return `${review.agent} withdrew the change`;
    case "superseded":
      return `${review.agent} replaced the change`;
    case "failed":
      return inWorkspace(plain(reason.error));
  }
}
