// The two sides of a review as files that VS Code can open: `linkspan:` may be written, `linkspan-base:` may not.
// Writing is editing, never deciding.

import * as vscode from "vscode";
import { isSame, uriOf } from "../places";
import { type Review, type Side, type Store, uniform } from "./store";

const SCHEMES: Record<Side, string> = { base: "linkspan-base", proposed: "linkspan" };
/** With it in front, no setting about encodings misreads the text. */
const BOM = "\ufeff";

/** The path is the file's own, so that its language and icon are. */
export function addressOf(review: Review, side: Side): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEMES[side], path: `/${review.id}${uriOf(review.shown.path).path}` });
}

export function placeOf(uri: vscode.Uri): { id: string; side: Side } | undefined {
  const side = uri.scheme === SCHEMES.base ? "base" : uri.scheme === SCHEMES.proposed ? "proposed" : undefined;
  const id = /^\/([^/]+)\//.exec(uri.path)?.[1];
  return side === undefined || id === undefined ? undefined : { id, side };
}

/** Her document of the proposed side. */
export function documentOf(review: Review): vscode.TextDocument | undefined {
  const uri = addressOf(review, "proposed");
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && isSame(document.uri, uri));
}

export class Files {
  readonly #over = new Map<string, Review>();

  constructor(
    context: vscode.ExtensionContext,
    private readonly store: Store,
    /** She saved this text. */
    readonly written: (review: Review, text: string) => void,
  ) {
    for (const side of ["base", "proposed"] as const) {
      const options = { isCaseSensitive: true, isReadonly: side === "base" };
      const provider = new Texts(this, side);
      context.subscriptions.push(
        vscode.workspace.registerFileSystemProvider(SCHEMES[side], provider, options),
        store.onChange(({ kind, review }) => {
          if (kind === "texts") {
            provider.fire(review);
          }
        }),
      );
    }
  }

  async review(uri: vscode.Uri): Promise<Review> {
    const id = placeOf(uri)?.id ?? "";
    const review = this.#over.get(id) ?? (await this.store.whenKnown(id));
    if (review === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return review;
  }

  isOver(review: Review): boolean {
    return this.#over.has(review.id);
  }

  /** Makes a document clean whose review is over: closing it must ask nothing. What is written counts no more. */
  async letGo(review: Review): Promise<void> {
    const document = documentOf(review);
    if (document?.isDirty === true) {
      this.#over.set(review.id, review);
      review.shown = { ...review.shown, proposed: document.getText() };
      await document.save();
    }
  }

  forget(review: Review): void {
    this.#over.delete(review.id);
  }
}

class Texts implements vscode.FileSystemProvider {
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;

  constructor(
    private readonly files: Files,
    private readonly side: Side,
  ) {}

  fire(review: Review): void {
    this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri: addressOf(review, this.side) }]);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  /** The time only tells apart what changed under her: what she wrote herself is nothing newer. */
  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const review = await this.files.review(uri);
    const size = Buffer.byteLength(BOM + review.shown[this.side]);
    const stat = { type: vscode.FileType.File, ctime: 0, mtime: review.generation, size };
    // A lone CR would be lost in a document, so such a text is better not edited there.
    return review.linesAgree ? stat : { ...stat, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const review = await this.files.review(uri);
    return Buffer.from(BOM + review.shown[this.side], "utf8");
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const review = await this.files.review(uri);
    if (this.side === "base") {
      throw vscode.FileSystemError.NoPermissions("The text before the change cannot be edited.");
    }
    if (this.files.isOver(review)) {
      return;
    }
    const text = Buffer.from(content).toString("utf8").replace(BOM, "");
    if (uniform(text) !== uniform(review.shown.proposed)) {
      this.files.written(review, text);
    }
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
}
