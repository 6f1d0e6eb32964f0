// The bar with the decision buttons, and with the outcome afterwards.

import { button, disable, element, icon, setText } from "../shell/dom";
import type { Entry } from "../list/reviews";

export interface DecisionActions {
  accept(): void;
  /** Accepts without having seen it here. */
  acceptAnyway(): void;
  reject(): void;
  next(): void;
}

/** What the bar offers. */
export type DecisionOptions =
  | { kind: "loading" }
  /**
   * `why`: the reason why accepting is not possible now. `writes`: the reason why accepting makes Linkspan write.
   * `comments`: how many will be sent. `unheard`: what the agent will not receive.
   */
  | { kind: "decide"; label: string; why?: string; writes?: string; comments: number; unheard?: string }
  | { kind: "outcome"; text: string; tone: "good" | "bad" | "plain"; next: boolean };

export class DecisionBar {
  readonly root: HTMLElement;
  readonly reason = element("textarea", {
    "data-field": "reason",
    rows: "1",
    placeholder: "Reason for the agent, if you reject",
    "aria-label": "Reason for rejecting, optional",
    "aria-describedby": "unheard",
    maxlength: "20000",
  });
  readonly #accept: HTMLButtonElement;
  readonly #acceptLabel = element("span");
  readonly #reject: HTMLButtonElement;
  readonly #hint = element("span", { class: "bar-hint" });
  readonly #unheard = element("p", { id: "unheard", class: "bar-note", "data-unheard": true, hidden: true });
  readonly #decide: HTMLElement;
  readonly #sure: HTMLElement;
  readonly #over: HTMLElement;
  readonly #outcome = element("p", { "data-outcome": true, tabindex: "-1" });
  readonly #next: HTMLButtonElement;
  #offered: DecisionOptions["kind"] = "loading";

  constructor(entry: Entry, actions: DecisionActions) {
    this.#accept = button("accept", [icon("check"), this.#acceptLabel], actions.accept, {
      class: "accept",
      "aria-keyshortcuts": "a",
    });
    this.#reject = button("reject", [icon("close"), element("span", {}, "Reject")], actions.reject, {
      class: "reject",
      "aria-keyshortcuts": "r",
      title: "Reject (r, then Ctrl+Enter)",
    });
    this.reason.value = entry.reason;
    this.reason.addEventListener("input", () => {
      entry.reason = this.reason.value;
      this.#fit();
    });
    this.reason.addEventListener("blur", () => {
      if (this.#offered === "outcome") {
        this.#decide.hidden = true;
      }
    });
    this.reason.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
        event.preventDefault();
        actions.reject();
      }
    });
    this.#decide = element("div", { class: "bar-decide" }, this.reason, this.#reject, this.#hint, this.#accept);
    const anyway = button("accept-anyway", ["Accept it unseen"], actions.acceptAnyway, { class: "accept" });
    const cancel = button("cancel-accept", ["Cancel"], () => this.askWhetherSure(false));
    this.#sure = element(
      "div",
      { class: "bar-decide", hidden: true, role: "group", "aria-label": "Accept unseen?" },
      element("p", { class: "bar-question" }, "Accept the whole change without seeing it here?"),
      cancel,
      anyway,
    );
    this.#next = button("next-review", [element("span", {}, "Next review"), icon("next")], actions.next, { class: "primary" });
    this.#over = element("div", { class: "bar-over", hidden: true }, this.#outcome, this.#next);
    this.root = element("footer", { class: "bar" }, this.#unheard, this.#decide, this.#sure, this.#over);
    this.offer({ kind: "loading" }, false);
  }

  /** `byUser`: the user caused this here, so the focus may follow the press. */
  offer(offer: DecisionOptions, byUser: boolean): void {
    const focused = this.root.contains(document.activeElement);
    const typing = document.activeElement === this.reason;
    const deciding = offer.kind !== "outcome";
    this.#offered = offer.kind;
    if (!deciding && typing && !byUser) {
      // Keys typed here must not become shortcuts: the field stays until the focus leaves it.
      this.reason.readOnly = true;
    } else {
      this.reason.readOnly = false;
      this.#decide.hidden = !deciding || !this.#sure.hidden;
    }
    if (!deciding) {
      this.#sure.hidden = true;
    }
    this.#over.hidden = deciding;
    const unheard = offer.kind === "decide" ? (offer.unheard ?? "") : "";
    this.#unheard.hidden = unheard === "";
    setText(this.#unheard, unheard);
    if (offer.kind === "outcome") {
      disable(this.#accept, true);
      disable(this.#reject, true);
      setText(this.#outcome, offer.text);
      this.#over.dataset["tone"] = offer.tone;
      this.#next.hidden = !offer.next;
      if (focused && this.#decide.hidden && !this.#over.contains(document.activeElement)) {
        (offer.next ? this.#next : this.#outcome).focus({ preventScroll: true });
      }
      return;
    }
    const why = offer.kind === "decide" ? offer.why : "The change is still loading.";
    setText(this.#acceptLabel, offer.kind === "decide" ? offer.label : "Accept");
    disable(this.#accept, why !== undefined);
    disable(this.#reject, offer.kind === "loading");
    const writes = offer.kind === "decide" ? offer.writes : undefined;
    this.#accept.title = why ?? (writes === undefined ? "Accept (a)" : `${writes} (a)`);
    const comments = offer.kind === "decide" ? offer.comments : 0;
    const along = comments === 0 ? "" : comments === 1 ? "1 comment will be sent" : `${comments} comments will be sent`;
    const hint = why ?? [writes ?? "", along].filter(Boolean).join(" ");
    setText(this.#hint, offer.kind === "decide" ? hint : "");
  }

  askWhetherSure(ask: boolean): void {
    if (this.#sure.hidden !== ask) {
      return;
    }
    const focused = this.root.contains(document.activeElement);
    this.#sure.hidden = !ask;
    this.#decide.hidden = ask;
    if (focused) {
      (ask ? this.#sure.querySelector("button") : this.#accept)?.focus({ preventScroll: true });
    }
  }

  focusReason(): void {
    if (!this.#decide.hidden) {
      this.reason.focus();
    }
  }

  #fit(): void {
    this.reason.rows = Math.min(6, this.reason.value.split("\n").length);
  }
}
