// The state of the connection: a page-wide message without access, a persistent strip when access was lost.

import type { ConnectionState } from "../connection/connection";
import { button, element, part, setText } from "./dom";
import { visible } from "./visible";
import { capital } from "./labels";

/** A restarting hub is back by then; afterwards the message says what to do. */
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
    setText(part("gate-title", HTMLElement), "This browser has no access");
    setText(part("gate-why", HTMLElement), why === undefined ? "" : capital(visible(why.trim())));
    setText(this.#word, WORDS[state]);
    if (state === "lost" && why !== undefined) {
      this.#showStrip(`Could not connect to the hub: ${visible(why.trim())}. Retrying…`);
    } else if (state === "lost") {
      this.#showStrip("The connection to the hub was lost. Retrying…", " Your work here is kept.");
      this.#long = setTimeout(() => {
        this.#showStrip("The hub does not respond. If it was stopped, run ", command(), " and open the link it prints.");
      }, LONG_MS);
    } else if (state === "ended" || (state === "noaccess" && this.#wasThere)) {
      const said = why === undefined ? "This browser no longer has access." : `${capital(visible(why.trim()))}.`;
      const how = " and paste the link it prints into this tab's address bar. Your work here is kept.";
      this.#showStrip(`${said} Run `, command(), how);
    } else {
      this.#strip.hidden = true;
      this.#strip.replaceChildren();
    }
  }

  /** Stays until the user reloads: it may appear while the page is in the background. */
  offerReload(): void {
    if (this.#update.hidden) {
      const words = "Linkspan was updated. Reload this page when it suits you.";
      const reload = button("reload", ["Reload"], () => location.reload(), { class: "small" });
      this.#update.hidden = false;
      this.#update.replaceChildren(element("p", {}, words), reload);
    }
  }

  #showStrip(...words: Array<Node | string>): void {
    const said = element("p", {}, ...words);
    // Setting the same text again would announce it again.
    if (this.#strip.hidden || this.#strip.textContent !== said.textContent) {
      this.#strip.hidden = false;
      this.#strip.replaceChildren(said);
    }
  }
}

function command(): HTMLElement {
  return element("code", {}, "linkspan page");
}
