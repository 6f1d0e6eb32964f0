// Where a person decides, and where she reads what came of it.

import { button, disable, element, icon, say } from "./dom";
import type { Entry } from "./reviews";

export interface Deciders {
  accept(): void;
  /** Without having seen it here. */
  acceptAnyway(): void;
  reject(): void;
  next(): void;
}

/** What the bar offers. */
export type Offer =
  | { kind: "loading" }
  /** `why`: accepting is not possible now, because. `writes`: accepting makes Linkspan write the file, because. */
  | { kind: "decide"; label: string; why?: string; writes?: string; comments: number }
  | { kind: "outcome"; text: string; tone: "good" | "bad" | "plain"; next: boolean };

export class DecisionBar {
  readonly root: HTMLElement;
  readonly reason = element("textarea", {
    "data-field": "reason",
    rows: "1",
    placeholder: "Reason for the agent, if you reject",
    "aria-label": "Reason for rejecting, optional",
    maxlength: "20000",
  });
  readonly #accept: HTMLButtonElement;
  readonly #acceptLabel = element("span");
  readonly #reject: HTMLButtonElement;
  readonly #hint = element("span", { class: "bar-hint" });
  readonly #decide: HTMLElement;
  readonly #sure: HTMLElement;
  readonly #over: HTMLElement;
  readonly #outcome = element("p", { "data-outcome": true, tabindex: "-1" });
  readonly #next: HTMLButtonElement;
  #offered: Offer["kind"] = "loading";

  constructor(entry: Entry, deciders: Deciders) {
    this.#accept = button("accept", [icon("check"), this.#acceptLabel], deciders.accept, {
      class: "accept",
      "aria-keyshortcuts": "a",
    });
    this.#reject = button("reject", [icon("close"), element("span", {}, "Reject")], deciders.reject, {
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
        deciders.reject();
      }
    });
    this.#decide = element("div", { class: "bar-decide" }, this.reason, this.#reject, this.#hint, this.#accept);
    const anyway = button("accept-anyway", ["Accept it unseen"], deciders.acceptAnyway, { class: "accept" });
    const cancel = button("cancel-accept", ["Cancel"], () => this.askWhetherSure(false));
    this.#sure = element(
      "div",
      { class: "bar-decide", hidden: true, role: "group", "aria-label": "Accept without a look?" },
      element("p", { class: "bar-question" }, "Accept all of it, without having seen it here?"),
      cancel,
      anyway,
    );
    this.#next = button("next-review", [element("span", {}, "Next review"), icon("next")], deciders.next, { class: "primary" });
    this.#over = element("div", { class: "bar-over", hidden: true }, this.#outcome, this.#next);
    this.root = element("footer", { class: "bar" }, this.#decide, this.#sure, this.#over);
    this.offer({ kind: "loading" }, false);
  }

  /** `hers`: the person brought this about here, so the focus may go along with what she pressed. */
  offer(offer: Offer, hers: boolean): void {
    const focused = this.root.contains(document.activeElement);
    const typing = document.activeElement === this.reason;
    const deciding = offer.kind !== "outcome";
    this.#offered = offer.kind;
    if (!deciding && typing && !hers) {
      // What she types must not become keys for something else: it stays until she leaves it.
      this.reason.readOnly = true;
    } else {
      this.reason.readOnly = false;
      this.#decide.hidden = !deciding || !this.#sure.hidden;
    }
    if (!deciding) {
      this.#sure.hidden = true;
    }
    this.#over.hidden = deciding;
    if (offer.kind === "outcome") {
      disable(this.#accept, true);
      disable(this.#reject, true);
      say(this.#outcome, offer.text);
      this.#over.dataset["tone"] = offer.tone;
      this.#next.hidden = !offer.next;
      if (focused && this.#decide.hidden && !this.#over.contains(document.activeElement)) {
        (offer.next ? this.#next : this.#outcome).focus({ preventScroll: true });
      }
      return;
    }
    const why = offer.kind === "decide" ? offer.why : "It is still on its way.";
    say(this.#acceptLabel, offer.kind === "decide" ? offer.label : "Accept");
    disable(this.#accept, why !== undefined);
    disable(this.#reject, offer.kind === "loading");
    const writes = offer.kind === "decide" ? offer.writes : undefined;
    this.#accept.title = why ?? (writes === undefined ? "Accept (a)" : `${writes} (a)`);
    const comments = offer.kind === "decide" ? offer.comments : 0;
    const along = comments === 0 ? "" : comments === 1 ? "1 comment goes along" : `${comments} comments go along`;
    const hint = why ?? [writes ?? "", along].filter(Boolean).join(" ");
    say(this.#hint, offer.kind === "decide" ? hint : "");
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
