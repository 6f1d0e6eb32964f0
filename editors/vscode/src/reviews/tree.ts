// The Reviews view: agents, change sets, files and hunks.

import * as vscode from "vscode";
import type { ReviewHunk, UserAsk } from "../../../protocol";
import { uriOf } from "../uris";
import { count, plain } from "../plain_text";
import type { Questions } from "../user";
import type { CommandTarget } from "./decide";
import { proposedTabs } from "./files";
import { linesOf, type Review, type Store } from "./store";
import { whyProposed } from "./why";

const MAX_LABEL = 80;
const ICONS = { agent: "hubot", set: "files" };
const MARKS = { accepted: ["pass", "testing.iconPassed"], rejected: ["error", "testing.iconFailed"] } as const;
const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;

interface Node extends CommandTarget {
  readonly item: vscode.TreeItem;
  children(): Node[];
}

export function tree(context: vscode.ExtensionContext, store: Store, questions: Questions): void {
  const changed = new vscode.EventEmitter<undefined>();
  const view = vscode.window.createTreeView<Node>("linkspan.reviews", {
    showCollapseAll: true,
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getTreeItem: ({ item }) => item,
      getChildren: (node) => node?.children() ?? [...questions.open.map(question), ...agents(inTabOrder(store.pending))],
    },
  });
  const refresh = (): void => {
    const [pending, asked] = [store.pending.length, questions.open.length];
    const tooltip = [pending > 0 && `${count(pending, "change")} to review`, asked > 0 && count(asked, "question")];
    view.badge = pending + asked === 0 ? undefined : { value: pending + asked, tooltip: tooltip.filter(Boolean).join(", ") };
    changed.fire(undefined);
  };
  const moved = vscode.window.tabGroups.onDidChangeTabs(() => changed.fire(undefined));
  context.subscriptions.push(changed, view, moved, store.onChange(refresh), questions.onChange(refresh));
}

/** What has no tab is last, oldest first. */
function inTabOrder(reviews: Review[]): Review[] {
  const tabs = proposedTabs().map(([, uri]) => uri.toString());
  const place = (review: Review): number => {
    const at = tabs.indexOf(review.uri.toString());
    return at < 0 ? tabs.length : at;
  };
  return reviews.toSorted((a, b) => place(a) - place(b));
}

/** A prompt, whose notification may be hidden. */
function question({ ask, question: title, detail }: UserAsk): Node {
  const item = new vscode.TreeItem(plain(title));
  item.id = `question:${ask}`;
  item.iconPath = new vscode.ThemeIcon("question");
  item.description = plain(detail ?? "");
  item.contextValue = "question";
  item.tooltip = new vscode.MarkdownString().appendText(title).appendCodeblock(detail ?? "", "sh");
  item.command = { command: "notifications.showList", title: "Answer" };
  return { item, reviews: [], children: () => [] };
}

function agents(reviews: Review[]): Node[] {
  const groups = grouped(reviews, ({ shown }) => `${shown.dialect}:${shown.agent}`);
  return groups.map(([key, own]) => group("agent", key, own[0]?.agent ?? key, own, () => sets(key, own)));
}

function sets(agent: string, reviews: Review[]): Node[] {
  return grouped(reviews, ({ shown }) => shown.set).flatMap(([set, own]) => {
    const files = (): Node[] => own.map(file);
    return set === undefined ? files() : [group("set", `${agent}:${set}`, plain(own[0]?.shown.setLabel ?? "Change set"), own, files)];
  });
}

function grouped<K>(reviews: Review[], keyOf: (review: Review) => K): [K, Review[]][] {
  const keys = [...new Set(reviews.map(keyOf))];
  return keys.map((key) => [key, reviews.filter((review) => keyOf(review) === key)]);
}

function group(kind: keyof typeof ICONS, id: string, label: string, reviews: Review[], children: () => Node[]): Node {
  const item = new vscode.TreeItem(label, Expanded);
  item.id = `${kind}:${id}`;
  item.iconPath = new vscode.ThemeIcon(ICONS[kind]);
  item.description = `${count(reviews.length, "file")} ${lineCount(reviews)}`;
  item.contextValue = kind;
  item.accessibilityInformation = { label: `${label}, ${item.description} to review` };
  return { item, reviews: reviews.map((review) => review.id), children };
}

