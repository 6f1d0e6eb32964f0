// The two sides of a review as files that VS Code can open: `linkspan:` may be written, `linkspan-base:` may not.
// Writing is editing, never deciding.

import * as vscode from "vscode";
import { isSame, uriOf } from "../places";
import { type Review, type Side, type Store, uniform } from "./store";

const SCHEMES: Record<Side, string> = { base: "linkspan-base", proposed: "linkspan" };
/** With it in front, no setting about encodings misreads the text. */
const BOM = "\ufeff";
const LATE_MS = 60_000;

/** The path is the file's own, so that its language and icon are. */
export function addressOf(review: Review, side: Side): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEMES[side], path: `/${review.id}${uriOf(review.shown.path).path}` });
}

export function placeOf(uri: vscode.Uri): { id: string; side: Side } | undefined {
  const side = (["base", "proposed"] as const).find((each) => SCHEMES[each] === uri.scheme);
  const id = /^\/([^/]+)\//.exec(uri.path)?.[1];
  return side && id ? { id, side } : undefined;
}

/** Her document of the proposed side. */
export function documentOf(review: Review): vscode.TextDocument | undefined {
  const uri = addressOf(review, "proposed");
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && isSame(document.uri, uri));
}

function refuse(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}

export class Files implements vscode.FileSystemProvider {
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  /** Decided. VS Code may be saving them yet, and would open again what it cannot save. */
  readonly #over = new Map<string, Review>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly store: Store,
    /** She saved this text. */
    private readonly written: (review: Review, text: string) => void,
  ) {
    context.subscriptions.push(
      vscode.workspace.registerFileSystemProvider(SCHEMES.proposed, this, { isCaseSensitive: true }),
      vscode.workspace.registerFileSystemProvider(SCHEMES.base, this, { isCaseSensitive: true, isReadonly: true }),
      store.onChange(({ kind, review }) => {
        if (kind === "base" || kind === "proposed") {
          const uris = [addressOf(review, "base"), addressOf(review, "proposed")];
          this.#changed.fire(uris.map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
        }
      }),
    );
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  /** Its time tells what changed under her: what she wrote herself is nothing newer to VS Code. */
  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { review, side, text } = await this.#find(uri);
    const mtime = side === "base" ? review.shown.revision : review.generation;
    const stat = { type: vscode.FileType.File, ctime: 0, mtime, size: Buffer.byteLength(BOM + text) };
    // A document does not keep a lone CR, so what has one is not edited there.
    return review.linesAgree ? stat : { ...stat, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return Buffer.from(BOM + (await this.#find(uri)).text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const { review } = await this.#find(uri);
    const text = Buffer.from(content).toString().replace(BOM, "");
    if (this.store.get(review.id) === review && uniform(text) !== uniform(review.shown.proposed)) {
      this.written(review, text);
    }
  }

  /** Makes the document of a review that is over clean: closing its tab shall ask nothing. */
  async letGo(review: Review): Promise<void> {
    this.#over.set(review.id, review);
    setTimeout(() => this.#over.delete(review.id), LATE_MS);
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
    const { id, side } = placeOf(uri) ?? { id: "", side: "base" };
    const review = this.store.get(id) ?? this.#over.get(id) ?? (await this.store.whenKnown(id));
    if (review === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return { review, side, text: review.shown[side] };
  }
}
