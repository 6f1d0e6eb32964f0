// The tabs of reviews: where they open, which one is active, moving from hunk to hunk, closing them. The focus moves only
// on the user's request.

import * as vscode from "vscode";
import type { ReviewHunk } from "../../../protocol";
import { inBackground, pause } from "../promises";
import type { Hub } from "../hub";
import { documentOf as fileOf, isOnDisk, isSame, uriOf } from "../uris";
import { isSent } from "./drafts";
import { baseUri, documentOf, type Files, keep, needsBom, proposedIn, proposedTabs, reviewAt } from "./files";
import { linesOf, type Review, type Side, type Store, withLf } from "./store";

/** `background` is missing in VS Code's types: the tab opens behind the active one. */
type ShowOptions = vscode.TextDocumentShowOptions & { background?: boolean };

/** With more hunks than this, the diff is easier to read. */
const MAX_INLINE = 100;
const MAX_OPENING_MS = 2_000;
const WIDE_SPLIT = { orientation: 0, groups: [{ size: 0.35 }, { size: 0.65 }] };

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
        for (const review of closed.map((tab) => this.#reviewIn(tab))) {
          // A tab that moves to another group is closed in its old group.
          if (review !== undefined && this.of(review).length === 0) {
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
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (isOnDisk(document.uri)) {
          inBackground(log, this.#leaveFile(document));
        }
      }),
    );
  }

  /** The tabs of one review, or of all. */
  of(review?: Review): vscode.Tab[] {
    const tabs = proposedTabs().filter(([, uri]) => review === undefined || isSame(uri, review.uri));
    return tabs.map(([tab]) => tab);
  }

  #reviewIn({ input }: vscode.Tab): Review | undefined {
    const uri = proposedIn(input);
    return uri && reviewAt(this.store, uri)?.review;
  }

  /** The review in the active tab. */
  get active(): Review | undefined {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    return tab && this.#reviewIn(tab);
  }

  /** The user's position in the review. */
  cursor(review: Review): { editor: vscode.TextEditor; side: Side; line: number } | undefined {
    const tab = this.of(review).find(({ isActive }) => isActive);
    const left = tab?.input instanceof vscode.TabInputTextDiff ? tab.input.original : undefined;
    const shows = ({ document: { uri }, viewColumn }: vscode.TextEditor): boolean =>
      reviewAt(this.store, uri)?.review === review ||
      (left !== undefined && isSame(uri, left) && viewColumn === tab?.group.viewColumn);
    const active = vscode.window.activeTextEditor;
    const editor = active && shows(active) ? active : vscode.window.visibleTextEditors.findLast(shows);
    const side = editor && (reviewAt(this.store, editor.document.uri)?.side ?? "base");
    return side && review.linesAgree ? { editor, side, line: editor.selection.active.line } : undefined;
  }

  /** Opens a review on the user's request. */
  async open(review: Review, hunk?: ReviewHunk): Promise<void> {
    const existing = this.of(review)[0] ?? this.of()[0];
    const line = hunk?.afterStart;
    const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await this.show(review, { ...selection, viewColumn: existing?.group.viewColumn ?? vscode.ViewColumn.Active });
    review.closed = false;
    this.store.touched(review);
  }

  async show(review: Review, options: ShowOptions, inOneEditor = isInline(review)): Promise<void> {
    const shown = { preview: false, ...options };
    const left = inOneEditor ? undefined : await this.left(review);
    const opened =
      left === undefined
        ? vscode.commands.executeCommand("vscode.open", review.uri, shown)
        : vscode.commands.executeCommand("vscode.diff", left, review.uri, titleOf(review), shown);
    // For the next change of the same file, at the same time.
    const [file] = await Promise.all([left === undefined ? undefined : keep(left), opened]);
    if (file !== undefined && isOnDisk(file.uri)) {
      await this.#leaveFile(file);
    }
  }

  /** Opens several reviews in one editor. */
  async showAll(title: string, reviews: readonly Review[]): Promise<void> {
    const sides = reviews.map(async (review) => [uriOf(review.shown.path), await this.left(review), review.uri]);
    await vscode.commands.executeCommand("vscode.changes", title, await Promise.all(sides));
  }

  /** Moves the cursor to the next hunk that is not marked; if none follows, to the first such one. */
  toUndecided(review: Review): void {
    const cursor = this.cursor(review);
    const starts = review.shown.hunks.filter(({ id }) => !review.marks.has(id));
    const hunk = starts.find((each) => cursor !== undefined && linesOf(each, cursor.side)[0] > cursor.line) ?? starts[0];
    if (cursor !== undefined && hunk !== undefined) {
      goTo(cursor.editor, linesOf(hunk, cursor.side)[0]);
    }
  }

  /** The file itself as long as it has the text that the change is based on: VS Code often has it loaded already. */
  async left(review: Review): Promise<vscode.Uri> {
    const existing = this.of(review).find((tab) => tab.input instanceof vscode.TabInputTextDiff);
    if (existing?.input instanceof vscode.TabInputTextDiff) {
      return existing.input.original;
    }
    const { newFile, path, base, encoding } = review.shown;
    if (newFile || !review.linesAgree) {
      return baseUri(review);
    }
    const uri = uriOf(path);
    // The hub has just read it. VS Code has the same text once it has loaded it, unless it decodes the file differently.
    if (fileOf(path) === undefined && review.isNew && encoding === "UTF-8" && !needsBom(uri, base)) {
      return uri;
    }
    const file = await keep(uri);
    return file !== undefined && holdsBase(file, review) ? uri : baseUri(review);
  }

  /** The file was changed: from now on the left side is the text that the agent saw. */
  async #leaveFile(document: vscode.TextDocument): Promise<void> {
    for (const review of this.store.pending.filter(({ shown }) => isSame(uriOf(shown.path), document.uri))) {
      const onFile = (): vscode.Tab[] =>
        this.of(review).filter(({ input }) => input instanceof vscode.TabInputTextDiff && isSame(input.original, document.uri));
      const tab = onFile()[0];
      // Closing a tab with unsaved text would ask the user about it.
      if (tab?.isDirty === false && !review.deciding && !holdsBase(document, review)) {
        const shown = { preview: false, viewColumn: tab.group.viewColumn, preserveFocus: true, background: !tab.isActive };
        await vscode.commands.executeCommand("vscode.diff", baseUri(review), review.uri, titleOf(review), shown);
        // VS Code may have replaced the object of the tab meanwhile.
        await vscode.window.tabGroups.close(onFile(), true);
      }
    }
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
        goTo(cursor.editor, line);
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

  /** From anywhere, with the focus. `stay`: in the active tab, if that is a review. */
  async openNext(stay: boolean): Promise<void> {
    const all = this.store.pending.filter(({ shown }) => !shown.omitted);
    const { active } = this;
    const next = all[active === undefined ? 0 : (all.indexOf(active) + (stay ? 0 : 1)) % all.length];
    if (next === undefined) {
      await vscode.commands.executeCommand("notifications.showList");
    } else {
      await this.open(next, next.shown.hunks[0]);
    }
  }

  /** Closes the tabs of reviews that are no longer pending, except those with the user's unsaved text. */
  async closeStale(): Promise<void> {
    const stale = this.of().filter((tab) => this.#reviewIn(tab) === undefined && !tab.isDirty);
    await vscode.window.tabGroups.close(stale, true);
  }

  /** Opens a new review as the settings say. */
  async #openNew(review: Review): Promise<void> {
    const where = vscode.workspace.getConfiguration("linkspan").get<string>("review.open");
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const isOpen = review.closed || this.of(review).length > 0;
    if (where === "list" || isOpen || review.shown.omitted || this.store.get(review.id) !== review) {
      return;
    }
    const { Active, Beside } = vscode.ViewColumn;
    const reviewTabs = tabs.filter((tab) => this.of().includes(tab));
    const sibling = reviewTabs.find((tab) => tab.isActive) ?? reviewTabs[0];
    // Never cover what the user is looking at.
    const isWanted = where === "active";
    const isCovering = !isWanted && sibling !== undefined && (sibling.group.isActive || (sibling.isActive && !review.shown.focus));
    const background = where === "background" || isCovering;
    const groups = vscode.window.tabGroups.all.length;
    const hasRoom = background || isWanted || vscode.window.tabGroups.activeTabGroup.tabs.length === 0;
    const viewColumn = sibling?.group.viewColumn ?? (hasRoom ? Active : Beside);
    await this.show(review, { viewColumn, preserveFocus: true, background });
    if (this.store.get(review.id) !== review) {
      // It was closed before its tab was there.
      await this.#close(review);
    } else if (groups === 1 && vscode.window.tabGroups.all.length === 2 && !isInline(review)) {
      // A diff in half of a window rarely has room for both sides.
      await vscode.commands.executeCommand("vscode.setEditorLayout", WIDE_SPLIT);
    }
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
    await vscode.window.tabGroups.close(this.of(review), true);
  }

  #reportShown(): void {
    const visible = vscode.window.tabGroups.all.flatMap(
      ({ activeTab }) => (activeTab && this.#reviewIn(activeTab)) ?? [],
    );
    for (const review of visible) {
      review.isOpened = true;
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

/** By the user's setting, or at the agent's request. */
export function isInline({ shown, linesAgree }: Review): boolean {
  const isWanted = shown.inline || vscode.workspace.getConfiguration("linkspan").get("review.style") === "inline";
  return isWanted && !shown.omitted && linesAgree && shown.hunks.length <= MAX_INLINE;
}

function goTo(editor: vscode.TextEditor, line: number): void {
  editor.selection = new vscode.Selection(line, 0, line, 0);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

function titleOf({ name, agent }: Review): string {
  return `${name} ← ${agent}`;
}

function holdsBase(file: vscode.TextDocument, { shown }: Review): boolean {
  return withLf(file.getText()) === withLf(shown.base);
}
