// The dialog with the keys and the switch for them.

import { element, part } from "./dom";
import { keysAreOn, switchKeys } from "./keyboard";

const KEYS: ReadonlyArray<readonly [string, string]> = [
  ["j  k", "next, previous review"],
  ["n  p", "next, previous change"],
  ["x", "take or leave the hunk at hand"],
  ["a", "accept what is taken"],
  ["r", "reject: goes to the reason; Ctrl+Enter there rejects"],
  ["e", "edit the proposed text"],
  ["c", "comment on the line at hand"],
  ["/", "find in the text; Enter and Shift+Enter go from match to match"],
  ["v", "side by side or unified"],
  ["q", "to what agents ask; Tab and Enter answer"],
  ["h", "history and back"],
  ["Esc", "leave a field, the editor, a question"],
  ["?  s", "this help"],
];

export class Help {
  readonly #dialog = part("help", HTMLDialogElement);

  constructor() {
    const rows = KEYS.map(([keys, meaning]) =>
      element(
        "div",
        {},
        element("dt", {}, ...keys.split("  ").map((key) => element("kbd", {}, key))),
        element("dd", {}, meaning),
      ),
    );
    part("help-keys", HTMLElement).append(...rows);
    const on = part("keys-on", HTMLInputElement);
    on.checked = keysAreOn();
    on.addEventListener("change", () => switchKeys(on.checked));
    part("help-close", HTMLButtonElement).addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) {
        this.#dialog.close();
      }
    });
  }

  toggle(): void {
    if (this.#dialog.open) {
      this.#dialog.close();
    } else {
      this.#dialog.showModal();
    }
  }
}
