// Short messages: shown for a while at the edge of the screen and announced to screen readers. They cover no decision
// buttons and never take the focus.

import { button, element, icon, part, setText } from "./dom";

const SEEN_MS = 5_000;
const ERROR_SEEN_MS = 20_000;
const MOST = 4;

export class Notices {
  readonly #status = part("status", HTMLElement);
  readonly #toasts = part("toasts", HTMLElement);
  #turn = false;

  /** Announces to screen readers only; repeats a text that was just announced. */
  readonly announce = (text: string): void => {
    this.#turn = !this.#turn;
    setText(this.#status, this.#turn ? text : `${text}\u00a0`);
  };

  readonly show = (text: string): void => {
    this.announce(text);
    this.#toast(text, {}, SEEN_MS);
  };

  readonly error = (text: string): void => {
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
