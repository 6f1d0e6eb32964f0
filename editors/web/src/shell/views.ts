// Which of the two views is visible, and on a phone which of the two screens. Only the user changes either.

import { part } from "./dom";

export type View = "reviews" | "history";

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
    part("to-history", HTMLButtonElement).addEventListener("click", () => this.show("history"));
  }

  show(view: View): void {
    document.body.dataset["view"] = view;
    part("reviews-view", HTMLElement).hidden = view !== "reviews";
    part("history", HTMLElement).hidden = view !== "history";
    part("to-reviews", HTMLButtonElement).setAttribute("aria-pressed", String(view === "reviews"));
    part("to-history", HTMLButtonElement).setAttribute("aria-pressed", String(view === "history"));
    this.#seen(view);
  }

  toggleHistory(): void {
    this.show(document.body.dataset["view"] === "history" ? "reviews" : "history");
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
