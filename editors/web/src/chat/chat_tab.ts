// The chat in the page: loads its code when it is opened for the first time, and connects it with the page's reviews,
// permission requests and hub.

import type { ChatUpdate } from "../../../protocol";
import type { HubAccess } from "../connection/connection";
import type { PermissionPrompts } from "../list/permission_prompts";
import { colourCode } from "../review/diff_loader";
import { element, part } from "../shell/dom";
import type { Notices } from "../shell/notices";
import type { ChatPanel, OpenChat } from "./index";
import { nameOf } from "./folder_names";
import type { ChatHost, Folder } from "./host";
import type { ReviewCards } from "./review_cards";

/** The user may be asked before the agent starts. */
const START_PATIENCE_MS = 30 * 60_000;
/** One file after another. */
const UNDO_PATIENCE_MS = 5 * 60_000;

export interface ChatTabMeans {
  readonly connection: HubAccess;
  readonly notices: Notices;
  readonly cards: ReviewCards;
  prompts(): PermissionPrompts;
}

export class ChatTab {
  readonly #means: ChatTabMeans;
  readonly #parent = part("chat", HTMLElement);
  readonly #prompts = element("div", { class: "chat-prompts" });
  readonly #place = element("div", { class: "chat-place" });
  #folders: readonly Folder[] = [];
  #panel: ChatPanel | null = null;
  #loading: Promise<void> | null = null;
  #shown = false;

  constructor(means: ChatTabMeans) {
    this.#means = means;
    this.#parent.append(this.#prompts, this.#place);
  }

  get panel(): ChatPanel | null {
    return this.#panel;
  }

  show(shown: boolean): void {
    if (shown === this.#shown) {
      return;
    }
    this.#shown = shown;
    this.#means.prompts().placeBeside(shown ? this.#prompts : null);
    if (shown) {
      this.#loading ??= this.#load();
      void this.#loading.then(() => this.#panel?.focus());
    }
  }

  /** Opens a conversation at one of its items. The view is shown already. */
  async openAt(chat: string, item: number): Promise<void> {
    this.#loading ??= this.#load();
    await this.#loading;
    await this.#panel?.openAt(chat, item);
  }

  /** The hub is connected, possibly again. */
  async ready(): Promise<void> {
    this.#means.cards.reconnected();
    await this.#panel?.connected();
  }

  learn(folders: readonly string[]): void {
    const paths = [...new Set(folders)];
    this.#folders = paths.map((path) => ({ path, name: nameOf(path, paths) }));
    this.#panel?.changed();
  }

  changed(): void {
    this.#panel?.changed();
  }

  update(update: ChatUpdate): void {
    this.#panel?.update(update);
  }

  async #load(): Promise<void> {
    try {
      const address: string = "/chat.js";
      const [{ openChat }] = await Promise.all([import(address) as Promise<{ openChat: OpenChat }>, style("/chat.css")]);
      this.#panel = openChat(this.#place, this.#host());
      if (this.#means.connection.state === "connected") {
        await this.#panel.connected();
      }
    } catch {
      this.#loading = null;
      this.#means.notices.error("The code of the chat could not be loaded. Reload the page.");
    }
  }

  #host(): ChatHost {
    const { connection, notices, cards, prompts } = this.#means;
    return {
      request: (method, params) => connection.request(method, params, method === "chat/start" ? START_PATIENCE_MS : undefined),
      isConnected: () => connection.state === "connected",
      folders: () => this.#folders,
      review: (id, paths) => cards.of(id, paths),
      question: (id) => prompts().inChat(id),
      colours: colourCode,
      symbols: async (words, folder) => (await connection.request("chat/symbols", { folder, words })).symbols,
      undoTurn: (turn) => connection.request("history/undoTurn", { turn }, UNDO_PATIENCE_MS),
      conversationShown: (messages) => {
        cards.shownIn(messages);
        prompts().conversationShown();
      },
      save,
      announce: notices.announce,
      error: notices.error,
    };
  }
}

function style(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const link = element("link", { rel: "stylesheet", href: address });
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      link.remove();
      reject(new Error(`${address} could not be loaded`));
    });
    document.head.append(link);
  });
}

/** Gives the user a file to save. */
function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
