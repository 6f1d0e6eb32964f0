// The frame around an open review: title, tools, the diff's container and notices. Decides nothing.

import type { ReviewShow } from "../../../protocol";
import { description } from "../list/description";
import type { Layout } from "../diff/view";
import { button, element, icon, setText } from "../shell/dom";
import type { FileNames } from "../shell/file_names";
import type { Entry } from "../list/reviews";
import { visible } from "../shell/visible";
import { whyProposed, type OpenConversation } from "./why_proposed";
import { AGENT_GONE, count, spokenAge } from "../shell/labels";

export interface Tools {
  back(): void;
  previousChange(): void;
  nextChange(): void;
  toggleLayout(): void;
  find(): void;
  comment(): void;
  edit(): void;
  discardEdit(): void;
}

export interface NoticeChoice {
  action: string;
  label: string;
  press(): void;
}

export class Article {
  readonly root: HTMLElement;
  readonly diff = element("div", { class: "diff", "data-diff": true });
  readonly #meta = element("p", { class: "meta" });
  readonly #why: HTMLElement;
  readonly #openConversation: OpenConversation | undefined;
  readonly #notice = element("div", { class: "notice", "data-notice": true, hidden: true });
  readonly #aside = element("div", { class: "notice", "data-aside": true, hidden: true });
  readonly #tools: HTMLElement;
  readonly #layout: HTMLButtonElement;
  readonly #layoutLabel = element("span");
  readonly #comment: HTMLButtonElement;
  readonly #edit: HTMLButtonElement;
  readonly #discard: HTMLButtonElement;

