// Permission requests of agents: above the reviews, each with the complete command. An answer here settles the request
// on every surface. The text is the hub's, and an answer counts only after the prompt was visible for a moment.

import type { AskOption, AskSummary, WindowEvent } from "../../../protocol";
import type { HubAccess } from "../connection/connection";
import { button, disable, element, part, setText } from "../shell/dom";
import type { Notices } from "../shell/notices";
import { MisclickGuard } from "../decision/misclick_guard";
import { visible } from "../shell/visible";
import { age, count } from "../shell/labels";

const AGES_EVERY_MS = 5_000;
const LABELS: Readonly<Record<AskOption, string>> = {
  allowOnce: "Allow once",
  allowSession: "Allow for this session",
  allowAlways: "Always allow",
  deny: "Deny",
};
const SAID: Readonly<Record<AskOption, string>> = {
  allowOnce: "allowed once",
  allowSession: "allowed for this session",
  allowAlways: "allowed from now on",
  deny: "denied",
};

interface Row {
  readonly item: HTMLElement;
  readonly buttons: readonly HTMLButtonElement[];
  readonly since: HTMLElement;
}

interface Shown {
  readonly asked: AskSummary;
  /** In the list, and once more in the conversation that it belongs to. */
  readonly rows: Row[];
  inChat: Row | undefined;
  readonly listedAt: number;
}

export class PermissionPrompts {
  readonly #connection: HubAccess;
  readonly #notices: Notices;
  readonly #changed: () => void;
  readonly #section = part("questions", HTMLElement);
  readonly #rows = part("asks", HTMLOListElement);
  readonly #title = part("asks-title", HTMLElement);
  readonly #guard = new MisclickGuard();
  readonly #shown = new Map<string, Shown>();
  readonly #home: Element | null;
  /** Prompts that a conversation on the screen shows are not shown twice. */
  #isBesideChat = false;

