// The line above a conversation: what it is about, who works where, what it cost, and what can be done with it.

import type { ChatSummary, ChatUsage } from "../../../protocol";
import { button, element, icon, setText } from "../shell/dom";
import { split } from "../shell/labels";
import { visible } from "../shell/visible";
import { confirmedButton } from "./confirmed_button";

export interface HeadMeans {
  showList(): void;
  setMode(mode: string): void;
  find(): void;
  save(): void;
  /** Ends the agent. */
  end(): void;
  forget(): void;
}

export class ConversationHead {
  readonly root: HTMLElement;
  readonly #title = element("h2", { tabindex: "-1" });
  readonly #where = element("p", { class: "meta" });
  /** The working mode. It is shown beside the button that sends. */
  readonly mode = element("select", { "data-field": "mode", "aria-label": "Working mode", hidden: true });
  readonly #end: HTMLButtonElement;
  readonly #forget: HTMLButtonElement;
  #modes = "";

  constructor(means: HeadMeans) {
    const tool = (action: string, drawing: string, label: string, press: () => void): HTMLButtonElement =>
      button(action, [icon(drawing), element("span", { class: "unseen" }, label)], press, { class: "quiet", title: label });
    this.#end = tool("end-agent", "power", "End the agent; the next message starts it again", means.end);
    this.#forget = confirmedButton("forget", "trash", "Delete this conversation", "Delete?", means.forget, true);
    this.mode.addEventListener("change", () => means.setMode(this.mode.value));
    this.root = element(
      "header",
      { class: "conversation-head" },
      tool("show-chats", "list", "Conversations", means.showList),
      element("div", { class: "head-words" }, this.#title, this.#where),
      element("div", { class: "tools", role: "toolbar", "aria-label": "Conversation" }, tool("find", "find", "Find (/)", means.find), tool("export", "save", "Export as Markdown", means.save), this.#end, this.#forget),
    );
  }

  /** `null`: a new conversation. */
  paint(summary: ChatSummary | null): void {
    this.root.classList.toggle("is-new", summary === null);
    if (summary === null) {
      setText(this.#title, "New conversation");
      setText(this.#where, "");
      this.mode.hidden = true;
      return;
    }
    setText(this.#title, visible(summary.title.trim()) || "New conversation");
    const folder = split(summary.folder.replace(/\/$/, "")).name;
    const parts = [visible(summary.agentName), visible(folder), usageText(summary.usage)].filter((part) => part !== "");
    setText(this.#where, parts.join(" · "));
    this.#where.title = visible(summary.folder);
    this.#paintModes(summary);
    const { kind } = summary.state;
    this.#end.hidden = kind === "stopped";
  }

  #paintModes({ modes = [], mode }: ChatSummary): void {
    this.mode.hidden = modes.length < 2;
    const now = JSON.stringify(modes);
    if (now !== this.#modes) {
      this.#modes = now;
      this.mode.replaceChildren(...modes.map(({ id, name }) => element("option", { value: id }, visible(name))));
    }
    if (mode !== undefined && this.mode.value !== mode && document.activeElement !== this.mode) {
      this.mode.value = mode;
    }
  }
}

export function usageText(usage: ChatUsage | undefined): string {
  if (usage === undefined) return "";
  const { used, size, cost } = usage;
  const tokens = used === undefined ? "" : size === undefined ? `${short(used)} tokens` : `${short(used)} of ${short(size)} tokens`;
  return [tokens, cost === undefined ? "" : visible(cost)].filter((part) => part !== "").join(", ");
}

function short(number: number): string {
  if (number < 1000) return String(number);
  if (number < 1_000_000) return `${(number / 1000).toFixed(number < 10_000 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}
