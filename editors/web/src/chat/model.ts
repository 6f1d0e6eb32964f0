// The conversations and the items of those that are open: what the hub listed, and each update after that. Pure; every
// state is a new value, and what did not change is shared with the one before.

import type { ChatItem, ChatItemsResult, ChatOpenResult, ChatSummary, ChatUpdate } from "../../../protocol";

export interface Conversation {
  readonly summary: ChatSummary;
  /** The place of the first of these items: older ones are requested when they are needed. */
  readonly first: number;
  readonly items: readonly ChatItem[];
  /** An update did not fit, so the items have to be requested again. */
  readonly isStale: boolean;
}

export interface ChatModel {
  /** The one in which something was said last comes first. */
  readonly chats: readonly ChatSummary[];
  /** Those whose items are known, by id. */
  readonly open: ReadonlyMap<string, Conversation>;
}

/** What an update changed. */
export type Touched =
  | { kind: "nothing" }
  | { kind: "summary" }
  /** Only the end of the item's text is new. */
  | { kind: "text"; index: number }
  | { kind: "item"; index: number; isNew: boolean }
  | { kind: "stale" }
  | { kind: "forgotten" };

export const EMPTY: ChatModel = { chats: [], open: new Map() };

/** The hub's current list. Conversations that are not in it were forgotten. */
export function listed(model: ChatModel, chats: readonly ChatSummary[]): ChatModel {
  const there = new Map(chats.map((summary) => [summary.chat, summary]));
  const open = new Map<string, Conversation>();
  for (const [id, conversation] of model.open) {
    const summary = there.get(id);
    if (summary !== undefined) {
      open.set(id, { ...conversation, summary });
    }
  }
  return { chats: newestFirst(chats), open };
}

/** The newest items of a conversation, from which on updates arrive. */
export function opened(model: ChatModel, { summary, first, items }: ChatOpenResult): ChatModel {
  return withSummary(withOpen(model, summary.chat, { summary, first, items, isStale: false }), summary);
}

/** Items before those that are known. What does not fit to them is not taken. */
export function older(model: ChatModel, chat: string, { first, items }: ChatItemsResult): ChatModel {
  const conversation = model.open.get(chat);
  if (conversation === undefined || first + items.length !== conversation.first) {
    return model;
  }
  return withOpen(model, chat, { ...conversation, first, items: [...items, ...conversation.items] });
}

/** One more than the place of the last item. */
export function endOf({ first, items }: Conversation): number {
  return first + items.length;
}

export function itemAt({ first, items }: Conversation, index: number): ChatItem | undefined {
  return items[index - first];
}

export function closed(model: ChatModel, chat: string): ChatModel {
  return withOpen(model, chat, undefined);
}

export function applied(model: ChatModel, { chat, change }: ChatUpdate): { model: ChatModel; touched: Touched } {
  const conversation = model.open.get(chat);
  switch (change.kind) {
    case "summary":
      return { model: withSummary(model, change.summary), touched: { kind: "summary" } };
    case "forgotten": {
      const chats = model.chats.filter((summary) => summary.chat !== chat);
      return { model: closed({ ...model, chats }, chat), touched: { kind: "forgotten" } };
    }
    case "item": {
      if (conversation === undefined || conversation.isStale) {
        return { model, touched: { kind: "nothing" } };
      }
      const { first, items } = conversation;
      const { index, item } = change;
      if (!Number.isInteger(index) || index < 0 || index > first + items.length) {
        return stale(model, chat, conversation);
      }
      if (index < first) {
        return { model, touched: { kind: "nothing" } };
      }
      const isNew = index === first + items.length;
      const now = isNew ? [...items, item] : replaced(items, index - first, item);
      return { model: withOpen(model, chat, { ...conversation, items: now }), touched: { kind: "item", index, isNew } };
    }
    case "text": {
      if (conversation === undefined || conversation.isStale) {
        return { model, touched: { kind: "nothing" } };
      }
      const place = change.index - conversation.first;
      if (Number.isInteger(place) && change.index >= 0 && place < 0) {
        return { model, touched: { kind: "nothing" } };
      }
      const item = conversation.items[place];
      if (item === undefined || (item.kind !== "agent" && item.kind !== "thought")) {
        return stale(model, chat, conversation);
      }
      const items = replaced(conversation.items, place, { ...item, text: item.text + change.text });
      const touched: Touched = { kind: "text", index: change.index };
      return { model: withOpen(model, chat, { ...conversation, items }), touched };
    }
    default:
      // From a newer hub.
      return { model, touched: { kind: "nothing" } };
  }
}

function replaced(items: readonly ChatItem[], index: number, item: ChatItem): ChatItem[] {
  const next = [...items];
  next[index] = item;
  return next;
}

function stale(model: ChatModel, chat: string, conversation: Conversation): { model: ChatModel; touched: Touched } {
  return { model: withOpen(model, chat, { ...conversation, isStale: true }), touched: { kind: "stale" } };
}

function withOpen(model: ChatModel, chat: string, conversation: Conversation | undefined): ChatModel {
  const open = new Map(model.open);
  if (conversation === undefined) {
    open.delete(chat);
  } else {
    open.set(chat, conversation);
  }
  return { ...model, open };
}

function withSummary(model: ChatModel, summary: ChatSummary): ChatModel {
  const { chat } = summary;
  const conversation = model.open.get(chat);
  const chats = newestFirst([...model.chats.filter((other) => other.chat !== chat), summary]);
  const next = { ...model, chats };
  return conversation === undefined ? next : withOpen(next, chat, { ...conversation, summary });
}

function newestFirst(chats: readonly ChatSummary[]): ChatSummary[] {
  return [...chats].sort((one, other) => other.changedMs - one.changedMs);
}

/** Ids of everything in a conversation that waits for the user's decision, in order. */
export function reviewsOf(items: readonly ChatItem[]): string[] {
  return items.flatMap((item) => (item.kind === "tool" ? (item.reviews ?? []) : []));
}

/** Absolute paths that were named in a conversation, the latest first, each once. */
export function pathsOf(items: readonly ChatItem[]): string[] {
  const found = new Set<string>();
  for (const item of [...items].reverse()) {
    const paths = item.kind === "tool" ? item.paths : item.kind === "user" ? item.attachments?.map(({ path }) => path) : [];
    for (const path of paths ?? []) {
      found.add(path);
    }
  }
  return [...found];
}
