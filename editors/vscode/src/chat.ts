// The Chat view: gives the webview its document, passes messages on between it and the hub, and does for it what needs
// VS Code. What is shown is in `editors/web/src/chat`.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as vscode from "vscode";
import { type ChatAttachment, type CommandToHubRequests, ERRORS, type ReviewOrigin } from "../../protocol";
import { folders } from "./attach_params";
import type { Hub } from "./hub";
import { inBackground, messageOf } from "./promises";
import { isOnDisk, pathOf, uriOf } from "./uris";

/** The same methods as a page may use. */
const METHODS = new Set([
  ...["hub/watch", "hub/windows", "reviews/list", "reviews/get", "reviews/decide", "asks/list", "asks/answer", "history/list", "history/undoTurn"],
  ...["chat/agents", "chat/list", "chat/start", "chat/open", "chat/items", "chat/files", "chat/prompt", "chat/cancel", "chat/setMode", "chat/close"],
]);
const MOST_SYMBOLS = 20;
const MOST_PROBLEMS = 20;

/** A message for the composer. */
interface Composed {
  text: string;
  attachments: ChatAttachment[];
  send: boolean;
}

interface WebviewRequest {
  kind: "request";
  id: number;
  method: string;
  params: Record<string, unknown>;
}

export function chat(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  const view = new ChatView(vscode.Uri.joinPath(context.extensionUri, "dist", "webview"), hub, log);
  const command = (name: string, make: (clicked: unknown) => Composed | undefined) =>
    vscode.commands.registerCommand(name, (clicked?: unknown) => {
      const composed = make(clicked);
      return composed === undefined ? undefined : view.compose(composed);
    });
  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider("linkspan.chat", view, { webviewOptions: { retainContextWhenHidden: true } }),
    hub.onState(() => view.stateChanged()),
    hub.onNotification(({ method, params }) => view.post({ kind: "notification", method, params })),
    vscode.commands.registerCommand("linkspan.chat.openConversation", (origin: ReviewOrigin) => view.openAt(origin)),
    command("linkspan.chat.ask", () => ({ text: "", attachments: selected(), send: false })),
    command("linkspan.chat.explain", () => ({ text: "Explain this code.", attachments: selected(), send: true })),
    command("linkspan.chat.fix", () => fix(log)),
    command("linkspan.chat.addFile", (clicked) => {
      const uri = clicked instanceof vscode.Uri ? clicked : vscode.window.activeTextEditor?.document.uri;
      return uri !== undefined && isOnDisk(uri) ? { text: "", attachments: [{ path: pathOf(uri) }], send: false } : undefined;
    }),
  );
}

class ChatView implements vscode.WebviewViewProvider {
  #webview: vscode.Webview | undefined;
  #isReady = false;
  /** Messages for a webview that is still loading. */
  #waiting: unknown[] = [];

