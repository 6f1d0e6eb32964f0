// The list of what waits: agents, the sets they named, files, hunks.

import * as vscode from "vscode";
import type { ReviewHunk } from "../../../protocol";
import { uriOf } from "../places";
import type { Aim } from "./decide";
import { count, linesOf, plain, type Review, type Store } from "./store";

const VIEW = "linkspan.reviews";
const LONGEST_LABEL = 80;

interface Node extends Aim {
  readonly item: vscode.TreeItem;
  children(): Node[];
}

export function tree(context: vscode.ExtensionContext, store: Store): void {
  const changed = new vscode.EventEmitter<undefined>();
  const view = vscode.window.createTreeView<Node>(VIEW, {
    showCollapseAll: true,
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getTreeItem: ({ item }) => item,
      getChildren: (node) => node?.children() ?? agents(store.pending),
    },
  });
  const refresh = (): void => {
    const { length } = store.pending;
    changed.fire(undefined);
    view.badge = length === 0 ? undefined : { value: length, tooltip: `${count(length, "change")} for you to decide` };
  };
  context.subscriptions.push(changed, view, store.onChange(refresh));
}

function agents(reviews: Review[]): Node[] {
  const nodes: Node[] = [];
  for (const [key, own] of grouped(reviews, ({ shown }) => `${shown.dialect}:${shown.agent}`)) {
    const name = own[0]?.agent ?? "";
    nodes.push(group("agent", `agent:${key}`, name, "hubot", own, () => sets(key, own)));
  }
  return nodes;
}

function sets(agent: string, reviews: Review[]): Node[] {
  const nodes: Node[] = [];
  for (const [set, own] of grouped(reviews, ({ shown }) => shown.set)) {
    const files = (): Node[] => own.map(file);
    nodes.push(...(set === undefined ? files() : [group("set", `${agent}:${set}`, "Change set", "files", own, files)]));
  }
  return nodes;
}

function grouped<K>(reviews: Review[], keyOf: (review: Review) => K): Map<K, Review[]> {
  const groups = new Map<K, Review[]>();
  for (const review of reviews) {
    groups.set(keyOf(review), [...(groups.get(keyOf(review)) ?? []), review]);
  }
  return groups;
}

function group(
  kind: "agent" | "set",
  id: string,
  label: string,
  icon: string,
  reviews: Review[],
  children: () => Node[],
): Node {
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
  item.id = id;
  item.iconPath = new vscode.ThemeIcon(icon);
  item.description = count(reviews.length, "file");
  item.contextValue = kind;
  item.accessibilityInformation = { label: `${label}, ${item.description} to decide` };
  return { item, reviews: reviews.map((review) => review.id), children };
}

function file(review: Review): Node {
  const { shown, marks } = review;
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(review.name, shown.hunks.length > 0 ? Collapsed : None);
  const node: Node = { item, reviews: [review.id], children: () => hunks(review) };
  const uri = uriOf(shown.path);
  const folder = vscode.workspace.asRelativePath(vscode.Uri.joinPath(uri, ".."));
  const notes = [
    shown.newFile ? "new" : "",
    shown.omitted ? "too large to show" : "",
    shown.conflicts.length > 0 ? count(shown.conflicts.length, "conflict") : "",
    marks.size > 0 ? `${marks.size} of ${count(shown.hunks.length, "hunk")} marked` : "",
  ].filter((note) => note !== "");
  item.id = review.id;
  item.resourceUri = uri;
  item.iconPath = vscode.ThemeIcon.File;
  item.description = [...notes, folder].join(" · ");
  item.tooltip = [shown.path, plain(shown.label), shown.encoding, shown.lineEndings ?? ""].filter((part) => part !== "").join("\n");
  item.contextValue = "file";
  item.command = { command: "linkspan.openReview", title: "Open Review", arguments: [node] };
  const about = [review.name, `change by ${review.agent}`, count(shown.hunks.length, "hunk"), ...notes];
  item.accessibilityInformation = { label: about.join(", ") };
  return node;
}

function hunks(review: Review): Node[] {
  const { base, proposed } = review.shown;
  const [before, after] = [base.split("\n"), proposed.split("\n")];
  return review.shown.hunks.map((hunk, index) => {
    const mark = review.marks.get(hunk.id);
    const item = new vscode.TreeItem(gist(hunk, before, after));
    const node: Node = { item, reviews: [review.id], hunk: hunk.id, children: () => [] };
    item.id = `${review.id}:${hunk.id}`;
    item.iconPath = new vscode.ThemeIcon(icon(hunk, mark), mark && new vscode.ThemeColor(COLORS[mark]));
    item.description = `line ${hunk.afterStart + 1}, +${hunk.afterCount} −${hunk.beforeCount}`;
    item.contextValue = mark === undefined ? "hunk" : `hunk-${mark}`;
    item.command = { command: "linkspan.openReview", title: "Open Review", arguments: [node] };
    const what = `${count(hunk.afterCount, "line")} added, ${hunk.beforeCount} removed`;
    const label = `Hunk ${index + 1} of ${review.name}, line ${hunk.afterStart + 1}, ${what}${mark ? `, ${mark}` : ""}`;
    item.accessibilityInformation = { label };
    return node;
  });
}

const COLORS = { accepted: "testing.iconPassed", rejected: "testing.iconFailed" };

function icon(hunk: ReviewHunk, mark: keyof typeof COLORS | undefined): string {
  if (mark !== undefined) {
    return mark === "accepted" ? "pass" : "error";
  }
  return hunk.beforeCount === 0 ? "diff-added" : hunk.afterCount === 0 ? "diff-removed" : "diff-modified";
}

/** Its first line that says something. */
function gist(hunk: ReviewHunk, before: string[], after: string[]): string {
  const side = hunk.afterCount > 0 ? "proposed" : "base";
  const { start, count: length } = linesOf(hunk, side);
  const lines = (side === "base" ? before : after).slice(start, start + length).map((line) => line.slice(0, 1000).trim());
  return plain((lines.find((line) => line !== "") ?? "blank lines").slice(0, LONGEST_LABEL));
}
