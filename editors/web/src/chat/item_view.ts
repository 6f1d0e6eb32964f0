// One item of a conversation on the screen, updated in place.

import type { ChatItem, ChatToolState } from "../../../protocol";
import { button, element, icon, setText } from "../shell/dom";
import { visible } from "../shell/visible";
import type { ChatHost } from "./host";
import { MarkdownView } from "./markdown_view";
import { attachmentName } from "./plain_text";
import { pictureView } from "./pictures";
import { ToolView } from "./tool_view";
import { TurnEndView } from "./turn_end_view";

export interface ItemMeans {
  readonly host: ChatHost;
  readonly agentName: string;
  /** Id of the conversation. */
  readonly chat: string;
  /** Puts a message of the user into the composer again. */
  again(item: Extract<ChatItem, { kind: "user" }>): void;
}

/** The content of an item of one kind. */
interface Content {
  readonly root: Element;
  paint(item: ChatItem, grows: boolean): void;
}

export const STATE_ICONS: Readonly<Record<ChatToolState, string>> = {
  pending: "wait",
  running: "wait",
  done: "check",
  failed: "close",
};
export const STATE_WORDS: Readonly<Record<ChatToolState, string>> = {
  pending: "waiting",
  running: "running",
  done: "done",
  failed: "failed",
};

export class ItemView {
  readonly root = element("li", { class: "item", tabindex: "-1" });
  readonly #means: ItemMeans;
  #kind: string | null = null;
  #content: Content | null = null;
  #painted: ChatItem | null = null;
  #grew = false;

  constructor(index: number, means: ItemMeans) {
    this.#means = means;
    this.root.dataset["item"] = String(index);
  }

  /** `grows`: the agent is writing it now. */
  paint(item: ChatItem, grows: boolean): void {
    if (this.#painted === item && this.#grew === grows) {
      return;
    }
    this.#painted = item;
    this.#grew = grows;
    if (this.#kind !== item.kind) {
      this.#kind = item.kind;
      this.root.dataset["kind"] = item.kind;
      this.#content = contentOf(item, this.#means);
      this.root.hidden = this.#content === null;
      this.root.replaceChildren(...(this.#content === null ? [] : [this.#content.root]));
    }
    this.#content?.paint(item, grows);
  }

  /** Opens what is folded, so that a match of a search can be seen. */
  unfold(): void {
    for (const details of this.root.querySelectorAll("details")) {
      details.open = true;
    }
  }
}

function contentOf(item: ChatItem, means: ItemMeans): Content | null {
  switch (item.kind) {
    case "user":
      return userContent(means);
    case "agent":
      return agentContent(means);
    case "thought":
      return thoughtContent(means);
    case "tool":
      return new ToolView(means.host);
    case "plan":
      return planContent();
    case "notice":
      return noticeContent();
    case "turnEnd":
      return new TurnEndView(means.host, means.chat);
    default:
      // From a newer hub.
      return null;
  }
}

function userContent(means: ItemMeans): Content {
  const who = element("span", { class: "who" });
  const waits = element("span", { class: "chip plain", hidden: true }, "sent when this turn ends");
  const words = new MarkdownView(means.host);
  const files = element("ul", { class: "files", "aria-label": "Attached files" });
  let shown: Extract<ChatItem, { kind: "user" }> | null = null;
  const again = button("again", [icon("edit"), element("span", {}, "Edit and send again")], () => shown !== null && means.again(shown), {
    class: "quiet again",
    title: "Puts this message into the field below. It is sent as a new message: the agent still knows this one, and what it did stays.",
  });
  const root = element("article", { class: "from-user" }, element("header", {}, who, waits, again), words.root, files);
  return {
    root,
    paint(item) {
      if (item.kind !== "user") return;
      shown = item;
      const name = item.byLinkspan ? "Linkspan, for you" : "You";
      setText(who, name);
      root.setAttribute("aria-label", name);
      root.classList.toggle("by-linkspan", item.byLinkspan);
      waits.hidden = !item.queued;
      again.hidden = item.byLinkspan;
      words.set(item.text, false);
      const { attachments = [], pictures = [] } = item;
      files.hidden = attachments.length === 0 && pictures.length === 0;
      files.replaceChildren(
        ...pictures.map((picture) => element("li", { class: "picture-chip" }, pictureView(picture))),
        ...attachments.map(({ path, firstLine, lastLine }) =>
          element("li", { class: "chip plain", title: visible(path) }, visible(attachmentName(path, firstLine, lastLine))),
        ),
      );
    },
  };
}

function agentContent(means: ItemMeans): Content {
  const words = new MarkdownView(means.host);
  const root = element("article", { class: "from-agent", "aria-label": visible(means.agentName) }, words.root);
  return {
    root,
    paint(item, grows) {
      if (item.kind !== "agent") return;
      root.classList.toggle("grows", grows);
      words.set(item.text, grows);
    },
  };
}

function thoughtContent(means: ItemMeans): Content {
  const words = new MarkdownView(means.host);
  const label = element("span", { class: "fold-label" });
  const glimpse = element("span", { class: "glimpse" });
  const root = element("details", { class: "fold thought" }, element("summary", {}, icon("fold"), label, glimpse), words.root);
  let text = "";
  let isGrowing = false;
  const fill = (): void => {
    if (root.open) {
      words.set(text, isGrowing);
    }
  };
  root.addEventListener("toggle", fill);
  return {
    root,
    paint(item, grows) {
      if (item.kind !== "thought") return;
      text = item.text;
      isGrowing = grows;
      setText(label, grows ? "Thinking" : "Thought");
      root.classList.toggle("grows", grows);
      setText(glimpse, visible(text.trim().split("\n", 1)[0]?.replaceAll(/[*_`#]/g, "").slice(0, 200) ?? ""));
      fill();
    },
  };
}

function planContent(): Content {
  const title = element("p", { class: "plan-title" });
  const steps = element("ol", { class: "steps" });
  const root = element("section", { class: "plan", "aria-label": "Plan" }, title, steps);
  return {
    root,
    paint(item) {
      if (item.kind !== "plan") return;
      const done = item.steps.filter(({ state }) => state === "done").length;
      setText(title, `Plan: ${done} of ${item.steps.length} done`);
      steps.replaceChildren(
        ...item.steps.map(({ text, state }) =>
          element(
            "li",
            { "data-state": state },
            icon(state === "pending" ? "ring" : STATE_ICONS[state]),
            element("span", {}, visible(text), element("span", { class: "unseen" }, `, ${STATE_WORDS[state]}`)),
          ),
        ),
      );
    },
  };
}

function noticeContent(): Content {
  const words = element("p");
  const root = element("div", { class: "chat-notice" }, words);
  return {
    root,
    paint(item) {
      if (item.kind !== "notice") return;
      root.classList.toggle("bad", item.isError);
      words.replaceChildren(...(item.isError ? [icon("warning")] : []), element("span", {}, visible(item.text)));
    },
  };
}
