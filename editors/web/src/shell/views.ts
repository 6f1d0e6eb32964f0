// Which of the three views is visible, and on a phone which of the two screens. Only the user changes either.

import { part } from "./dom";

export type View = "reviews" | "chat" | "history";

const PARTS: Readonly<Record<View, { shown: string; tab: string }>> = {
  reviews: { shown: "reviews-view", tab: "to-reviews" },
  chat: { shown: "chat", tab: "to-chat" },
  history: { shown: "history", tab: "to-history" },
};

export class Views {
  readonly #seen: (view: View) => void;
  /** The browser's Back button leads to the list. */
  #canGoBack = false;

  constructor(seen: (view: View) => void) {
    this.#seen = seen;
    addEventListener("popstate", () => {
      this.#canGoBack = false;
      this.showList();
    });
    part("to-reviews", HTMLButtonElement).addEventListener("click", () => {
      this.show("reviews");
      this.showList();
    });
    part("to-chat", HTMLButtonElement).addEventListener("click", () => this.show("chat"));
    part("to-history", HTMLButtonElement).addEventListener("click", () => this.show("history"));
  }

  show(view: View): void {
    document.body.dataset["view"] = view;
    for (const [name, { shown, tab }] of Object.entries(PARTS)) {
      part(shown, HTMLElement).hidden = name !== view;
      part(tab, HTMLButtonElement).setAttribute("aria-pressed", String(name === view));
    }
    this.#seen(view);
  }

  /** Shows it, or the reviews if it is shown. */
  toggle(view: View): void {
    this.show(document.body.dataset["view"] === view ? "reviews" : view);
  }

  get showsChat(): boolean {
    return document.body.dataset["view"] === "chat";
  }

  showList(): void {
    document.body.dataset["screen"] = "list";
  }

  showReview(): void {
    if (this.isPhone() && document.body.dataset["screen"] === "list" && !this.#canGoBack) {
      history.pushState(null, "");
      this.#canGoBack = true;
    }
    document.body.dataset["screen"] = "review";
  }

  /** From the review to the list, on a phone. */
  goBack(): void {
    this.showList();
    if (this.#canGoBack) {
      history.back();
    }
  }

  /** Whether an open review would be visible. */
  showsReview(): boolean {
    const { view, screen } = document.body.dataset;
    return view === "reviews" && (screen === "review" || !this.isPhone());
  }

  /** On a phone, list and review are two screens. */
  isPhone(): boolean {
    return matchMedia("(max-width: 700px)").matches;
  }
}