  constructor(
    private readonly folder: vscode.Uri,
    private readonly hub: Hub,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async resolveWebviewView({ webview, onDidDispose }: vscode.WebviewView): Promise<void> {
    this.#webview = webview;
    this.#isReady = false;
    webview.options = { enableScripts: true, localResourceRoots: [this.folder] };
    webview.onDidReceiveMessage((message: WebviewRequest | { kind: "ready" }) => {
      if (message.kind === "ready") {
        this.#isReady = true;
        this.stateChanged();
        this.#waiting.splice(0).forEach((each) => this.post(each));
      } else {
        inBackground(this.log, this.#answer(message));
      }
    });
    onDidDispose(() => {
      this.#webview = undefined;
    });
    const template = await readFile(vscode.Uri.joinPath(this.folder, "webview.html").fsPath, "utf8");
    webview.html = template
      .replaceAll("__NONCE__", randomBytes(18).toString("base64url"))
      .replaceAll("__SOURCE__", webview.cspSource)
      .replaceAll("__FOLDER__", webview.asWebviewUri(this.folder).toString());
  }

  post(message: unknown): void {
    if (this.#isReady && this.#webview !== undefined) {
      inBackground(this.log, this.#webview.postMessage(message));
    }
  }

  stateChanged(): void {
    const { state } = this.hub;
    this.post(state.kind === "attached" ? { kind: "attached", window: state.window, folders: folders() } : { kind: "away" });
  }

  compose(composed: Composed): Promise<void> {
    return this.#show({ kind: "compose", composed });
  }

  /** Opens a conversation at one of its items. */
  openAt({ chat, item }: ReviewOrigin): Promise<void> {
    return this.#show({ kind: "openAt", chat, item });
  }

  /** Shows the view, and gives it this message as soon as it can take one. */
  async #show(message: unknown): Promise<void> {
    await vscode.commands.executeCommand("linkspan.chat.focus");
    if (this.#isReady && this.#webview !== undefined) {
      this.post(message);
    } else {
      this.#waiting.push(message);
    }
  }

  async #answer({ id, method, params }: WebviewRequest): Promise<void> {
    try {
      const result = method.startsWith("editor/") ? await perform(method, params) : await this.#relay(method, params);
      this.post({ kind: "answer", id, result: result ?? null });
    } catch (error) {
      const code = error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : ERRORS.INTERNAL;
      this.post({ kind: "refusal", id, code, message: messageOf(error) });
    }
  }

  #relay(method: string, params: Record<string, unknown>): Promise<unknown> {
    if (!METHODS.has(method)) {
      throw new Error(`the chat may not ask for \`${method}\``);
    }
    // The page's code has the types of both.
    return this.hub.request(method as keyof CommandToHubRequests, params);
  }
}

/** What the chat asks of VS Code. */
async function perform(method: string, params: Record<string, unknown>): Promise<unknown> {
  const text = (name: string): string => (typeof params[name] === "string" ? params[name] : "");
  switch (method) {
    case "editor/symbols": {
      const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>("vscode.executeWorkspaceSymbolProvider", text("words"));
      const onDisk = (found ?? []).filter(({ location }) => isOnDisk(location.uri)).slice(0, MOST_SYMBOLS);
      return onDisk.map(({ name, location: { uri, range } }) => ({ name, path: pathOf(uri), firstLine: range.start.line + 1, lastLine: range.end.line + 1 }));
    }
    case "editor/open":
      await vscode.window.showTextDocument(uriOf(text("path")), { preview: true });
      return null;
    case "editor/save": {
      const uri = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.joinPath(vscode.workspace.workspaceFolders?.[0]?.uri ?? uriOf("/"), text("name")) });
      return uri === undefined ? null : vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text("text")));
    }
    default:
      throw new Error(`the chat may not ask for \`${method}\``);
  }
}

/** The selected lines, or the file when nothing is selected. */
function selected(): ChatAttachment[] {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !isOnDisk(editor.document.uri)) {
    return [];
  }
  const { start, end, isEmpty } = editor.selection;
  const path = pathOf(editor.document.uri);
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  return [isEmpty ? { path } : { path, firstLine: start.line + 1, lastLine: last }];
}

/** The problems in the selected lines, or in the file when there are none. */
function fix(log: vscode.LogOutputChannel): Composed | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !isOnDisk(editor.document.uri)) {
    return undefined;
  }
  const { document, selection } = editor;
  const all = vscode.languages.getDiagnostics(document.uri);
  const lines = new vscode.Range(selection.start.line, 0, selection.end.line + 1, 0);
  const here = all.filter(({ range }) => range.intersection(lines) !== undefined);
  const problems = (here.length > 0 ? here : all).slice(0, MOST_PROBLEMS);
  if (problems.length === 0) {
    inBackground(log, vscode.window.showInformationMessage("There is no problem in this file."));
    return undefined;
  }
  const list = problems.map(({ range, message }) => `- line ${range.start.line + 1}: ${message.replaceAll(/\s+/g, " ")}`);
  return { text: `Fix:\n${list.join("\n")}`, attachments: [{ path: pathOf(document.uri) }], send: true };
}
