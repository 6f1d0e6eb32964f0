// A button that acts on its second press.

import { button, element, icon, setText } from "../shell/dom";

/** How long a second press confirms the first. */
const CONFIRM_MS = 4_000;

/** `isIcon`: its label is shown only to screen readers until it asks. */
export function confirmedButton(action: string, drawing: string, label: string, question: string, act: () => void, isIcon = false): HTMLButtonElement {
  const hidden = isIcon ? "unseen" : "";
  const words = element("span", { class: hidden }, label);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reset = (): void => {
    clearTimeout(timer);
    timer = undefined;
    words.className = hidden;
    setText(words, label);
    made.classList.remove("reject");
  };
  const made = button(
    action,
    [icon(drawing), words],
    () => {
      if (timer !== undefined) {
        reset();
        act();
        return;
      }
      words.className = "";
      setText(words, question);
      made.classList.add("reject");
      timer = setTimeout(reset, CONFIRM_MS);
    },
    { class: isIcon ? "quiet" : "small", title: label },
  );
  made.addEventListener("blur", reset);
  return made;
}
