// A closed review as the diff that was decided, read-only, with the outcome, the reason and the comments as lenses. The
// list of closed reviews is in `history.ts`.

import * as vscode from "vscode";
import type { HistoryEntry, HistoryShowResult } from "../../protocol";
import type { Hub } from "./hub";
import { plain } from "./plain_text";
import { uriOf } from "./uris";

/** The query of a URI is the id of the review and the side. */
const SCHEME = "linkspan-past";
type Side = "base" | "text";

export class PastDiffs implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider {
  /** Those that are open. */
  readonly #shown = new Map<string, Promise<HistoryShowResult>>();
  /** The hub takes one question about its history at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    context: vscode.ExtensionContext,
    private readonly hub: Hub,
  ) {
    context.subscriptions.push(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        const [review, isOpen] = [reviewIn(uri), (other: vscode.TextDocument) => reviewIn(other.uri) === review];
        if (uri.scheme === SCHEME && !vscode.workspace.textDocuments.some(isOpen)) {
          this.#shown.delete(review);
        }
      }),
    );
  }

  async open({ review, path, agent }: HistoryEntry): Promise<void> {
    // Says why, instead of an empty diff.
    const { entry } = await this.#texts(review);
    const name = plain(path.replace(/^.*[\\/]/, ""));
    const title = `${name} ← ${plain(agent)} (${outcomeOf(entry)})`;
    const sides = (["base", "text"] as const).map((side) => uriFor(entry, side));
    await vscode.commands.executeCommand("vscode.diff", ...sides, title, { preview: true });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const { base, text } = await this.#texts(reviewIn(uri));
    return isText(uri) ? text : (base ?? "");
  }

  async provideCodeLenses({ uri, lineCount }: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (!isText(uri)) {
      return [];
    }
    const { entry } = await this.#texts(reviewIn(uri));
    const comments = entry.comments.map(({ line, text }) => lens(Math.min(line, lineCount) - 1, `Comment: “${plain(text)}”`));
    return [...factsOf(entry).map((fact) => lens(0, fact)), ...comments];
  }

  #texts(review: string): Promise<HistoryShowResult> {
    const known = this.#shown.get(review);
    if (known !== undefined) {
      return known;
    }
    const ask = () => this.hub.request("history/show", { review });
    const texts = this.#last.then(ask);
    this.#last = texts.catch(() => this.#shown.delete(review));
    this.#shown.set(review, texts);
    return texts;
  }
}

/** The outcome in one or two words. */
export function outcomeOf({ ended, undoes }: HistoryEntry): string {
  const taken = ended.kind === "accepted" && ended.taken !== "all" ? ` (${ended.taken})` : "";
  return undoes === undefined ? ended.kind + taken : "undo";
}

/** Why it was rejected or failed. */
export function reasonOf({ ended }: HistoryEntry): string | undefined {
  const reason = ended.kind === "rejected" ? ended.reason : ended.kind === "failed" ? ended.error : undefined;
  return reason && plain(reason);
}

/** What was decided, where or by which rule, when, and why. */
function factsOf(entry: HistoryEntry): string[] {
  const { decidedBy, undone, endedAtMs } = entry;
  const outcome = outcomeOf(entry);
  const by = decidedBy === undefined ? "" : ` · ${plain(decidedBy)}`;
  const facts = [`${outcome.charAt(0).toUpperCase()}${outcome.slice(1)}${by}${undone ? ", undone" : ""}`];
  const reason = reasonOf(entry);
  return [...facts, new Date(endedAtMs).toLocaleString(), ...(reason ? [`Reason: “${reason}”`] : [])];
}

function uriFor({ path, review }: HistoryEntry, side: Side): vscode.Uri {
  const shown = vscode.workspace.asRelativePath(uriOf(path), true).replace(/^\/*/, "/");
  return vscode.Uri.from({ scheme: SCHEME, path: shown, query: `${review}/${side}` });
}

function reviewIn({ scheme, query }: vscode.Uri): string {
  return scheme === SCHEME ? query.replace(/\/.*$/, "") : "";
}

function isText({ query }: vscode.Uri): boolean {
  return query.endsWith("/text");
}

function lens(line: number, title: string): vscode.CodeLens {
  return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command: "" });
}
