// The tabs that show reviews: where they open, which is in front, going from hunk to hunk, closing them. The focus
// stays where it is unless she asked for it.

import * as vscode from "vscode";
import type { ReviewHunk } from "../../../protocol";
import { inBackground, pause } from "../background";
import type { Hub } from "../hub";
import { documentOf as fileOf, isSame, pathOf, uriOf } from "../places";
import { isSent } from "./drafts";
import { addressOf, documentOf, type Files, placeOf } from "./files";
import { linesOf, type Review, type Side, type Store, uniform } from "./store";

/** VS Code knows more than its types say: a tab may open behind the one that is seen. */
type Where = vscode.TextDocumentShowOptions & { background?: boolean };

/** More hunks than this would bury the file. */
const MOST_INLINE = 100;
const LONGEST_OPENING_MS = 2_000;

export class Tabs {
  /** One after the other: where the next one opens depends on the one before. */
  #opening: Promise<void> = Promise.resolve();
  readonly #told = new Map<string, number>();
  /** The reviews that were in front last. */
  #inFront: readonly Review[] = [];

  constructor(
    context: vscode.ExtensionContext,
    private readonly hub: Hub,
    private readonly store: Store,
    private readonly files: Files,
    log: vscode.LogOutputChannel,
  ) {
    context.subscriptions.push(
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        this.#tellShown();
        for (const review of closed.map((tab) => store.get(idIn(tab)))) {
          // A tab that moves to another group is closed in the old one.
          if (review !== undefined && this.of(review.id).length === 0) {
            review.closed = true;
            store.touched(review);
            hub.tell("review/closed", { review: review.id });
          }
        }
      }),
      store.onChange(({ kind, review }) => {
        if (kind === "added") {
          // A tab that is closed before it has loaded never says so; the next one does not wait for it.
          const opened = this.#opening.then(() => Promise.race([this.#arrive(review), pause(LONGEST_OPENING_MS)]));
          this.#opening = opened.catch(() => undefined);
          inBackground(log, opened);
        } else if (kind === "removed") {
          inBackground(log, this.#close(review));
        }
        this.#tellShown();
      }),
    );
  }

  /** Those of one review, or all. */
  of(id?: string): vscode.Tab[] {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    return tabs.filter((tab) => idIn(tab) !== undefined && (id === undefined || idIn(tab) === id));
  }

  /** The review that she is looking at. */
  get front(): Review | undefined {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    const review = tab && this.store.get(idIn(tab));
    const path = tab?.input instanceof vscode.TabInputText ? pathOf(tab.input.uri) : undefined;
    const here = this.store.pending.filter((each) => each.shown.path === path && isInline(each));
    return review ?? (here.length === 1 ? here[0] : undefined);
  }

  /** Where she is in it. */
  cursor(review: Review): { editor: vscode.TextEditor; side: Side; line: number } | undefined {
    const file = isInline(review) && canBeInline(review) ? uriOf(review.shown.path) : undefined;
    const shows = ({ document: { uri } }: vscode.TextEditor): boolean =>
      placeOf(uri)?.id === review.id || (file !== undefined && isSame(uri, file));
    const active = vscode.window.activeTextEditor;
    const editor = active && shows(active) ? active : vscode.window.visibleTextEditors.findLast(shows);
    const side = editor && (placeOf(editor.document.uri)?.side ?? "base");
    return side && review.linesAgree ? { editor, side, line: editor.selection.active.line } : undefined;
  }

  /** Because she asked for it. */
  async open(review: Review, hunk?: ReviewHunk): Promise<void> {
    const home = this.of(review.id)[0] ?? this.of()[0];
    const line = isInline(review) && canBeInline(review) ? hunk?.beforeStart : hunk?.afterStart;
    const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await this.show(review, { ...selection, viewColumn: home?.group.viewColumn ?? vscode.ViewColumn.Active });
    review.closed = false;
    this.store.touched(review);
  }

  async show(review: Review, where: Where, inFile = isInline(review)): Promise<void> {
    const options = { preview: false, ...where };
    const title = `${review.name} ← ${review.agent}`;
    const sides = [addressOf(review, "base"), addressOf(review, "proposed")];
    await (inFile && canBeInline(review)
      ? vscode.commands.executeCommand("vscode.open", uriOf(review.shown.path), options)
      : vscode.commands.executeCommand("vscode.diff", ...sides, title, options));
  }

  /** To the next hunk, or the next review after the last. */
  async step(by: 1 | -1): Promise<void> {
    const review = this.front;
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
      await vscode.window.showInformationMessage("No change waits for you.");
    } else {
      await this.open(next, next.shown.hunks.at(by > 0 ? 0 : -1));
    }
  }

  /** Closes what is left of reviews that are over. What is not saved there stays: it is hers. */
  async closeAllBut(ids: ReadonlySet<string>): Promise<void> {
    const over = this.of().filter((tab) => !ids.has(idIn(tab) ?? "") && !tab.isDirty);
    await vscode.window.tabGroups.close(over, true);
  }

  /** As the settings say. */
  async #arrive(review: Review): Promise<void> {
    const where = vscode.workspace.getConfiguration("linkspan").get<string>("review.open");
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const isOpen = review.closed || this.of(review.id).length > 0 || (isInline(review) && isInFile(review));
    if (where === "list" || isOpen || review.shown.omitted || this.store.get(review.id) !== review) {
      return;
    }
    const { Active, Beside } = vscode.ViewColumn;
    const shown = (tab: vscode.Tab): boolean =>
      idIn(tab) !== undefined || this.store.pending.some((other) => other !== review && isFileOf(tab, other));
    const homes = tabs.filter(shown);
    const home = homes.find((tab) => tab.isActive) ?? homes[0];
    // What she looks at is never covered.
    const isCovering = home !== undefined && (home.group.isActive || (home.isActive && !review.shown.focus));
    const background = where === "background" || isCovering;
    const hasRoom = background || vscode.window.tabGroups.activeTabGroup.tabs.length === 0;
    const viewColumn = home?.group.viewColumn ?? (hasRoom ? Active : Beside);
    await this.show(review, { viewColumn, preserveFocus: true, background });
  }

  async #close(review: Review): Promise<void> {
    const document = documentOf(review);
    const isHers = document?.isDirty === true && !isSent(review, document);
    if (isHers && document.getText() !== review.discarded) {
      const says = `${review.name} does not wait any more, but you edited it: your text is still in its tab.`;
      await vscode.window.showWarningMessage(says);
      return;
    }
    await this.files.letGo(review);
    await vscode.window.tabGroups.close(this.of(review.id), true);
  }

  #tellShown(): void {
    const inFront = vscode.window.tabGroups.all.flatMap(
      ({ activeTab }) => (activeTab && this.store.get(idIn(activeTab))) ?? [],
    );
    for (const review of inFront) {
      // A click or key may have been meant for what was in front before.
      review.movedAt = this.#inFront.includes(review) ? review.movedAt : Date.now();
      if (this.#told.get(review.id) !== review.shown.revision) {
        this.#told.set(review.id, review.shown.revision);
        this.hub.tell("review/shown", { review: review.id, revision: review.shown.revision });
      }
    }
    this.#inFront = inFront;
  }
}

