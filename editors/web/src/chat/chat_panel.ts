// The chat: the list of conversations, the one that is open, and what the user does with it. Works wherever a host gives
// it a hub.

import type { ChatAgent, ChatAttachment, ChatUpdate } from "../../../protocol";
import { element, setText } from "../shell/dom";
import { oncePerFrame } from "../shell/throttle";
import { visible } from "../shell/visible";
import { ChatList } from "./chat_list";
import { Composer, NO_DRAFT, type ComposerState, type Draft } from "./composer";
import { ConversationHead } from "./conversation_head";
import { FindBar } from "./find_bar";
import type { ChatHost } from "./host";
import { KeptDrafts } from "./kept_drafts";
import { applied, EMPTY, listed, older, opened, pathsOf, type ChatModel, type Conversation } from "./model";
import { exportName, find, toMarkdown } from "./plain_text";
import { candidates, type Candidate, type Found } from "./mention";
import { StartForm } from "./start_form";
import { Transcript } from "./transcript";

/** A message from outside the chat, such as a command of the editor. */
export interface Composed {
  text: string;
  attachments: ChatAttachment[];
  /** Send it at once, if a conversation is open that can take it. */
  send: boolean;
}

/** How many items are requested when a conversation is opened, as the user scrolls up, and to search in all of it. */
const FIRST_PAGE = 200;
const SCROLL_PAGE = 200;
const WHOLE_PAGE = 1000;
/** How long the item that was asked for is marked. */
const SHOWN_MS = 2_500;

export class ChatPanel {
  readonly root: HTMLElement;
  readonly #host: ChatHost;
  readonly #list: ChatList;
  readonly #head: ConversationHead;
  readonly #find: FindBar;
  readonly #start: StartForm;
  readonly #composer: Composer;
  readonly #body = element("div", { class: "conversation-body" });
  readonly #doing = element("p", { class: "doing" });
  readonly #drafts = new KeptDrafts();
  readonly #paintSoon = oncePerFrame(() => this.#paint());
  #model: ChatModel = EMPTY;
  #agents: readonly ChatAgent[] | null = null;
  #transcript: Transcript | null = null;
  /** Conversations whose updates arrive. */
  readonly #followed = new Set<string>();
  #starting = false;
  #wasWorking = false;
  #opening: Promise<void> = Promise.resolve();
  /** The conversations are known. */
  readonly #listed: Promise<void>;
  #resolveListed: () => void = () => undefined;
  #loadingOlder: Promise<void> | null = null;

