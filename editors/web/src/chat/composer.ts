// Where the user writes: text of several lines, attached files, completion of file names, and the buttons to send and to
// stop.

import type { ChatAttachment } from "../../../protocol";
import { button, disable, element, icon, setText } from "../shell/dom";
import { visible } from "../shell/visible";
import { chosen, matching, mentionAt, type Mention } from "./mention";
import { attachmentName } from "./plain_text";

export interface Draft {
  readonly text: string;
  readonly attachments: readonly ChatAttachment[];
}

export const NO_DRAFT: Draft = { text: "", attachments: [] };

export interface ComposerMeans {
  send(draft: Draft): void;
  stop(): void;
  /** Files that may be meant. */
  files(words: string): Promise<readonly string[]>;
  announce(text: string): void;
}

/** What the buttons do now. */
export interface ComposerState {
  readonly label: "Send" | "Queue" | "Start";
  readonly canStop: boolean;
  /** Why nothing can be sent now; empty if it can. */
  readonly why: string;
}

const MOST_ROWS = 12;

export class Composer {
  readonly root: HTMLElement;
  readonly #means: ComposerMeans;
  readonly #field: HTMLTextAreaElement;
  readonly #files = element("ul", { class: "files", "aria-label": "Attached files", hidden: true });
  readonly #options = element("ul", { class: "options", role: "listbox", id: "chat-options", "aria-label": "Files", hidden: true });
  readonly #send: HTMLButtonElement;
  readonly #sendLabel = element("span");
  readonly #stop: HTMLButtonElement;
  readonly #hint = element("p", { class: "hint" });
  #attachments: readonly ChatAttachment[] = [];
  #state: ComposerState = { label: "Send", canStop: false, why: "" };
  #mention: Mention | null = null;
  #found: readonly string[] = [];
  #active = 0;
  #asked = 0;

