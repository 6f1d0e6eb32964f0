// What agents ask the person to allow: above the reviews, each with the whole command, answered once for all places.
// A question says what it is about as the hub wrote it, and an answer counts only when it has been seen for a moment.

import type { AskOption, AskSummary, WindowEvent } from "../../protocol";
import type { Connection } from "./connection";
import { button, disable, element, part, say } from "./dom";
import type { Notices } from "./notices";
import { Steady } from "./steady";
import { visible } from "./visible";
import { age, count } from "./wording";

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

interface Shown {
  readonly asked: AskSummary;
  readonly item: HTMLLIElement;
  readonly buttons: readonly HTMLButtonElement[];
  readonly since: HTMLElement;
  readonly listedAt: number;
}

export class Questions {
  readonly #connection: Connection;
  readonly #notices: Notices;
  readonly #changed: () => void;
  readonly #section = part("questions", HTMLElement);
  readonly #rows = part("asks", HTMLOListElement);
  readonly #title = part("asks-title", HTMLElement);
  readonly #steady = new Steady();
  readonly #shown = new Map<string, Shown>();

  /** `changed` is told when one comes or goes. */
  constructor(connection: Connection, notices: Notices, changed: () => void) {
    this.#connection = connection;
    this.#notices = notices;
    this.#changed = changed;
    setInterval(() => this.#paintAges(), AGES_EVERY_MS);
  }

  get waiting(): number {
    return this.#shown.size;
  }

  /** What the hub says there is; the others are over. */
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
    const shown = this.#make(asked);
    this.#shown.set(asked.ask, shown);
    this.#rows.append(shown.item);
    this.#paint();
    this.#notices.tell(`An agent asks: ${visible(asked.question)}`);
  }

  over({ ask, option, by }: Extract<WindowEvent, { kind: "askOver" }>): void {
    const shown = this.#shown.get(ask);
    if (shown === undefined) {
      return;
    }
    this.#remove(ask);
    const where = by === undefined ? "" : ` in ${visible(by)}`;
    const became = option === undefined ? "needs no answer any more" : `${SAID[option]}${where}`;
    this.#notices.tell(`The question of ${visible(shown.asked.agent)}: ${became}.`);
  }

  /** Puts the keyboard on the oldest one. */
  focus(): void {
    const [first] = this.#shown.values();
    first?.item.focus();
  }

  #make(asked: AskSummary): Shown {
    const since = element("span", { class: "age" });
    const buttons = asked.options.map((option) =>
      button(option, [LABELS[option]], () => void this.#answer(asked.ask, option), {
        class: option === "deny" ? "small reject" : "small",
      }),
    );
    const titleId = `ask-${asked.ask}`;
    const from = [visible(asked.agent), visible(asked.dialect), ...asked.folders.map(visible)].join(", ");
    const item = element(
      "li",
      { class: "ask", "data-ask": asked.ask, tabindex: "-1", role: "group", "aria-labelledby": titleId },
      element("p", { class: "question", id: titleId }, visible(asked.question)),
      element("p", { class: "from" }, element("bdi", {}, from), " ", since),
      detailOf(asked),
      element("div", { class: "answers" }, ...buttons),
    );
    return { asked, item, buttons, since, listedAt: performance.now() };
  }

  async #answer(ask: string, option: AskOption): Promise<void> {
    const shown = this.#shown.get(ask);
    if (shown === undefined) {
      return;
    }
    if (!this.#steady.wasSeen()) {
      this.#notices.tell("That press was ignored: this has only just appeared. Look, then press it again.");
      return;
    }
    shown.buttons.forEach((each) => disable(each, true));
    try {
      const { taken } = await this.#connection.request("asks/answer", { ask, option });
      // Otherwise the hub has told already how it ended.
      if (!this.#shown.has(ask)) {
        return;
      }
      const agent = visible(shown.asked.agent);
      this.#remove(ask);
      this.#notices.tell(taken ? `The question of ${agent}: ${SAID[option]}.` : `The question of ${agent} was over already.`);
    } catch (error) {
      // If the hub heard it, the list that is asked for when it is back does not have the question any more.
      shown.buttons.forEach((each) => disable(each, false));
      this.#notices.fail(`The answer did not arrive: ${error instanceof Error ? visible(error.message) : "no answer"}`);
    }
  }

  #remove(ask: string): void {
    const shown = this.#shown.get(ask);
    if (shown === undefined) {
      return;
    }
    const hadFocus = shown.item.contains(document.activeElement);
    this.#shown.delete(ask);
    shown.item.remove();
    this.#paint();
    if (hadFocus) {
      this.focus();
    }
  }

  /** What is below it moves, so that what is pressed then may be another. */
  #paint(): void {
    this.#steady.touch();
    this.#section.hidden = this.#shown.size === 0;
    say(this.#title, `${count(this.#shown.size, "question")} for you`);
    this.#paintAges();
    this.#changed();
  }

  #paintAges(): void {
    for (const { asked, since, listedAt } of this.#shown.values()) {
      say(since, age(asked.ageMs + performance.now() - listedAt));
    }
  }
}

/** Whole: it is scrolled, never cut. Tabs and line ends are as they are; the hub made all else visible. */
function detailOf({ detail }: AskSummary): HTMLElement | undefined {
  if (detail === undefined) {
    return undefined;
  }
  const lines = detail.split("\n").map((line) => line.split("\t").map(visible).join("\t"));
  const code = element("code", {}, lines.join("\n"));
  return element("pre", { class: "detail", tabindex: "0", "aria-label": "What would be done" }, code);
}
