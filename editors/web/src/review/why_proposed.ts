// Why a change was proposed: the user's message and the agent's words before the call, folded, and the way to the
// conversation.

import type { ReviewOrigin } from "../../../protocol";
import { button, element, icon } from "../shell/dom";
import { visible } from "../shell/visible";

export type OpenConversation = (origin: ReviewOrigin) => void;

export function whyProposed(origin: ReviewOrigin, open: OpenConversation | undefined): HTMLElement {
  const { prompt, words } = origin;
  const glimpse = element("span", { class: "glimpse" }, visible((prompt ?? words ?? "").replaceAll(/\s+/g, " ").slice(0, 160)));
  const said = (who: string, text: string | undefined): HTMLElement | undefined =>
    text === undefined ? undefined : element("div", { class: "why-said" }, element("dt", {}, who), element("dd", {}, ...paragraphs(text)));
  const link =
    open === undefined
      ? undefined
      : button("open-conversation", [icon("chat"), element("span", {}, "Open the conversation")], () => open(origin), { class: "small" });
  const list = element("dl", {}, said("You asked", prompt), said("The agent said", words));
  const forgotten = prompt === undefined && words === undefined ? element("p", {}, "Its words are no longer kept.") : undefined;
  return element("details", { class: "why" }, element("summary", {}, icon("fold"), element("span", {}, "Why"), glimpse), list, forgotten, link);
}

function paragraphs(text: string): HTMLElement[] {
  return text.split("\n").map((line) => element("p", {}, visible(line)));
}