/** Whether the tab has the file in which a review is shown inline. */
function isFileOf({ input }: vscode.Tab, review: Review): boolean {
  const isFile = input instanceof vscode.TabInputText && isSame(input.uri, uriOf(review.shown.path));
  return isFile && isInline(review) && canBeInline(review);
}

/** By her own wish, or by the agent's. */
export function isInline({ shown }: Review): boolean {
  return shown.inline || vscode.workspace.getConfiguration("linkspan").get("review.style") === "inline";
}

/** Only in the text that the agent saw. */
export function canBeInline({ shown, linesAgree }: Review): boolean {
  const text = fileOf(shown.path)?.getText() ?? shown.base;
  const isFit = !shown.newFile && !shown.omitted && linesAgree && shown.hunks.length <= MOST_INLINE;
  return isFit && uniform(text) === uniform(shown.base);
}

/** She sees it in its file, or did before a reload. */
function isInFile(review: Review): boolean {
  const file = uriOf(review.shown.path);
  const isSeen = vscode.window.visibleTextEditors.some(({ document }) => isSame(document.uri, file));
  return canBeInline(review) && (isSeen || review.isRestored);
}

function idIn({ input }: vscode.Tab): string | undefined {
  return input instanceof vscode.TabInputTextDiff ? placeOf(input.modified)?.id : undefined;
}
