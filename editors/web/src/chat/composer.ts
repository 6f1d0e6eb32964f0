// Where the user writes: text of several lines, attached files and pictures, completion after an `@`, and the buttons to
// send and to stop.

import type { ChatAttachment, ChatPicture } from "../../../protocol";
import { button, disable, element, icon, setText } from "../shell/dom";
import { visible } from "../shell/visible";
import { chosen, mentionAt, type Candidate, type Mention } from "./mention";
import { isPicture, MOST_PICTURES, pictureOf, pictureView } from "./pictures";
import { attachmentName } from "./plain_text";

export interface Draft {
  readonly text: string;
  readonly attachments: readonly ChatAttachment[];
  readonly pictures: readonly ChatPicture[];
}

export const NO_DRAFT: Draft = { text: "", attachments: [], pictures: [] };

export interface ComposerMeans {
  send(draft: Draft): void;
  stop(): void;
  /** What may be meant. `early` gets what is known soon, if the rest may take long; the rest is added at its end. */
  candidates(words: string, early?: (found: readonly Candidate[]) => void): Promise<readonly Candidate[]>;
  /** Why a picture cannot be sent; empty if it can, or if that is not known yet. */
  whyNoPicture(): string;
  announce(text: string): void;
  error(text: string): void;
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
  readonly #options = element("ul", { class: "options", role: "listbox", id: "chat-options", "aria-label": "Suggestions", hidden: true });
  readonly #send: HTMLButtonElement;
  readonly #sendLabel = element("span");
  readonly #stop: HTMLButtonElement;
  readonly #hint = element("p", { class: "hint" });
  #attachments: readonly ChatAttachment[] = [];
  #pictures: readonly ChatPicture[] = [];
  #state: ComposerState = { label: "Send", canStop: false, why: "" };
  #mention: Mention | null = null;
  #found: readonly Candidate[] = [];
  #active = 0;
  #asked = 0;

  /** `beside` is shown next to the button that sends. */
  constructor(means: ComposerMeans, beside: HTMLElement) {
    this.#means = means;
    this.#field = element("textarea", {
      rows: "1",
      "data-field": "message",
      "aria-label": "Message",
      placeholder: "Ask, or describe a change. @ names a file or the selection.",
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
    this.#field.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length > 0) {
        event.preventDefault();
        void this.#take(files);
      }
    });
    this.setState(this.#state);
  }

  get draft(): Draft {
    return { text: this.#field.value, attachments: this.#attachments, pictures: this.#pictures };
  }

  set draft({ text, attachments, pictures }: Draft) {
    this.#field.value = text;
    this.#attachments = attachments;
    this.#pictures = pictures;
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

  get #isEmpty(): boolean {
    return this.#field.value.trim() === "" && this.#pictures.length === 0;
  }

  #paint(): void {
    const { why } = this.#state;
    const isEmpty = this.#isEmpty;
    disable(this.#send, isEmpty || why !== "");
    setText(this.#hint, why !== "" ? why : isEmpty ? "" : "Enter sends, Shift+Enter starts a new line");
    this.#hint.classList.toggle("why", why !== "");
  }

  #paintFiles(): void {
    this.#files.hidden = this.#attachments.length === 0 && this.#pictures.length === 0;
    const pictures = this.#pictures.map((picture) => {
      const label = `Remove ${visible(picture.name)}`;
      const remove = button("detach", [icon("close")], () => this.#removePicture(picture), { class: "quiet", "aria-label": label, title: label });
      return element("li", { class: "picture-chip" }, pictureView(picture), remove);
    });
    this.#files.replaceChildren(
      ...pictures,
      ...this.#attachments.map((attachment) => {
        const { path, firstLine, lastLine } = attachment;
        const name = visible(attachmentName(path, firstLine, lastLine));
        const remove = button("detach", [icon("close")], () => this.#detach(attachment), { class: "quiet", "aria-label": `Remove ${name}` });
        return element("li", { class: "chip plain", title: visible(path) }, name, remove);
      }),
    );
  }

  #removePicture(picture: ChatPicture): void {
    this.#pictures = this.#pictures.filter((other) => other !== picture);
    this.#paintFiles();
    this.#paint();
    this.focus();
  }

  #detach(attachment: ChatAttachment): void {
    this.#attachments = this.#attachments.filter((other) => other !== attachment);
    this.#paintFiles();
    this.focus();
  }

  #submit(): void {
    if (!this.#isEmpty && this.#state.why === "") {
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
    let isFirst = true;
    const show = (found: readonly Candidate[]): void => {
      if (asked !== this.#asked || this.#mention === null) {
        return;
      }
      this.#found = found;
      this.#active = isFirst ? 0 : this.#active;
      isFirst = false;
      this.#paintOptions();
      if (this.#found.length > 0) {
        this.#means.announce(this.#found.length === 1 ? "1 suggestion" : `${this.#found.length} suggestions`);
      }
    };
    show(await this.#means.candidates(words, show).catch(() => []));
  }

  #paintOptions(): void {
    this.#options.hidden = this.#found.length === 0;
    this.#options.replaceChildren(
      ...this.#found.map((candidate, place) => {
        const isActive = place === this.#active;
        const option = element(
          "li",
          { role: "option", id: `chat-option-${place}`, "aria-selected": String(isActive), title: visible(candidate.where) },
          element("span", { class: "name" }, visible(candidate.name)),
          element("span", { class: "where" }, element("bdi", {}, visible(candidate.where))),
        );
        option.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          this.#choose(candidate);
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

  #choose({ name, attachment }: Candidate): void {
    if (this.#mention === null) {
      return;
    }
    const { text, caret } = chosen(this.#field.value, this.#mention, name);
    this.#field.value = text;
    this.#field.setSelectionRange(caret, caret);
    this.#closeOptions();
    this.attach(attachment);
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
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      void this.#take(files);
      return;
    }
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

  /** Pictures are sent. Of other files the browser gives only the name, so they are looked for in the folder. */
  async #take(files: readonly File[]): Promise<void> {
    for (const file of files) {
      try {
        await (isPicture(file) ? this.#takePicture(file) : this.#takeNamed(file.name));
      } catch {
        this.#means.error(`${visible(file.name)} is not a picture that this browser can read.`);
      }
    }
    this.#paintFiles();
    this.#paint();
  }

  async #takePicture(file: File): Promise<void> {
    const why = this.#means.whyNoPicture();
    if (why !== "" || this.#pictures.length >= MOST_PICTURES) {
      this.#means.error(why !== "" ? why : `A message has at most ${MOST_PICTURES} pictures.`);
      return;
    }
    this.#pictures = [...this.#pictures, await pictureOf(file)];
  }

  async #takeNamed(name: string): Promise<void> {
    const found = (await this.#means.candidates(name)).filter((candidate) => candidate.name === name);
    const [only] = found;
    if (only !== undefined && found.length === 1) {
      this.attach(only.attachment);
    } else if (found.length === 0) {
      this.#means.error(`${visible(name)} is not in the folder of this conversation, so the agent could not read it.`);
    } else {
      this.#means.error(`Several files are named ${visible(name)}: type @ and choose one.`);
    }
  }
}