function file(review: Review): Node {
  const { shown, marks, name } = review;
  const item = new vscode.TreeItem(name, shown.hunks.length > 0 ? Collapsed : None);
  const node: Node = { item, reviews: [review.id], children: () => hunks(review) };
  const hunkCount = count(shown.hunks.length, "hunk");
  const notes = [
    shown.newFile && "new",
    shown.omitted && "too large to show",
    shown.ownerGone && "agent gone",
    shown.conflicts.length > 0 && count(shown.conflicts.length, "conflict"),
    marks.size > 0 && `${marks.size} of ${hunkCount} marked`,
  ].filter((note) => note !== false);
  const folder = vscode.workspace.asRelativePath(shown.path).replace(/[\\/]?[^\\/]*$/, "");
  item.id = review.id;
  item.resourceUri = uriOf(shown.path);
  item.iconPath = vscode.ThemeIcon.File;
  item.description = [lineCount([review]), ...notes, folder].filter(Boolean).join(" · ");
  const gone = shown.ownerGone && `${review.agent} is no longer waiting for the decision.`;
  const writes = shown.ownerGone && shown.agentWrites && "Linkspan can write the file if you accept.";
  const note = review.note("all");
  const why = shown.origin === undefined ? "" : whyProposed(shown.origin);
  const facts = [shown.path, why, plain(shown.label), shown.encoding, shown.lineEndings, note, gone, writes];
  item.tooltip = facts.filter(Boolean).join("\n");
  item.contextValue = "file";
  item.command = { command: "linkspan.openReview", title: "Open Review", arguments: [node] };
  item.accessibilityInformation = { label: [name, `change by ${review.agent}`, hunkCount, ...notes].join(", ") };
  return node;
}

function lineCount(reviews: Review[]): string {
  const all = reviews.flatMap(({ shown }) => shown.hunks);
  const sum = (of: (hunk: ReviewHunk) => number): number => all.reduce((total, hunk) => total + of(hunk), 0);
  return all.length === 0 ? "" : `+${sum((hunk) => hunk.afterCount)} −${sum((hunk) => hunk.beforeCount)}`;
}

function hunks(review: Review): Node[] {
  const lines = { base: review.shown.base.split("\n"), proposed: review.shown.proposed.split("\n") };
  return review.shown.hunks.map((hunk, index) => {
    const mark = review.marks.get(hunk.id);
    const { afterStart, afterCount, beforeCount } = hunk;
    const item = new vscode.TreeItem(summary(hunk, lines));
    const node: Node = { item, reviews: [review.id], hunk: hunk.id, children: () => [] };
    const kind = beforeCount === 0 ? "added" : afterCount === 0 ? "removed" : "modified";
    const [icon, color] = mark ? MARKS[mark] : [`diff-${kind}`];
    item.id = `${review.id}:${hunk.id}`;
    item.iconPath = new vscode.ThemeIcon(icon, color && new vscode.ThemeColor(color));
    item.description = `line ${afterStart + 1}, +${afterCount} −${beforeCount}`;
    item.contextValue = mark === undefined ? "hunk" : `hunk-${mark}`;
    item.command = { command: "linkspan.openReview", title: "Open Review", arguments: [node] };
    const size = `${count(afterCount, "line")} added, ${beforeCount} removed`;
    const about = [`Hunk ${index + 1} of ${review.name}`, `line ${afterStart + 1}`, size, mark];
    item.accessibilityInformation = { label: about.filter(Boolean).join(", ") };
    return node;
  });
}

/** The first line of a hunk that is not blank. */
function summary(hunk: ReviewHunk, lines: Record<"base" | "proposed", string[]>): string {
  const side = hunk.afterCount > 0 ? "proposed" : "base";
  const [start, length] = linesOf(hunk, side);
  const first = lines[side].slice(start, start + length).find((line) => line.trim() !== "");
  return first === undefined ? "Blank lines" : plain(first.trimStart().slice(0, MAX_LABEL));
}
