// Short words on what happened: seen for a while at the edge of the screen, and heard. They cover nothing that decides
// and never take the focus.

import { button, element, icon, part, say } from "./dom";

const SEEN_MS = 5_000;
const ERROR_SEEN_MS = 20_000;
const MOST = 4;

export class Notices {
  readonly #status = part("status", HTMLElement);
  readonly #toasts = part("toasts", HTMLElement);
  #turn = false;

  /** For who hears the page; says it again if it was just said. */
  readonly announce = (text: string): void => {
    this.#turn = !this.#turn;
    say(this.#status, this.#turn ? text : `${text}\u00a0`);
  };

  readonly tell = (text: string): void => {
    this.announce(text);
    this.#toast(text, {}, SEEN_MS);
  };

  readonly fail = (text: string): void => {
    this.#toast(text, { role: "alert", class: "error" }, ERROR_SEEN_MS);
  };

  #toast(text: string, attributes: Record<string, string>, seenMs: number): void {
    for (const old of this.#toasts.querySelectorAll("[data-toast]")) {
      if (old.querySelector("p")?.textContent === text) {
        old.remove();
      }
    }
    const toast = element("div", { "data-toast": true, ...attributes }, element("p", {}, text));
    const dismiss = button("dismiss", [icon("close")], () => toast.remove(), { class: "quiet", "aria-label": "Dismiss" });
    toast.append(dismiss);
    this.#toasts.append(toast);
    for (const old of [...this.#toasts.querySelectorAll("[data-toast]")].slice(0, -MOST)) {
      old.remove();
    }
    let timer = setTimeout(() => toast.remove(), seenMs);
    toast.addEventListener("pointerenter", () => clearTimeout(timer));
    toast.addEventListener("pointerleave", () => {
      timer = setTimeout(() => toast.remove(), seenMs);
    });
  }
}
