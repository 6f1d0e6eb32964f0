// The tabs of reviews: where they open, which one is active, moving from hunk to hunk, closing them. The focus moves only
// on the user's request.

import * as vscode from "vscode";
import type { ReviewHunk } from "../../../protocol";
import { inBackground, pause } from "../promises";
import type { Hub } from "../hub";
import { documentOf as fileOf, isSame, pathOf, uriOf } from "../uris";
import { isSent } from "./drafts";
import { reviewUri, documentOf, type Files, parseReviewUri } from "./files";
import { linesOf, type Review, type Side, type Store, withLf } from "./store";

/** `background` is missing in VS Code's types: the tab opens behind the active one. */
type ShowOptions = vscode.TextDocumentShowOptions & { background?: boolean };

/** More hunks than this would hide the file's own text. */
const MAX_INLINE = 100;
const MAX_OPENING_MS = 2_000;

export class Tabs {
  /** Tabs open one at a time, because the position of each depends on the previous one. */
  #opening: Promise<void> = Promise.resolve();
  readonly #reported = new Map<string, number>();
  /** The reviews that were visible at the last change. */
  #visible: readonly Review[] = [];

  constructor(
    context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
    private readonly files: Files,
    log: vscode.LogOutputChannel,
  ) {
    context.subscriptions.push(
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        this.#reportShown();
        for (const review of closed.map((tab) => store.get(idIn(tab)))) {
          // A tab that moves to another group is closed in its old group.
          if (review !== undefined && this.of(review.id).length === 0) {
            review.closed = true;
            store.touched(review);
            hub.notify("review/closed", { review: review.id });
          }
        }
      }),
      store.onChange(({ kind, review }) => {
        if (kind === "added") {
          // A tab that is closed before it has loaded never resolves; the next one must not wait for it.
          const opened = this.#opening.then(() => Promise.race([this.#openNew(review), pause(MAX_OPENING_MS)]));
          this.#opening = opened.catch(() => undefined);
          inBackground(log, opened);
        } else if (kind === "removed") {
          inBackground(log, this.#close(review));
        }
        this.#reportShown();
      }),
    );
  }

  /** The tabs of one review, or of all. */
  of(id?: string): vscode.Tab[] {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    return tabs.filter((tab) => idIn(tab) !== undefined && (id === undefined || idIn(tab) === id));
  }

  /** The review in the active tab. */
  get active(): Review | undefined {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    const review = tab && this.store.get(idIn(tab));
    const path = tab?.input instanceof vscode.TabInputText ? pathOf(tab.input.uri) : undefined;
    const here = this.store.pending.filter((each) => each.shown.path === path && isInline(each));
    return review ?? (here.length === 1 ? here[0] : undefined);
  }

  /** The user's position in the review. */
  cursor(review: Review): { editor: vscode.TextEditor; side: Side; line: number } | undefined {
    const file = isInline(review) && canBeInline(review) ? uriOf(review.shown.path) : undefined;
    const shows = ({ document: { uri } }: vscode.TextEditor): boolean =>
      parseReviewUri(uri)?.id === review.id || (file !== undefined && isSame(uri, file));
    const active = vscode.window.activeTextEditor;
    const editor = active && shows(active) ? active : vscode.window.visibleTextEditors.findLast(shows);
    const side = editor && (parseReviewUri(editor.document.uri)?.side ?? "base");
    return side && review.linesAgree ? { editor, side, line: editor.selection.active.line } : undefined;
  }

  /** Opens a review on the user's request. */
  async open(review: Review, hunk?: ReviewHunk): Promise<void> {
    const existing = this.of(review.id)[0] ?? this.of()[0];
    const line = isInline(review) && canBeInline(review) ? hunk?.beforeStart : hunk?.afterStart;
    const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await this.show(review, { ...selection, viewColumn: existing?.group.viewColumn ?? vscode.ViewColumn.Active });
    review.closed = false;
    this.store.touched(review);
  }

  async show(review: Review, options: ShowOptions, inFile = isInline(review)): Promise<void> {
    const shown = { preview: false, ...options };
    const title = `${review.name} ← ${review.agent}`;
    const sides = [reviewUri(review, "base"), reviewUri(review, "proposed")];
    await (inFile && canBeInline(review)
      ? vscode.commands.executeCommand("vscode.open", uriOf(review.shown.path), shown)
      : vscode.commands.executeCommand("vscode.diff", ...sides, title, shown));
  }

  /** Moves to the next hunk, or from the last one to the next review. */
  async step(by: 1 | -1): Promise<void> {
    const review = this.active;
    const cursor = review && this.cursor(review);
    if (cursor) {
      const last = cursor.editor.document.lineCount - 1;
      const starts = review.shown.hunks.map((hunk) => Math.min(linesOf(hunk, cursor.side)[0], last));
      const line = by > 0 ? starts.find((each) => each > cursor.line) : starts.findLast((each) => each < cursor.line);
      if (line !== undefined) {
        cursor.editor.selection = new vscode.Selection(line, 0, line, 0);
        cursor.editor.revealRange(cursor.editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
        return;
      }
    }
    const all = this.store.pending.filter(({ shown }) => !shown.omitted);
    const at = review === undefined ? Math.min(0, -by) : all.indexOf(review);
    const next = all.at((at + by) % all.length);
    if (next === undefined) {
      await vscode.window.showInformationMessage("No changes to review.");
    } else {
      await this.open(next, next.shown.hunks.at(by > 0 ? 0 : -1));
    }
  }

  /** Closes the tabs of reviews that are no longer pending, except those with the user's unsaved text. */
  async closeAllBut(ids: ReadonlySet<string>): Promise<void> {
    const stale = this.of().filter((tab) => !ids.has(idIn(tab) ?? "") && !tab.isDirty);
    await vscode.window.tabGroups.close(stale, true);
  }

  /** Opens a new review as the settings say. */
  async #openNew(review: Review): Promise<void> {
    const where = vscode.workspace.getConfiguration("linkspan").get<string>("review.open");
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const isOpen = review.closed || this.of(review.id).length > 0 || (isInline(review) && isInFile(review));
    if (where === "list" || isOpen || review.shown.omitted || this.store.get(review.id) !== review) {
      return;
    }
    const { Active, Beside } = vscode.ViewColumn;
    const isReview = (tab: vscode.Tab): boolean =>
      idIn(tab) !== undefined || this.store.pending.some((other) => other !== review && isFileOf(tab, other));
    const reviewTabs = tabs.filter(isReview);
    const sibling = reviewTabs.find((tab) => tab.isActive) ?? reviewTabs[0];
    // Never cover what the user is looking at.
    const isCovering = sibling !== undefined && (sibling.group.isActive || (sibling.isActive && !review.shown.focus));
    const background = where === "background" || isCovering;
    const hasRoom = background || vscode.window.tabGroups.activeTabGroup.tabs.length === 0;
    const viewColumn = sibling?.group.viewColumn ?? (hasRoom ? Active : Beside);
    await this.show(review, { viewColumn, preserveFocus: true, background });
  }

  async #close(review: Review): Promise<void> {
    const document = documentOf(review);
    const hasUnsentText = document?.isDirty === true && !isSent(review, document);
    if (hasUnsentText && document.getText() !== review.discarded) {
      const message = `${review.name} is no longer pending, but you edited it: your text is still in its tab.`;
      await vscode.window.showWarningMessage(message);
      return;
    }
    await this.files.release(review);
    await vscode.window.tabGroups.close(this.of(review.id), true);
  }

  #reportShown(): void {
    const visible = vscode.window.tabGroups.all.flatMap(
      ({ activeTab }) => (activeTab && this.store.get(idIn(activeTab))) ?? [],
    );
    for (const review of visible) {
      // A click or key press may have been meant for the previous tab.
      review.movedAt = this.#visible.includes(review) ? review.movedAt : Date.now();
      if (this.#reported.get(review.id) !== review.shown.revision) {
        this.#reported.set(review.id, review.shown.revision);
        this.hub.notify("review/shown", { review: review.id, revision: review.shown.revision });
      }
    }
    this.#visible = visible;
  }
}

