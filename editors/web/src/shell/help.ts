// The dialog that lists the shortcuts and turns them on or off.

import { element, part } from "./dom";
import { keysAreOn, switchKeys } from "./keyboard";

const KEYS: ReadonlyArray<readonly [string, string]> = [
  ["j  k", "next, previous review"],
  ["n  p", "next, previous change"],
  ["x", "include or exclude the current hunk"],
  ["a", "accept the included hunks"],
  ["r", "reject: type a reason, then Ctrl+Enter"],
  ["e", "edit the proposed text"],
  ["c", "comment on the current line"],
  ["/", "find in the text; Enter and Shift+Enter for the next and previous match"],
  ["v", "side by side or unified"],
  ["q", "go to permission requests; Tab and Enter answer"],
  ["h", "history and back"],
  ["t", "chat and back; there, j and k choose a conversation, n and p what waits for you, i writes"],
  ["Esc", "leave a field, the editor or a confirmation"],
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
