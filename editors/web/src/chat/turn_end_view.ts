// The end of a turn that proposed changes: how many, and a button that undoes all that were accepted. Says for each file
// what was undone and what was not.

import type { ChatItem } from "../../../protocol";
import { disable, element, icon, setText } from "../shell/dom";
import { count } from "../shell/labels";
import { visible } from "../shell/visible";
import { turnUndone } from "../history/turn_undone";
import { confirmedButton } from "./confirmed_button";
import type { ChatHost } from "./host";

export class TurnEndView {
  readonly root: HTMLElement;
  readonly #host: ChatHost;
  readonly #chat: string;
  readonly #words = element("span", { class: "turn-words" });
  readonly #undo: HTMLButtonElement;
  readonly #outcome = element("div", { class: "turn-outcome", role: "status" });
  #turn = 0;

  constructor(host: ChatHost, chat: string) {
    this.#host = host;
    this.#chat = chat;
    this.#undo = confirmedButton("undo-turn", "undo", "Undo all of this turn", "Undo all?", () => void this.#undoAll());
    this.root = element("div", { class: "turn-end", role: "group", "aria-label": "End of the turn" }, this.#words, this.#undo, this.#outcome);
  }

  paint(item: ChatItem): void {
    if (item.kind === "turnEnd") {
      this.#turn = item.turn;
      setText(this.#words, `${count(item.changes, "change")} proposed in this turn`);
    }
  }

  async #undoAll(): Promise<void> {
    disable(this.#undo, true);
    try {
      const result = await this.#host.undoTurn(`${this.#chat}/${this.#turn}`);
      this.#outcome.replaceChildren(...turnUndone(result));
    } catch (error) {
      const why = error instanceof Error ? visible(error.message) : "no response";
      this.#outcome.replaceChildren(element("p", { class: "bad" }, icon("warning"), ` Nothing is known to be undone: ${why}`));
    }
    disable(this.#undo, false);
  }
}
