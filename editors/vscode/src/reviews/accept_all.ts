// Accept All: says what is taken before it is, and offers to take it back.

import * as vscode from "vscode";
import { undoAll } from "../history";
import type { Hub } from "../hub";
import { count } from "../plain_text";
import { seenOf, type SeenRevisions } from "./decide";
import type { Review, Store } from "./store";

/** Names in the question; the rest is counted. */
const MAX_NAMES = 12;
const UNDO = "Undo All";

export async function acceptAll(
  store: Store,
  hub: Hub,
  accept: (reviews: Review[], seen: SeenRevisions) => Promise<Review[]>,
): Promise<void> {
  const reviews = store.pending;
  const seen = seenOf(reviews);
  if (reviews.length === 0 || !(await isWanted(reviews))) {
    return;
  }
  const done = await accept(reviews.filter((review) => store.get(review.id) === review), seen);
  const taken = count(done.length, "change");
  if (done.length > 0 && (await vscode.window.showInformationMessage(`Accepted ${taken}.`, UNDO)) === UNDO) {
    await undoAll(hub, done.toReversed());
  }
}

async function isWanted(reviews: Review[]): Promise<boolean> {
  const unopened = reviews.filter(({ isOpened }) => !isOpened).length;
  const lines = reviews.slice(0, MAX_NAMES).map(({ name, agent }) => `${name} ← ${agent}`);
  if (reviews.length > MAX_NAMES) {
    lines.push(`and ${reviews.length - MAX_NAMES} more`);
  }
  if (unopened > 0) {
    lines.push(`You have not opened ${unopened} of them.`);
  }
  const [question, options] = [`Accept ${count(reviews.length, "change")}?`, { modal: true, detail: lines.join("\n") }];
  return (await vscode.window.showWarningMessage(question, options, "Accept All")) !== undefined;
}
