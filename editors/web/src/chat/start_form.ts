// Which agent a new conversation is with, and in which folder it works.

import type { ChatAgent } from "../../../protocol";
import { element } from "../shell/dom";
import { visible } from "../shell/visible";
import type { Folder } from "./host";

export interface Choice {
  readonly agent: string;
  readonly folder: string;
}

export class StartForm {
  readonly root: HTMLElement;
  readonly #agents = element("div", { class: "agents", role: "radiogroup", "aria-label": "Agent" });
  readonly #folder = element("select", { "data-field": "folder", "aria-label": "Folder" });
  readonly #folderLine: HTMLElement;
  readonly #empty = element("p", { class: "empty", hidden: true });
  readonly #changed: () => void;
  #agent: string | null = null;
  #painted = "";

  constructor(changed: () => void) {
    this.#changed = changed;
    this.#folder.addEventListener("change", changed);
    this.#folderLine = element("label", { class: "folder-line" }, element("span", {}, "works in"), this.#folder);
    this.root = element(
      "section",
      { class: "start", "aria-label": "New conversation" },
      element("h2", {}, "New conversation"),
      element("p", { class: "empty" }, "What the agent wants to change comes to you as a review."),
      this.#empty,
      this.#agents,
      this.#folderLine,
    );
  }

  /** `null`: something is missing. */
  get choice(): Choice | null {
    const folder = this.#folder.value;
    return this.#agent === null || folder === "" ? null : { agent: this.#agent, folder };
  }

  paint(agents: readonly ChatAgent[] | null, folders: readonly Folder[]): void {
    const now = JSON.stringify([agents, folders]);
    if (now === this.#painted) {
      return;
    }
    this.#painted = now;
    const installed = (agents ?? []).filter((agent) => agent.installed);
    if (!installed.some(({ id }) => id === this.#agent)) {
      this.#agent = installed[0]?.id ?? null;
    }
    this.#agents.replaceChildren(...(agents ?? []).map((agent) => this.#agentRow(agent)));
    const before = this.#folder.value;
    this.#folder.replaceChildren(...folders.map(({ path, name }) => element("option", { value: path, title: visible(path) }, visible(name))));
    if (folders.some(({ path }) => path === before)) {
      this.#folder.value = before;
    }
    this.#folderLine.hidden = folders.length === 0;
    const why =
      agents === null
        ? "Loading…"
        : installed.length === 0
          ? "No agent is installed that Linkspan can start. Install one of these, then open this view again."
          : folders.length === 0
            ? "No folder is open. Open one in your editor, or run `linkspan serve` in it."
            : "";
    this.#empty.hidden = why === "";
    this.#empty.textContent = why;
  }

  #agentRow({ id, name, installed, hint }: ChatAgent): HTMLElement {
    const input = element("input", { type: "radio", name: "chat-agent", value: id, disabled: !installed });
    input.checked = id === this.#agent;
    input.addEventListener("change", () => {
      this.#agent = id;
      this.#changed();
    });
    const note = installed ? undefined : element("span", { class: "hint" }, hint === undefined ? "not installed" : visible(hint));
    return element("label", { class: installed ? "agent-choice" : "agent-choice missing" }, input, element("span", { class: "name" }, visible(name)), note);
  }
}