  constructor(entry: Entry, fileNames: FileNames, tools: Tools, bar: HTMLElement, openConversation: OpenConversation | undefined) {
    this.#openConversation = openConversation;
    const place = fileNames.of(entry.summary);
    const title = element(
      "h2",
      { tabindex: "-1", title: visible(entry.summary.path) },
      place.window === undefined ? undefined : element("span", { class: "in-window" }, `${place.window}: `),
      element("span", { class: "folder" }, place.folder),
      element("span", { class: "file" }, place.name),
    );
    const tool = (action: string, drawing: string, label: string, key: string, press: () => void): HTMLButtonElement =>
      button(action, [icon(drawing), element("span", {}, label)], press, {
        class: "tool",
        title: `${label} (${key})`,
        "aria-keyshortcuts": key,
      });
    this.#layout = button("layout", [icon("split"), this.#layoutLabel], tools.toggleLayout, {
      class: "tool",
      "aria-keyshortcuts": "v",
    });
    this.#comment = tool("comment", "comment", "Comment", "c", tools.comment);
    this.#edit = tool("edit", "edit", "Edit", "e", tools.edit);
    this.#discard = tool("discard-edit", "undo", "Discard my edits", "", tools.discardEdit);
    this.#discard.title = "Stash your own text and show the proposal";
    this.#discard.removeAttribute("aria-keyshortcuts");
    this.#discard.hidden = true;
    this.#tools = element(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "Change" },
      tool("previous-change", "up", "Previous change", "p", tools.previousChange),
      tool("next-change", "down", "Next change", "n", tools.nextChange),
      tool("find", "find", "Find", "/", tools.find),
      this.#layout,
      this.#comment,
      this.#edit,
      this.#discard,
    );
    this.#tools.hidden = true;
    this.#why = element("div", { hidden: true });
    const backLabel = element("span", { class: "unseen" }, "Back to the list");
    const back = button("back", [icon("back"), backLabel], tools.back, { class: "quiet" });
    const words = element("div", { class: "head-words" }, title, this.#meta);
    this.root = element(
      "article",
      { class: "review", "data-open": entry.id, "data-revision": "", "aria-label": place.whole },
      element("header", { class: "review-head" }, back, words, this.#tools),
      this.#why,
      this.#notice,
      this.#aside,
      this.diff,
      bar,
    );
    this.paintMeta(entry, undefined);
  }

  paintMeta(entry: Entry, shown: ReviewShow | undefined): void {
    const { summary } = entry;
    const chip = (text: string, kind: string): HTMLElement => element("span", { class: `chip ${kind}` }, text);
    const parts: Array<Node | string> = [
      element("span", { class: "agent" }, visible(summary.agent)),
      element("span", { class: "added" }, `+${summary.added}`),
      element("span", { class: "removed" }, `−${summary.removed}`),
      element("span", {}, count(summary.hunks, "hunk")),
      element("span", { class: "wide" }, spokenAge(summary.ageMs + performance.now() - entry.listedAt)),
    ];
    if (summary.newFile) parts.push(chip("new file", "good"));
    if (summary.conflicts > 0) parts.push(chip(count(summary.conflicts, "conflict"), "bad"));
    if (summary.ownerGone && entry.state === "pending") parts.push(chip(AGENT_GONE, "plain"));
    if (shown?.lineEndings !== undefined) parts.push(chip(visible(shown.lineEndings), "plain"));
    if (shown !== undefined && shown.encoding !== "UTF-8") parts.push(chip(visible(shown.encoding), "plain"));
    const said = description(summary);
    if (said !== "") {
      parts.push(element("span", { class: "label", title: said }, `“${said}”`));
    }
    this.#meta.replaceChildren(...parts);
    if (shown?.origin !== undefined && this.#why.hidden) {
      this.#why.hidden = false;
      this.#why.replaceChildren(whyProposed(shown.origin, this.#openConversation));
    }
  }

  setRevision(revision: number | undefined): void {
    this.root.dataset["revision"] = revision === undefined ? "" : String(revision);
  }

  /** Returns whether it differs from the previous state. */
  setState(state: string): boolean {
    const isNew = this.root.dataset["state"] !== state;
    this.root.dataset["state"] = state;
    return isNew;
  }

  /** Whether the state to decide on has been visible long enough. */
  setSteady(steady: boolean): void {
    this.root.dataset["steady"] = String(steady);
  }

  paintTools(shown: boolean, layout: Layout, editing: boolean, readOnly: boolean): void {
    this.#tools.hidden = !shown;
    setText(this.#layoutLabel, layout === "split" ? "Unified" : "Side by side");
    this.#layout.title = `${layout === "split" ? "Unified" : "Side by side"} (v)`;
    this.#layout.firstChild?.replaceWith(icon(layout === "split" ? "unified" : "split"));
    this.diff.dataset["layout"] = layout;
    this.#comment.hidden = readOnly;
    this.#edit.hidden = readOnly || editing;
    this.#discard.hidden = readOnly || !editing;
  }

  /** Shows what changed; `null` removes the notice. */
  notice(text: string | null, choices: readonly NoticeChoice[] = []): void {
    const made = choices.map(choiceButton);
    if (made.length === 0) {
      const attributes = { class: "quiet", "aria-label": "Dismiss" };
      made.push(button("dismiss-notice", [icon("close")], () => this.notice(null), attributes));
    }
    fill(this.#notice, text, made);
  }

  /** Shows that the user's text is stashed; `null` removes it. Separate from the notice, so that neither hides the other. */
  aside(text: string | null, choices: readonly NoticeChoice[] = []): void {
    fill(this.#aside, text, choices.map(choiceButton));
  }

  /** Content shown instead of the diff. */
  instead(...content: Array<Node | string>): void {
    this.#tools.hidden = true;
    this.diff.replaceChildren(element("div", { class: "instead" }, ...content));
  }

  focusTitle(): void {
    this.root.querySelector("h2")?.focus({ preventScroll: true });
  }
}

function choiceButton({ action, label, press }: NoticeChoice): HTMLButtonElement {
  return button(action, [label], press, { class: "small" });
}

function fill(strip: HTMLElement, text: string | null, buttons: readonly HTMLButtonElement[]): void {
  strip.hidden = text === null;
  strip.replaceChildren(...(text === null ? [] : [icon("warning"), element("p", {}, text), ...buttons]));
}