  /** `beside` is shown next to the button that sends. */
  constructor(means: ComposerMeans, beside: HTMLElement) {
    this.#means = means;
    this.#field = element("textarea", {
      rows: "1",
      "data-field": "message",
      "aria-label": "Message",
      placeholder: "Ask, or describe a change. @ names a file.",
      "aria-autocomplete": "list",
      "aria-controls": "chat-options",
    });
    this.#send = button("send", [icon("send"), this.#sendLabel], () => this.#submit(), { class: "primary send", "aria-keyshortcuts": "Enter" });
    this.#stop = button("stop", [icon("stop"), element("span", {}, "Stop")], means.stop, { class: "stop", hidden: true });
    const bar = element("div", { class: "composer-bar" }, beside, this.#hint, this.#stop, this.#send);
    this.root = element("div", { class: "composer" }, this.#options, this.#files, this.#field, bar);
    this.#field.addEventListener("input", () => this.#edited());
    this.#field.addEventListener("keydown", (event) => this.#pressed(event));
    this.#field.addEventListener("blur", () => this.#closeOptions());
    this.root.addEventListener("dragover", (event) => event.preventDefault());
    this.root.addEventListener("drop", (event) => this.#dropped(event));
    this.setState(this.#state);
  }

  get draft(): Draft {
    return { text: this.#field.value, attachments: this.#attachments };
  }

  set draft({ text, attachments }: Draft) {
    this.#field.value = text;
    this.#attachments = attachments;
    this.#paintFiles();
    this.#edited();
  }

  setState(state: ComposerState): void {
    this.#state = state;
    setText(this.#sendLabel, state.label);
    this.#stop.hidden = !state.canStop;
    this.#paint();
  }

  attach(attachment: ChatAttachment): void {
    const isSame = (other: ChatAttachment): boolean =>
      other.path === attachment.path && other.firstLine === attachment.firstLine && other.lastLine === attachment.lastLine;
    if (!this.#attachments.some(isSame)) {
      this.#attachments = [...this.#attachments, attachment];
      this.#paintFiles();
      this.#paint();
    }
  }

  focus(): void {
    this.#field.focus();
    this.#field.setSelectionRange(this.#field.value.length, this.#field.value.length);
  }

  #paint(): void {
    const { why } = this.#state;
    const isEmpty = this.#field.value.trim() === "";
    disable(this.#send, isEmpty || why !== "");
    setText(this.#hint, why !== "" ? why : isEmpty ? "" : "Enter sends, Shift+Enter starts a new line");
    this.#hint.classList.toggle("why", why !== "");
  }

  #paintFiles(): void {
    this.#files.hidden = this.#attachments.length === 0;
    this.#files.replaceChildren(
      ...this.#attachments.map((attachment) => {
        const { path, firstLine, lastLine } = attachment;
        const name = visible(attachmentName(path, firstLine, lastLine));
        const remove = button("detach", [icon("close")], () => this.#detach(attachment), { class: "quiet", "aria-label": `Remove ${name}` });
        return element("li", { class: "chip plain", title: visible(path) }, name, remove);
      }),
    );
  }

  #detach(attachment: ChatAttachment): void {
    this.#attachments = this.#attachments.filter((other) => other !== attachment);
    this.#paintFiles();
    this.focus();
  }

  #submit(): void {
    if (this.#field.value.trim() !== "" && this.#state.why === "") {
      const { draft } = this;
      this.draft = NO_DRAFT;
      this.#means.send(draft);
      this.#field.focus();
    }
  }

  #edited(): void {
    this.#field.rows = Math.min(MOST_ROWS, this.#field.value.split("\n").length);
    // Long lines wrap.
    while (this.#field.rows < MOST_ROWS && this.#field.scrollHeight > this.#field.clientHeight) {
      this.#field.rows += 1;
    }
    this.#paint();
    this.#mention = mentionAt(this.#field.value, this.#field.selectionStart);
    if (this.#mention === null) {
      this.#closeOptions();
    } else {
      void this.#complete(this.#mention.words);
    }
  }

  async #complete(words: string): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    const paths = await this.#means.files(words).catch(() => []);
    if (asked !== this.#asked || this.#mention === null) {
      return;
    }
    this.#found = matching(paths, words);
    this.#active = 0;
    this.#paintOptions();
    if (this.#found.length > 0) {
      this.#means.announce(this.#found.length === 1 ? "1 file" : `${this.#found.length} files`);
    }
  }

  #paintOptions(): void {
    this.#options.hidden = this.#found.length === 0;
    this.#options.replaceChildren(
      ...this.#found.map((path, place) => {
        const isActive = place === this.#active;
        const option = element(
          "li",
          { role: "option", id: `chat-option-${place}`, "aria-selected": String(isActive), title: visible(path) },
          element("span", { class: "name" }, visible(attachmentName(path))),
          element("span", { class: "where" }, element("bdi", {}, visible(path))),
        );
        option.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          this.#choose(path);
        });
        return option;
      }),
    );
    if (this.#found.length > 0) {
      this.#field.setAttribute("aria-activedescendant", `chat-option-${this.#active}`);
    } else {
      this.#field.removeAttribute("aria-activedescendant");
    }
  }

  #closeOptions(): void {
    this.#asked += 1;
    this.#mention = null;
    this.#found = [];
    this.#paintOptions();
  }

  #choose(path: string): void {
    if (this.#mention === null) {
      return;
    }
    const { text, caret } = chosen(this.#field.value, this.#mention, path);
    this.#field.value = text;
    this.#field.setSelectionRange(caret, caret);
    this.#closeOptions();
    this.attach({ path });
    this.#paint();
  }

  #pressed(event: KeyboardEvent): void {
    if (event.isComposing) {
      return;
    }
    const option = this.#found[this.#active];
    if (option !== undefined) {
      const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (by !== 0) {
        this.#active = (this.#active + by + this.#found.length) % this.#found.length;
        this.#paintOptions();
        event.preventDefault();
        return;
      }
      if (event.key === "Enter" || event.key === "Tab") {
        this.#choose(option);
        event.preventDefault();
        return;
      }
      if (event.key === "Escape") {
        this.#closeOptions();
        event.preventDefault();
        return;
      }
    }
    // On a touch screen Enter is the only way to a new line.
    const isSend = event.key === "Enter" && !event.shiftKey && !event.altKey && !matchMedia("(pointer: coarse)").matches;
    if (isSend || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      this.#submit();
    }
  }

  /** Files from an editor or a file manager come as addresses. */
  #dropped(event: DragEvent): void {
    const list = event.dataTransfer?.getData("text/uri-list") ?? "";
    for (const line of list.split(/\r?\n/)) {
      if (line.startsWith("file:///")) {
        event.preventDefault();
        try {
          this.attach({ path: decodeURIComponent(new URL(line).pathname) });
        } catch {
          // Not an address: nothing is attached.
        }
      }
    }
  }
}
