// The tabs that show reviews: where they open, which is in front, going from hunk to hunk, closing them. The focus
// stays where it is unless she asked for it.

import * as vscode from "vscode";
import { inBackground } from "../background";
import type { Hub } from "../hub";
import { isSame, pathOf, uriOf } from "../places";
import type { Drafts } from "./drafts";
import { addressOf, type Files, placeOf } from "./files";
import { linesOf, type Review, type Side, type Store } from "./store";

export class Tabs {
  /** One after the other: where the next one opens depends on the one before. */
  #opening: Promise<unknown> = Promise.resolve();
  readonly #told = new Map<string, number>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
    private readonly files: Files,
    private readonly drafts: Drafts,
    log: vscode.LogOutputChannel,
  ) {
    context.subscriptions.push(
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        this.#tellShown();
        for (const id of closed.map(reviewIn)) {
          const review = id === undefined ? undefined : store.get(id);
          // A tab that moves to another group is closed in the old one.
          if (review !== undefined && !review.closed && this.of(review.id).length === 0) {
            review.closed = true;
            store.touched(review);
            hub.tell("review/closed", { review: review.id });
          }
        }
      }),
      store.onChange(({ kind, review }) => {
        if (kind === "added") {
          inBackground(log, this.arrive(review));
        } else if (kind === "removed") {
          inBackground(log, this.close(review));
        }
        this.#tellShown();
      }),
    );
  }

  /** Of one review, or of all. */
  of(id?: string): vscode.Tab[] {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    return tabs.filter((tab) => (id === undefined ? reviewIn(tab) !== undefined : reviewIn(tab) === id));
  }

  isVisible(review: Review): boolean {
    return this.of(review.id).some((tab) => tab.isActive);
  }

  /** The review that she is looking at. */
  get front(): Review | undefined {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    const id = tab && reviewIn(tab);
    if (id !== undefined) {
      return this.store.get(id);
    }
    const input = tab?.input;
    const path = input instanceof vscode.TabInputText && isInline() ? pathOf(input.uri) : undefined;
    const here = this.store.pending.filter((review) => review.shown.path === path);
    return here.length === 1 ? here[0] : undefined;
  }

  /** Where she is in it. */
  cursor(review: Review): { side: Side; line: number } | undefined {
    const editor = this.#editorOf(review);
    const side = editor && (placeOf(editor.document.uri)?.side ?? "base");
    return side && { side, line: editor.selection.active.line };
  }

  /** As the settings say. */
  arrive(review: Review): Promise<unknown> {
    const work = async (): Promise<void> => {
      const where = vscode.workspace.getConfiguration("linkspan").get<string>("review.open", "beside");
      const stays = where === "list" || review.closed || review.shown.omitted || this.of(review.id).length > 0;
      if (stays || this.store.get(review.id) !== review) {
        return;
      }
      const { activeTabGroup } = vscode.window.tabGroups;
      const home = this.of().find((tab) => tab.isActive) ?? this.of()[0];
      const isBehind = where === "background" || (home?.isActive === true && !review.shown.focus);
      const beside = isBehind || activeTabGroup.tabs.length === 0 ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
      await this.#show(review, {
        viewColumn: home?.group.viewColumn ?? beside,
        preserveFocus: true,
        background: isBehind,
      });
    };
    this.#opening = this.#opening.then(work, work);
    return this.#opening;
  }

  /** Because she asked for it. */
  async open(review: Review, line?: number): Promise<void> {
    const home = this.of(review.id)[0] ?? this.of()[0];
    const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await this.#show(review, { ...selection, viewColumn: home?.group.viewColumn ?? vscode.ViewColumn.Active });
    review.closed = false;
    this.store.touched(review);
  }

  /** To the next hunk, or the next review after the last. */
  async step(by: 1 | -1): Promise<void> {
    const review = this.front;
    const editor = review && this.#editorOf(review);
    const cursor = review && this.cursor(review);
    if (editor && cursor && review.linesAgree) {
      const starts = review.shown.hunks.map((hunk) => Math.min(linesOf(hunk, cursor.side).start, editor.document.lineCount - 1));
      const line = by > 0 ? starts.find((start) => start > cursor.line) : starts.findLast((start) => start < cursor.line);
      if (line !== undefined) {
        editor.selection = new vscode.Selection(line, 0, line, 0);
        editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
        return;
      }
    }
    const all = this.store.pending;
    const at = review === undefined ? (by > 0 ? -1 : 0) : all.indexOf(review);
    const next = all.at((at + by) % all.length);
    if (next === undefined) {
      await vscode.window.showInformationMessage("No change waits for you.");
      return;
    }
    await this.open(next, next.shown.hunks.at(by > 0 ? 0 : -1)?.afterStart);
  }

  /** Her text that no hub has stays open. */
  async close(review: Review): Promise<void> {
    if (this.drafts.isUnsent(review) && !review.deciding) {
      const says = `${review.name} is decided elsewhere. Your edits of it came too late, and are still in its tab.`;
      await vscode.window.showWarningMessage(says);
      return;
    }
    await this.files.letGo(review);
    await this.closeAll(review.id);
    this.files.forget(review);
  }

  async closeAll(id: string): Promise<void> {
    await vscode.window.tabGroups.close(this.of(id), true);
  }

  async #show(review: Review, options: vscode.TextDocumentShowOptions & { background?: boolean }): Promise<void> {
    const all = { preview: false, ...options };
    if (isInline() && canBeInline(review)) {
      const uri = uriOf(review.shown.path);
      const isSeen = vscode.window.visibleTextEditors.some((editor) => isSame(editor.document.uri, uri));
      if (!isSeen || options.preserveFocus !== true) {
        await vscode.commands.executeCommand("vscode.open", uri, all);
      }
    } else {
      await this.diff(review, all);
    }
  }

  async diff(review: Review, options: vscode.TextDocumentShowOptions = { preview: false }): Promise<void> {
    const title = `${review.name} ← ${review.agent}`;
    await vscode.commands.executeCommand(
      "vscode.diff", addressOf(review, "base"), addressOf(review, "proposed"), title, options,
    );
  }

  #editorOf(review: Review): vscode.TextEditor | undefined {
    const isOf = ({ document: { uri } }: vscode.TextEditor): boolean =>
      placeOf(uri)?.id === review.id || (isInline() && uri.scheme === "file" && pathOf(uri) === review.shown.path);
    const active = vscode.window.activeTextEditor;
    return active && isOf(active) ? active : vscode.window.visibleTextEditors.findLast(isOf);
  }

  #tellShown(): void {
    for (const { activeTab } of vscode.window.tabGroups.all) {
      const id = activeTab && reviewIn(activeTab);
      const revision = id === undefined ? undefined : this.store.get(id)?.shown.revision;
      if (id !== undefined && revision !== undefined && this.#told.get(id) !== revision) {
        this.#told.set(id, revision);
        this.hub.tell("review/shown", { review: id, revision });
      }
    }
  }
}

export function isInline(): boolean {
  return vscode.workspace.getConfiguration("linkspan").get("review.style") === "inline";
}

export function canBeInline(review: Review): boolean {
  return !review.shown.newFile && !review.shown.omitted && review.linesAgree;
}

function reviewIn({ input }: vscode.Tab): string | undefined {
  return input instanceof vscode.TabInputTextDiff ? placeOf(input.modified)?.id : undefined;
}
