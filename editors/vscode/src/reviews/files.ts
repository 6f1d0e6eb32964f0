// The two sides of a review as files that VS Code can open: `linkspan:` is writable, `linkspan-base:` is read-only.
// Saving one edits the proposal and never decides. The query of a URI tells reviews apart; its path is for people.

import * as vscode from "vscode";
import type { ReviewShow } from "../../../protocol";
import { isSame, uriOf } from "../uris";
import type { Review, Side, Store } from "./store";

const SCHEMES: Record<Side, string> = { base: "linkspan-base", proposed: "linkspan" };
const BOM = "\ufeff";
const KEEP_CLOSED_MS = 60_000;

/** The proposed side. Each review has a document of its own: loading the next change into the document of the one before
 * takes VS Code longer than a new document. */
export function proposedUri({ review, path }: ReviewShow): vscode.Uri {
  // The path is that of the breadcrumbs, the language and the icon.
  const shown = vscode.workspace.asRelativePath(uriOf(path), true).replace(/^\/*/, "/");
  return vscode.Uri.from({ scheme: SCHEMES.proposed, path: shown, query: review });
}

export function baseUri({ id, uri }: Review): vscode.Uri {
  return uri.with({ scheme: SCHEMES.base, query: id });
}

/** The review that a document shows, and which side. */
export function reviewAt(store: Store, uri: vscode.Uri): { review: Review; side: Side } | undefined {
  const side = (["base", "proposed"] as const).find((each) => SCHEMES[each] === uri.scheme);
  const isIt = (review: Review): boolean => (side === "base" ? review.id === uri.query : isSame(review.uri, uri));
  const review = side && store.pending.find(isIt);
  return review && { review, side };
}

/** The tabs with the proposed side of some review, pending or not. */
export function proposedTabs(): [vscode.Tab, vscode.Uri][] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.flatMap((tab) => {
    const uri = proposedIn(tab.input);
    return uri === undefined ? [] : [[tab, uri]];
  });
}

/** The proposed side in a tab. */
export function proposedIn(input: unknown): vscode.Uri | undefined {
  const one = input instanceof vscode.TabInputText ? input.uri : undefined;
  const uri = input instanceof vscode.TabInputTextDiff ? input.modified : one;
  return uri?.scheme === SCHEMES.proposed ? uri : undefined;
}

/** The open document of the proposed side. */
export function documentOf(review: Review): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && isSame(document.uri, review.uri));
}

/** Makes VS Code keep a document for minutes, which it does if an extension has opened it. */
export async function keep(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    return undefined;
  }
}

/** VS Code decodes faster without a byte order mark, but only if nothing else makes it misread the text. */
export function needsBom(uri: vscode.Uri, text: string): boolean {
  const settings = vscode.workspace.getConfiguration("files", uri);
  const isOther = settings.get("encoding") !== "utf8" || settings.get("autoGuessEncoding") === true;
  const isPerLanguage = ["encoding", "autoGuessEncoding"].some((name) => settings.inspect(name)?.languageIds?.length);
  return isOther || isPerLanguage || text.startsWith(BOM) || text.includes("\0");
}

function refuse(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}

export class Files implements vscode.FileSystemProvider {
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  /** Closed reviews. VS Code may still be saving one, and would reopen it if that failed. */
  readonly #closed = new Set<Review>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly store: Store,
    /** Called when the user saves; returns why the text was not taken. */
    private readonly onSave: (review: Review, text: string) => Promise<string | undefined>,
  ) {
    context.subscriptions.push(
      vscode.workspace.registerFileSystemProvider(SCHEMES.proposed, this, { isCaseSensitive: true }),
      vscode.workspace.registerFileSystemProvider(SCHEMES.base, this, { isCaseSensitive: true, isReadonly: true }),
      store.onChange(({ kind, review }) => {
        // After a reload, a tab may be restored before its review.
        if (kind === "added" || kind === "base" || kind === "proposed") {
          const uris = [baseUri(review), review.uri];
          this.#changed.fire(uris.map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
        }
      }),
    );
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  /**
   * The modification time changes only when the proposal changes, not when the user saves: VS Code asks before it
   * overwrites a newer file, provided that the size differs too.
   */
  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { review, side } = await this.#find(uri);
    const version = side === "base" ? review.shown.revision : review.generation;
    const mtime = this.#closed.has(review) ? 0 : version;
    const stat = { type: vscode.FileType.File, ctime: 0, mtime, size: version };
    // A document cannot hold a lone CR, so a text with one is read-only.
    return review.linesAgree ? stat : { ...stat, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const { text } = await this.#find(uri);
    return Buffer.from(needsBom(uri, text) ? BOM + text : text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const { review } = await this.#find(uri);
    const text = Buffer.from(content).toString().replace(/^\ufeff/, "");
    const why = this.store.get(review.id) === review ? await this.onSave(review, text) : undefined;
    if (why !== undefined) {
      throw vscode.FileSystemError.Unavailable(why);
    }
  }

  /** Saves the document of a closed review, so that closing its tab does not prompt. */
  async release(review: Review): Promise<void> {
    this.#closed.add(review);
    setTimeout(() => this.#closed.delete(review), KEEP_CLOSED_MS);
    const document = documentOf(review);
    if (document?.isDirty === true) {
      review.shown = { ...review.shown, proposed: document.getText() };
      await document.save();
    }
  }

  readDirectory(): [] {
    return [];
  }

  createDirectory = refuse;
  delete = refuse;
  rename = refuse;

  async #find(uri: vscode.Uri): Promise<{ review: Review; side: Side; text: string }> {
    const closed = [...this.#closed].findLast((review) => isSame(review.uri, uri) || isSame(baseUri(review), uri));
    const old = closed && { review: closed, side: isSame(closed.uri, uri) ? "proposed" as const : "base" as const };
    const find = () => reviewAt(this.store, uri) ?? old;
    const found = await this.store.whenKnown(find);
    if (found === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return { ...found, text: found.review.shown[found.side] };
  }
}
