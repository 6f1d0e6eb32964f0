// The exports of `/chat.js`. The page imports only types of this folder, so that this bundle loads when the chat is opened
// for the first time.

import { ChatPanel } from "./chat_panel";
import type { ChatHost } from "./host";

export function openChat(parent: HTMLElement, host: ChatHost): ChatPanel {
  return new ChatPanel(parent, host);
}

export type { ChatPanel, Composed } from "./chat_panel";
export type OpenChat = typeof openChat;
