// How it stands with the hub, in words: a page-wide message for who has no access, one that stays at the edge for who had.

import type { ConnectionState } from "./connection";
import { button, element, part, say } from "./dom";
import { visible } from "./visible";
import { capital } from "./wording";

/** A hub that restarts is back by then; afterwards more has to be said. */
const LONG_MS = 8_000;

const WORDS: Readonly<Record<ConnectionState, string>> = {
  connecting: "Connecting…",
  connected: "",
  lost: "Reconnecting…",
  ended: "Access ended",
  noaccess: "No access",
};

export class Banner {
  readonly #word = part("connection", HTMLElement);
  readonly #strip = element("div", { class: "strip", role: "alert", hidden: true });
  readonly #update = element("div", { class: "strip", role: "alert", "data-update": true, hidden: true });
  #wasThere = false;
  #long: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    part("toasts", HTMLElement).append(this.#strip, this.#update);
  }

  show(state: ConnectionState, why: string | undefined): void {
    clearTimeout(this.#long);
    document.body.dataset["connection"] = state;
    this.#wasThere ||= state === "connected";
    const gate = part("gate", HTMLElement);
    gate.hidden = state !== "noaccess" || this.#wasThere;
    document.body.classList.toggle("gated", !gate.hidden);
    say(part("gate-title", HTMLElement), "This browser has no access");
    say(part("gate-why", HTMLElement), why === undefined ? "" : capital(visible(why.trim())));
    say(this.#word, WORDS[state]);
    if (state === "lost" && why !== undefined) {
      this.#say(`The hub cannot be talked to: ${visible(why.trim())}. Trying again…`);
    } else if (state === "lost") {
      this.#say("The connection to the hub is lost. Trying again…", " Nothing you did here is lost.");
      this.#long = setTimeout(() => {
        this.#say("The hub still does not answer. If it was stopped, run ", command(), " and open the link it prints.");
      }, LONG_MS);
    } else if (state === "ended" || (state === "noaccess" && this.#wasThere)) {
      const said = why === undefined ? "Access for this browser has ended." : `${capital(visible(why.trim()))}.`;
      const how = " and paste the link it prints into this tab's address bar: nothing you did here is lost.";
      this.#say(`${said} Run `, command(), how);
    } else {
      this.#strip.hidden = true;
      this.#strip.replaceChildren();
    }
  }

  /** Stays until she does it: it may be said while nobody looks. */
  offerReload(): void {
    if (this.#update.hidden) {
      const words = "Linkspan was updated. Reload this page when it suits you.";
      const reload = button("reload", ["Reload"], () => location.reload(), { class: "small" });
      this.#update.hidden = false;
      this.#update.replaceChildren(element("p", {}, words), reload);
    }
  }

  #say(...words: Array<Node | string>): void {
    const said = element("p", {}, ...words);
    // Said again, it would be heard again.
    if (this.#strip.hidden || this.#strip.textContent !== said.textContent) {
      this.#strip.hidden = false;
      this.#strip.replaceChildren(said);
    }
  }
}

function command(): HTMLElement {
  return element("code", {}, "linkspan page");
}