/** Whether the tab shows a file that contains an inline review. */
function isFileOf({ input }: vscode.Tab, review: Review): boolean {
  const isFile = input instanceof vscode.TabInputText && isSame(input.uri, uriOf(review.shown.path));
  return isFile && isInline(review) && canBeInline(review);
}

/** By the user's setting, or at the agent's request. */
export function isInline({ shown }: Review): boolean {
  return shown.inline || vscode.workspace.getConfiguration("linkspan").get("review.style") === "inline";
}

/** Only if the file still has the text that the agent saw. */
export function canBeInline({ shown, linesAgree }: Review): boolean {
  const text = fileOf(shown.path)?.getText() ?? shown.base;
  const isFit = !shown.newFile && !shown.omitted && linesAgree && shown.hunks.length <= MAX_INLINE;
  return isFit && withLf(text) === withLf(shown.base);
}

/** Whether the review is visible in its file, or was before a reload. */
function isInFile(review: Review): boolean {
  const file = uriOf(review.shown.path);
  const isVisible = vscode.window.visibleTextEditors.some(({ document }) => isSame(document.uri, file));
  return canBeInline(review) && (isVisible || review.isRestored);
}

function idIn({ input }: vscode.Tab): string | undefined {
  return input instanceof vscode.TabInputTextDiff ? parseReviewUri(input.modified)?.id : undefined;
}
