// The two sides of a review as files that VS Code can open: `linkspan:` is writable, `linkspan-base:` is read-only.
// Saving one edits the proposal and never decides.

import * as vscode from "vscode";
import { isSame, uriOf } from "../uris";
import type { Review, Side, Store } from "./store";

const SCHEMES: Record<Side, string> = { base: "linkspan-base", proposed: "linkspan" };
/** Written first, so that no encoding setting misreads the text. */
const BOM = "\ufeff";
const KEEP_CLOSED_MS = 60_000;

/** Ends with the file's own path, so that VS Code uses its language and icon. */
export function reviewUri(review: Review, side: Side): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEMES[side], path: `/${review.id}${uriOf(review.shown.path).path}` });
}

export function parseReviewUri(uri: vscode.Uri): { id: string; side: Side } | undefined {
  const side = (["base", "proposed"] as const).find((each) => SCHEMES[each] === uri.scheme);
  const id = /^\/([^/]+)\//.exec(uri.path)?.[1];
  return side && id ? { id, side } : undefined;
}

/** The open document of the proposed side. */
export function documentOf(review: Review): vscode.TextDocument | undefined {
  const uri = reviewUri(review, "proposed");
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && isSame(document.uri, uri));
}

function refuse(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}

export class Files implements vscode.FileSystemProvider {
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  /** Closed reviews. VS Code may still be saving one, and would reopen it if that failed. */
  readonly #closed = new Map<string, Review>();

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
          const uris = [reviewUri(review, "base"), reviewUri(review, "proposed")];
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
    const mtime = this.#closed.has(review.id) ? 0 : side === "base" ? review.shown.revision : review.generation;
    const stat = { type: vscode.FileType.File, ctime: 0, mtime, size: mtime };
    // A document cannot hold a lone CR, so a text with one is read-only.
    return review.linesAgree ? stat : { ...stat, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return Buffer.from(BOM + (await this.#find(uri)).text);
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
    this.#closed.set(review.id, review);
    setTimeout(() => this.#closed.delete(review.id), KEEP_CLOSED_MS);
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
    const { id, side } = parseReviewUri(uri) ?? { id: "", side: "base" };
    const review = this.store.get(id) ?? this.#closed.get(id) ?? (await this.store.whenKnown(id));
    if (review === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return { review, side, text: review.shown[side] };
  }
}