  /** `changed` is called when a prompt appears or goes. */
  constructor(connection: HubAccess, notices: Notices, changed: () => void) {
    this.#connection = connection;
    this.#notices = notices;
    this.#changed = changed;
    this.#home = this.#section.parentElement;
    setInterval(() => this.#paintAges(), AGES_EVERY_MS);
  }

  get waiting(): number {
    return this.#shown.size;
  }

  /** The hub's current list; prompts that are not in it are closed. */
  listed(asks: readonly AskSummary[]): void {
    const there = new Set(asks.map(({ ask }) => ask));
    for (const id of [...this.#shown.keys()]) {
      if (!there.has(id)) {
        this.#remove(id);
      }
    }
    for (const asked of asks) {
      this.came(asked);
    }
  }

  came(asked: AskSummary): void {
    if (this.#shown.has(asked.ask)) {
      return;
    }
    const row = this.#make(asked, "li", "ask");
    this.#shown.set(asked.ask, { asked, rows: [row], inChat: undefined, listedAt: performance.now() });
    this.#rows.append(row.item);
    this.#paint();
    this.#say(`Permission request: ${visible(asked.question)}`);
  }

  over({ ask, option, by }: Extract<WindowEvent, { kind: "askOver" }>): void {
    const shown = this.#shown.get(ask);
    if (shown === undefined) {
      return;
    }
    this.#remove(ask);
    const where = by === undefined ? "" : ` in ${visible(by)}`;
    const became = option === undefined ? "no longer pending" : `${SAID[option]}${where}`;
    this.#say(`Request from ${visible(shown.asked.agent)}: ${became}.`);
  }

  /** Focuses the oldest prompt. */
  focus(): void {
    const rows = [...this.#shown.values()].flatMap((shown) => shown.rows.map(({ item }) => item));
    rows.find((item) => item.isConnected && !item.hidden)?.focus();
  }

  /** Moves the prompts into another part of the page, beside the chat; `null` moves them back. */
  placeBeside(chat: Element | null): void {
    this.#isBesideChat = chat !== null;
    const place = chat ?? this.#home;
    if (place !== null && this.#section.parentElement !== place) {
      place.prepend(this.#section);
    }
    this.#paint();
  }

  /** Another conversation is on the screen. */
  conversationShown(): void {
    if (this.#isBesideChat && this.#shown.size > 0) {
      this.#paint();
    }
  }

  /** The prompt for its conversation: the same element for each call; `undefined` if it is no longer pending. */
  inChat(ask: string): HTMLElement | undefined {
    const shown = this.#shown.get(ask);
    if (shown !== undefined && shown.inChat === undefined) {
      shown.inChat = this.#make(shown.asked, "div", "chat-ask");
      shown.rows.push(shown.inChat);
      this.#guard.touch();
      this.#paintAges();
      // Once it is on the screen.
      queueMicrotask(() => this.conversationShown());
    }
    return shown?.inChat?.item;
  }

  #make(asked: AskSummary, tag: "li" | "div", name: string): Row {
    const since = element("span", { class: "age" });
    const buttons = asked.options.map((option) =>
      button(option, [LABELS[option]], () => void this.#answer(asked.ask, option), {
        class: option === "deny" ? "small reject" : "small",
      }),
    );
    const titleId = `${name}-${asked.ask}`;
    const from = [visible(asked.agent), visible(asked.dialect), ...asked.folders.map(visible)].join(", ");
    const item = element(
      tag,
      { class: "ask", "data-ask": asked.ask, tabindex: "-1", role: "group", "aria-labelledby": titleId },
      element("p", { class: "question", id: titleId }, visible(asked.question)),
      element("p", { class: "from" }, element("bdi", {}, from), " ", since),
      detailOf(asked),
      element("div", { class: "answers" }, ...buttons),
    );
    return { item, buttons, since };
  }

  async #answer(ask: string, option: AskOption): Promise<void> {
    const shown = this.#shown.get(ask);
    if (shown === undefined) {
      return;
    }
    if (!this.#guard.wasSeen()) {
      this.#notices.show("Ignored: the request had only just appeared. Read it, then press again.");
      return;
    }
    const buttons = shown.rows.flatMap((row) => row.buttons);
    buttons.forEach((each) => disable(each, true));
    try {
      const { taken } = await this.#connection.request("asks/answer", { ask, option });
      // Otherwise an event of the hub has already reported the outcome.
      if (!this.#shown.has(ask)) {
        return;
      }
      const agent = visible(shown.asked.agent);
      this.#remove(ask);
      this.#say(taken ? `Request from ${agent}: ${SAID[option]}.` : `The request from ${agent} was already closed.`);
    } catch (error) {
      // If the hub received the answer, the list requested after the reconnect no longer has this prompt.
      buttons.forEach((each) => disable(each, false));
      this.#notices.error(`The answer was not sent: ${error instanceof Error ? visible(error.message) : "no response"}`);
    }
  }

  /** Beside the chat prompts are on the screen, and a message could cover a button there. */
  #say(words: string): void {
    if (this.#isBesideChat) {
      this.#notices.announce(words);
    } else {
      this.#notices.show(words);
    }
  }

  #remove(ask: string): void {
    const shown = this.#shown.get(ask);
    if (shown === undefined) {
      return;
    }
    const hadFocus = shown.rows.some(({ item }) => item.contains(document.activeElement));
    this.#shown.delete(ask);
    shown.rows.forEach(({ item }) => item.remove());
    this.#paint();
    if (hadFocus) {
      this.focus();
    }
  }

  /** Prompts below move, so a press right afterwards may hit a different one: the guard starts again. */
  #paint(): void {
    this.#guard.touch();
    let listed = 0;
    for (const { rows, inChat } of this.#shown.values()) {
      const isInChat = this.#isBesideChat && inChat?.item.isConnected === true;
      listed += isInChat ? 0 : 1;
      rows[0]?.item.toggleAttribute("hidden", isInChat);
    }
    this.#section.hidden = listed === 0;
    setText(this.#title, count(listed, "permission request"));
    this.#paintAges();
    this.#changed();
  }

  #paintAges(): void {
    for (const { asked, rows, listedAt } of this.#shown.values()) {
      rows.forEach(({ since }) => setText(since, age(asked.ageMs + performance.now() - listedAt)));
    }
  }
}

/** The complete text: scrolled, never cut. Tabs and line endings stay; the hub made everything else visible. */
function detailOf({ detail }: AskSummary): HTMLElement | undefined {
  if (detail === undefined) {
    return undefined;
  }
  const lines = detail.split("\n").map((line) => line.split("\t").map(visible).join("\t"));
  const code = element("code", {}, lines.join("\n"));
  return element("pre", { class: "detail", tabindex: "0", "aria-label": "Requested action" }, code);
}