  constructor(parent: HTMLElement, host: ChatHost) {
    this.#host = host;
    this.#listed = new Promise((resolve) => {
      this.#resolveListed = resolve;
    });
    this.#list = new ChatList({ open: (chat) => this.open(chat), startNew: () => this.open(null) });
    this.#head = new ConversationHead({
      showList: () => this.#toggleList(),
      setMode: (mode) => this.#ask("chat/setMode", (chat) => ({ chat, mode })),
      find: () => this.find(),
      save: () => void this.#save(),
      end: () => this.#ask("chat/close", (chat) => ({ chat, forget: false })),
      forget: () => this.#ask("chat/close", (chat) => ({ chat, forget: true })),
    });
    this.#find = new FindBar({
      load: () => this.#loadAll(),
      find: (words) => {
        const { first = 0, items = [] } = this.#conversation ?? {};
        return find(items, words).map((place) => first + place);
      },
      reveal: (index) => {
        const view = this.#transcript?.reveal(index);
        view?.unfold();
        return view?.root;
      },
      scope: () => this.#transcript?.root,
      closed: () => this.focus(),
    });
    this.#start = new StartForm(() => this.#paint());
    const composing = {
      send: (draft: Draft) => void this.#send(draft),
      stop: () => this.stop(),
      candidates: (words: string, early?: (found: readonly Candidate[]) => void) => this.#candidates(words, early),
      whyNoPicture: () => {
        const summary = this.#conversation?.summary;
        return summary?.pictures === false ? `${visible(summary.agentName)} takes no pictures.` : "";
      },
      announce: host.announce,
      error: host.error,
    };
    this.#composer = new Composer(composing, this.#head.mode);
    const conversation = element(
      "section",
      { class: "conversation", "aria-label": "Conversation" },
      this.#head.root,
      this.#find.root,
      this.#body,
      this.#doing,
      this.#composer.root,
    );
    this.root = element("div", { class: "chat" }, this.#list.root, conversation);
    parent.replaceChildren(this.root);
    this.#restore(this.#drafts.open);
    addEventListener("pagehide", () => this.#keepDraft());
  }

  get #current(): string | null {
    return this.#drafts.open;
  }

  get #conversation(): Conversation | undefined {
    return this.#current === null ? undefined : this.#model.open.get(this.#current);
  }

  /** The hub is connected, possibly again: everything is requested. */
  async connected(): Promise<void> {
    this.#followed.clear();
    try {
      const [{ agents }, { chats }] = await Promise.all([this.#host.request("chat/agents", {}), this.#host.request("chat/list", {})]);
      this.#agents = agents;
      this.#model = listed(this.#model, chats);
      this.#resolveListed();
      if (this.#current !== null && !chats.some(({ chat }) => chat === this.#current)) {
        this.#show(null);
      }
      await this.#follow();
    } catch (error) {
      this.#host.error(`Could not load the conversations: ${reason(error)}`);
    }
    this.#paint();
  }

  /** The connection was lost, or folders changed. */
  changed(): void {
    this.#paint();
  }

  update(update: ChatUpdate): void {
    const { model, touched } = applied(this.#model, update);
    this.#model = model;
    if (update.chat === this.#current) {
      if (touched.kind === "forgotten") {
        this.#show(null);
      } else if (touched.kind === "stale") {
        void this.#reopen();
      } else if (this.#conversation !== undefined) {
        this.#transcript?.update(this.#conversation, touched);
      }
    }
    if (touched.kind !== "text" && touched.kind !== "nothing") {
      this.#paintSoon();
    }
  }

  open(chat: string | null): void {
    this.root.classList.remove("shows-list");
    if (chat !== this.#current) {
      this.#show(chat);
    }
    void this.#follow();
    this.#composer.focus();
  }

  /** Opens the next or previous conversation of the list. */
  move(by: 1 | -1): void {
    const { chats } = this.#model;
    const place = chats.findIndex(({ chat }) => chat === this.#current);
    const next = chats[place + by];
    if (next !== undefined) {
      this.open(next.chat);
    }
  }

  /** Focuses the next or previous review or question that waits for the user. */
  moveToPending(by: 1 | -1): void {
    const pending = this.#transcript?.all(".review-card[data-state=pending] > .card-head, .ask") ?? [];
    const place = pending.findIndex((each) => each.contains(document.activeElement) || each.parentElement?.contains(document.activeElement));
    const next = place === -1 ? pending[by === 1 ? 0 : pending.length - 1] : pending[place + by];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  find(): void {
    if (this.#conversation !== undefined) {
      this.#find.open();
    }
  }

  stop(): void {
    if (this.#conversation?.summary.state.kind === "working") {
      this.#ask("chat/cancel", (chat) => ({ chat }));
    }
  }

  focus(): void {
    this.#composer.focus();
  }

  compose({ text, attachments, send }: Composed): void {
    const { draft } = this.#composer;
    const isEmpty = draft.text.trim() === "";
    this.#composer.draft = { ...draft, text: isEmpty ? text : draft.text };
    attachments.forEach((attachment) => this.#composer.attach(attachment));
    if (send && isEmpty && this.#conversation !== undefined && this.#host.isConnected()) {
      const full = this.#composer.draft;
      this.#composer.draft = NO_DRAFT;
      void this.#send(full);
    } else {
      this.#composer.focus();
    }
  }

  #show(chat: string | null): void {
    this.#keepDraft();
    this.#restore(chat);
  }

  #restore(chat: string | null): void {
    this.#drafts.open = chat;
    this.#drafts.save();
    this.#find.close();
    this.#transcript?.close();
    this.#transcript = null;
    this.#wasWorking = false;
    if (chat === null) {
      this.#body.replaceChildren(this.#start.root);
    } else {
      this.#mount();
    }
    this.#composer.draft = this.#drafts.of(chat);
    this.#host.conversationShown(null);
    this.#paint();
  }

  #mount(): void {
    const conversation = this.#conversation;
    if (conversation === undefined) {
      this.#body.replaceChildren(element("p", { class: "empty loading" }, "Loading…"));
      return;
    }
    this.#transcript = new Transcript(conversation, {
      host: this.#host,
      agentName: conversation.summary.agentName,
      chat: conversation.summary.chat,
      older: () => void this.#older(SCROLL_PAGE),
      again: ({ text, attachments, pictures }) => {
        this.#composer.draft = { text, attachments: attachments ?? [], pictures: pictures ?? [] };
        this.#composer.focus();
      },
    });
    this.#body.replaceChildren(this.#transcript.root);
    this.#transcript.showEnd();
    this.#host.conversationShown(this.#transcript.scroller);
  }

  #keepDraft(): void {
    this.#drafts.set(this.#current, this.#composer.draft);
  }

  /** Requests the open conversation, unless its updates arrive already. */
  async #follow(): Promise<void> {
    const chat = this.#current;
    if (chat === null || this.#followed.has(chat) || !this.#host.isConnected()) {
      return;
    }
    this.#followed.add(chat);
    this.#opening = this.#reopen();
    await this.#opening;
  }

  async #reopen(): Promise<void> {
    const chat = this.#current;
    if (chat === null) {
      return;
    }
    try {
      // What was loaded before is requested again, so that nothing on the screen goes.
      const known = this.#conversation?.items.length ?? 0;
      const limit = Math.min(WHOLE_PAGE, Math.max(FIRST_PAGE, known));
      const result = await this.#host.request("chat/open", { chat, limit });
      this.#model = opened(this.#model, result);
    } catch (error) {
      this.#followed.delete(chat);
      if (this.#current === chat && this.#conversation === undefined) {
        this.#body.replaceChildren(element("p", { class: "empty" }, `This conversation could not be loaded: ${reason(error)}`));
      }
      return;
    }
    const conversation = this.#conversation;
    if (this.#current === chat && conversation !== undefined) {
      if (this.#transcript === null) {
        this.#mount();
      } else {
        this.#transcript.replace(conversation);
      }
    }
    this.#paint();
  }

  /** Requests some items before the first one that is known. Returns whether there are more. */
  async #older(limit: number): Promise<boolean> {
    const before = this.#conversation?.first ?? 0;
    const chat = this.#current;
    if (chat === null || before === 0) {
      return false;
    }
    this.#loadingOlder ??= this.#host
      .request("chat/items", { chat, before, limit })
      .then((result) => {
        this.#model = older(this.#model, chat, result);
        if (this.#current === chat && this.#conversation !== undefined) {
          this.#transcript?.grewUpwards(this.#conversation);
        }
      })
      .finally(() => {
        this.#loadingOlder = null;
      });
    try {
      await this.#loadingOlder;
    } catch (error) {
      this.#host.error(`Older messages could not be loaded: ${reason(error)}`);
      return false;
    }
    return (this.#conversation?.first ?? 0) > 0 && this.#current === chat;
  }

  /** Requests everything of the open conversation, or everything from this item on. */
  async #loadAll(from = 0): Promise<void> {
    while ((this.#conversation?.first ?? 0) > from && (await this.#older(WHOLE_PAGE))) {
      // One page after the other.
    }
  }

  /** Opens a conversation at one of its items, such as a tool call. */
  async openAt(chat: string, item: number): Promise<void> {
    await this.#listed;
    if (!this.#model.chats.some((summary) => summary.chat === chat)) {
      this.#host.error("This conversation was deleted.");
      return;
    }
    this.open(chat);
    await this.#opening;
    await this.#loadAll(item);
    const root = this.#current === chat ? this.#transcript?.reveal(item)?.root : undefined;
    root?.focus({ preventScroll: true });
    root?.classList.add("found");
    setTimeout(() => root?.classList.remove("found"), SHOWN_MS);
  }

  async #send(draft: Draft): Promise<void> {
    const attachments = [...draft.attachments];
    const pictures = [...draft.pictures];
    let chat = this.#current;
    try {
      if (chat === null) {
        const { choice } = this.#start;
        if (choice === null) {
          throw new Error("choose an agent and a folder first");
        }
        this.#starting = true;
        this.#paint();
        ({ chat } = await this.#host.request("chat/start", choice));
        this.#starting = false;
        this.open(chat);
      }
      this.#drafts.set(chat, NO_DRAFT);
      this.#transcript?.showEnd();
      await this.#host.request("chat/prompt", { chat, text: draft.text, attachments, pictures });
    } catch (error) {
      this.#starting = false;
      this.#host.error(`Your message was not sent: ${reason(error)}`);
      if (this.#current === chat && this.#composer.draft.text === "") {
        this.#composer.draft = draft;
      } else {
        this.#drafts.set(chat, draft);
      }
    }
    this.#paint();
  }

  /** Language servers may be slow: `early` gets what is known without them. */
  async #candidates(words: string, early?: (found: readonly Candidate[]) => void): Promise<readonly Candidate[]> {
    const known = pathsOf(this.#conversation?.items ?? []);
    const folder = this.#conversation?.summary.folder ?? this.#start.choice?.folder;
    const none: Found = { paths: [] };
    const asksEditor = folder !== undefined && words.length >= 2;
    const asked = asksEditor ? this.#host.symbols(words, folder).catch(() => []) : [];
    const files = folder === undefined ? none : await this.#host.request("chat/files", { folder, words }).catch(() => none);
    const found: Found = { paths: [...known, ...files.paths], selection: files.selection };
    if (asksEditor) {
      early?.(candidates(found, words));
    }
    return candidates({ ...found, symbols: await asked }, words);
  }

  /** A request about the open conversation; its result arrives as an update. */
  #ask<M extends "chat/setMode" | "chat/cancel" | "chat/close">(method: M, params: (chat: string) => Parameters<ChatHost["request"]>[1]): void {
    const chat = this.#current;
    if (chat !== null) {
      const request = this.#host.request as (method: M, params: unknown) => Promise<unknown>;
      request(method, params(chat)).catch((error: unknown) => {
        this.#host.error(reason(error));
        this.#paint();
      });
    }
  }

  async #save(): Promise<void> {
    await this.#loadAll();
    const conversation = this.#conversation;
    if (conversation !== undefined) {
      const { summary, items } = conversation;
      this.#host.save(exportName(summary), toMarkdown(summary, items));
    }
  }

  #toggleList(): void {
    const shows = this.root.classList.toggle("shows-list");
    if (shows) {
      this.#list.focusCurrent();
    }
  }

  #paint(): void {
    const conversation = this.#conversation;
    const summary = conversation?.summary ?? this.#model.chats.find(({ chat }) => chat === this.#current) ?? null;
    this.#list.paint(this.#model.chats, this.#current);
    this.#head.paint(summary);
    this.#start.paint(this.#agents, this.#host.folders());
    const kind = summary?.state.kind;
    this.root.dataset["state"] = kind ?? "new";
    const isWorking = kind === "working";
    if (this.#wasWorking && kind === "idle" && summary !== null) {
      const last = conversation?.items.at(-1);
      const words = last?.kind === "agent" ? `: ${last.text.slice(0, 200)}` : ".";
      this.#host.announce(visible(`${summary.agentName} finished${words}`));
    }
    this.#wasWorking = isWorking;
    setText(this.#doing, this.#doingText());
    this.#doing.classList.toggle("works", isWorking || kind === "starting" || this.#starting);
    this.#composer.setState(this.#composerState(isWorking));
  }

  #doingText(): string {
    const summary = this.#conversation?.summary;
    if (this.#starting) {
      return "Starting the agent. If it asks for your permission, the question is among the permission requests.";
    }
    switch (summary?.state.kind) {
      case "starting":
        return `${visible(summary.agentName)} is starting…`;
      case "working": {
        const waits = summary.queued === 0 ? "" : summary.queued === 1 ? " 1 message waits." : ` ${summary.queued} messages wait.`;
        return `${visible(summary.agentName)} is working…${waits}`;
      }
      case "stopped":
        return visible(summary.state.why ?? `${summary.agentName} is not running. Your next message starts it again.`);
      default:
        return "";
    }
  }

  #composerState(isWorking: boolean): ComposerState {
    const isNew = this.#current === null;
    const label = isNew ? "Start" : isWorking ? "Queue" : "Send";
    let why = "";
    if (!this.#host.isConnected()) {
      why = "The hub is not connected.";
    } else if (this.#starting) {
      why = "Starting…";
    } else if (isNew && this.#start.choice === null) {
      why = "Choose an agent and a folder.";
    }
    return { label, canStop: isWorking, why };
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? visible(error.message) : "no response";
}
