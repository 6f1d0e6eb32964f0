// Searches the text of one side: the field, its container, and the message when there is no match.

import {
  SearchQuery,
  closeSearchPanel,
  findNext,
  findPrevious,
  getSearchQuery,
  search,
  setSearchQuery,
} from "@codemirror/search";
import { type Extension, Facet } from "@codemirror/state";
import { EditorView, type Panel, panels } from "@codemirror/view";
import { button, element, setText } from "../shell/dom";

/** The display name of the searched text. */
export const searched = Facet.define<string, string>({ combine: (values) => values[0] ?? "text" });

/** `place`: the container of the field, outside the text, so that it stays visible while scrolling. */
export function searching(place: HTMLElement): Extension {
  return [
    panels({ topContainer: place }),
    search({
      top: true,
      literal: true,
      createPanel: (view) => new SearchField(view),
      scrollToMatch: (range) => EditorView.scrollIntoView(range, { y: "center" }),
    }),
  ];
}

class SearchField implements Panel {
  readonly top = true;
  readonly dom: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #label = element("span");
  readonly #nothing = element("span", { class: "ls-nothing", role: "status" });

  constructor(readonly view: EditorView) {
    // The search package finds the field by this attribute.
    const known = { "data-field": "find", "main-field": "true" };
    this.#field = element("input", { type: "text", autocomplete: "off", spellcheck: "false", ...known });
    this.#field.addEventListener("input", () => this.#look());
    const tool = (action: string, label: string, title: string, press: () => void): HTMLButtonElement =>
      button(action, [label], press, { title, "aria-label": title });
    const previous = tool("find-previous", "Previous", "Previous match (Shift+Enter)", () => this.#go(findPrevious));
    const next = tool("find-next", "Next", "Next match (Enter)", () => this.#go(findNext));
    const close = tool("find-close", "Close", "Close search (Esc)", () => closeSearchPanel(view));
    const label = element("label", {}, this.#label, this.#field);
    this.dom = element("div", { class: "ls-find", role: "search" }, label, previous, next, this.#nothing, close);
    this.dom.addEventListener("keydown", (event) => this.#pressed(event));
    this.update();
  }

  mount(): void {
    this.#field.focus();
    this.#field.select();
  }

  update(): void {
    const wanted = getSearchQuery(this.view.state).search;
    if (this.#field.value !== wanted) this.#field.value = wanted;
    const text = this.view.state.facet(searched);
    setText(this.#label, `Find in the ${text}`);
    this.dom.setAttribute("aria-label", `Find in the ${text}`);
  }

  #pressed(event: KeyboardEvent): void {
    if (event.key === "Escape") closeSearchPanel(this.view);
    else if (event.key === "Enter" && event.target === this.#field) this.#go(event.shiftKey ? findPrevious : findNext);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Highlights the matches without moving to one. */
  #look(): void {
    const query = new SearchQuery({ search: this.#field.value, literal: true });
    this.view.dispatch({ effects: setSearchQuery.of(query) });
    const none = query.valid && query.getCursor(this.view.state).next().done === true;
    setText(this.#nothing, none ? "No match" : "");
  }

  #go(find: (view: EditorView) => boolean): void {
    this.#look();
    find(this.view);
  }
}
