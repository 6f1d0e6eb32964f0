// The chat in a view of VS Code: the same parts as in the page, with a hub that is reached through the extension. Bundled
// by `editors/vscode/build.mjs`; the extension's side is `editors/vscode/src/chat.ts`.

import type { ChatUpdate, HubEvent, ReviewsGetResult, ReviewSummary, WindowStatus } from "../../../protocol";
import type { ConnectionState, HubAccess } from "../connection/connection";
import { HubError, type Method, type Params, type Result } from "../connection/socket";
import { DecisionSender } from "../decision/decision_sender";
import { PermissionPrompts } from "../list/permission_prompts";
import { Reviews, wouldBeLost } from "../list/reviews";
import { colourCode, loadDiffFrom } from "../review/diff_loader";
import { part } from "../shell/dom";
import { FileNames } from "../shell/file_names";
import { Notices } from "../shell/notices";
import { ChatPanel, type Composed } from "./chat_panel";
import type { ChatHost, Folder } from "./host";
import { nameOf } from "./folder_names";
import type { Found } from "./mention";
import { ReviewCards } from "./review_cards";

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

/** What the extension sends. */
type Incoming =
  | { kind: "answer"; id: number; result: unknown }
  | { kind: "refusal"; id: number; code: number; message: string }
  | { kind: "notification"; method: string; params: unknown }
  | { kind: "attached"; window: string; folders: string[] }
  | { kind: "away" }
  | { kind: "compose"; composed: Composed }
  | { kind: "openAt"; chat: string; item: number };

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const vscode = acquireVsCodeApi();

/** Requests wait in the extension while the hub is away, so none is ever lost. */
class RelayedHub implements HubAccess {
  state: ConnectionState = "connecting";
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;

  request<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.ask(method, params) as Promise<Result<M>>;
  }

  /** Also asks the extension itself: methods that begin with `editor/`. */
  ask(method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject });
      vscode.postMessage({ kind: "request", id, method, params });
    });
  }

  review({ review }: ReviewSummary): Promise<ReviewsGetResult> {
    return this.request("reviews/get", { review });
  }

  connected(): Promise<void> {
    return Promise.resolve();
  }

  settle(id: number, settle: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting !== undefined) {
      settle(waiting);
    }
  }
}

loadDiffFrom(document.querySelector<HTMLMetaElement>("meta[name=diff]")?.content ?? "");

const hub = new RelayedHub();
const notices = new Notices();
const reviews = new Reviews();
const fileNames = new FileNames();
const deciding = new DecisionSender(hub, reviews);
const prompts = new PermissionPrompts(hub, notices, () => undefined);
let ownWindow = "";
let folders: readonly Folder[] = [];

const cards = new ReviewCards({
  ...{ reviews, fileNames, connection: hub, deciding, notices },
  release: () => undefined,
});

const host: ChatHost = {
  request: async (method, params) => {
    const result = await hub.request(method, params);
    return isList(method, result) ? { ...result, chats: result.chats.filter(isOurs) } : result;
  },
  isConnected: () => hub.state === "connected",
  folders: () => folders,
  review: (id, paths) => cards.of(id, paths),
  question: (id) => prompts.inChat(id),
  colours: colourCode,
  undoTurn: (turn) => hub.request("history/undoTurn", { turn }),
  conversationShown: (messages) => {
    cards.shownIn(messages);
    prompts.conversationShown();
  },
  symbols: async (words) => (await hub.ask("editor/symbols", { words })) as NonNullable<Found["symbols"]>,
  openFile: (path, line) => void hub.ask("editor/open", { path, line }),
  save: (name, text) => void hub.ask("editor/save", { name, text }),
  announce: notices.announce,
  error: notices.error,
};
const panel = new ChatPanel(part("place", HTMLElement), host);
prompts.placeBeside(part("prompts", HTMLElement));

function isList<M extends Method>(method: M, result: Result<Method>): result is Result<"chat/list"> {
  return method === "chat/list" && "chats" in (result as object);
}

/** A window shows the conversations about its own folders. */
function isOurs({ folder, window }: { folder: string; window?: string }): boolean {
  return window === ownWindow || folders.some(({ path }) => path === folder);
}

async function attached(): Promise<void> {
  await hub.request("hub/watch", {});
  const [{ windows }, listed, { asks }] = await Promise.all([
    hub.request("hub/windows", {}),
    hub.request("reviews/list", { all: true }),
    hub.request("asks/list", {}),
  ]);
  fileNames.learn(windows.filter((each: WindowStatus) => each.window === ownWindow));
  const { missing } = reviews.listed(listed.reviews);
  prompts.listed(asks.filter(({ window }) => window === ownWindow));
  await deciding.past(missing.filter((entry) => !entry.sending));
  hub.state = "connected";
  cards.reconnected();
  await panel.connected();
}

function handleEvent({ window, what }: HubEvent): void {
  if (window !== ownWindow) {
    return;
  }
  switch (what.kind) {
    case "review":
      reviews.handleEvent(what.review, what.change, what.summary);
      break;
    case "asked":
      prompts.came(what.asked);
      break;
    case "askOver":
      prompts.over(what);
      break;
    default:
      break;
  }
}

function chatUpdated(update: ChatUpdate): void {
  if (update.change.kind !== "summary" || isOurs(update.change.summary)) {
    panel.update(update);
  }
}

addEventListener("message", ({ data }: MessageEvent<Incoming>) => {
  switch (data.kind) {
    case "answer":
      hub.settle(data.id, ({ resolve }) => resolve(data.result));
      break;
    case "refusal":
      hub.settle(data.id, ({ reject }) => reject(new HubError(data.code, data.message)));
      break;
    case "notification":
      if (data.method === "hub/event") {
        handleEvent(data.params as HubEvent);
      } else if (data.method === "chat/update") {
        chatUpdated(data.params as ChatUpdate);
      }
      break;
    case "attached":
      ownWindow = data.window;
      folders = data.folders.map((path) => ({ path, name: nameOf(path, data.folders) }));
      attached().catch((error: unknown) => notices.error(error instanceof Error ? error.message : "The hub did not respond."));
      break;
    case "away":
      hub.state = "lost";
      panel.changed();
      break;
    case "compose":
      panel.compose(data.composed);
      break;
    case "openAt":
      void panel.openAt(data.chat, data.item);
      break;
  }
});

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "f") {
    event.preventDefault();
    panel.find();
  }
});

addEventListener("pagehide", () => {
  if (reviews.entries.some(wouldBeLost)) {
    cards.keepDrafts();
  }
});

vscode.postMessage({ kind: "ready" });
