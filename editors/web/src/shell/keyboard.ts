// Single-key shortcuts. They are off while text is typed, right after typing, and when the user turns them off.

import { typesInto } from "./dom";
import { remember, remembered } from "./settings";

/** Keys typed into a field that has just disappeared are not shortcuts. */
const AFTER_TYPING_MS = 1_000;

export type Keys = Readonly<Record<string, () => void>>;

export function keysAreOn(): boolean {
  return remembered("keys") !== "off";
}

export function switchKeys(on: boolean): void {
  remember("keys", on ? null : "off");
}

export function bindKeys(keys: Keys, leave: () => void): void {
  let typedAt = -Infinity;
  document.addEventListener("keydown", (event) => {
    const typing = typesInto(event.target);
    if (event.key === "Escape") {
      typedAt = -Infinity;
      if (!event.defaultPrevented) {
        leave();
      }
      return;
    }
    if (typing) {
      typedAt = event.ctrlKey || event.metaKey ? -Infinity : performance.now();
      return;
    }
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
    const modal = document.querySelector("dialog[open]") !== null;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (act === undefined || !plain || event.repeat && !REPEATING.has(event.key) || !keysAreOn() || event.defaultPrevented) {
      return;
    }
    if (performance.now() - typedAt < AFTER_TYPING_MS || (modal && event.key !== "?" && event.key !== "s")) {
      return;
    }
    event.preventDefault();
    act();
  });
  // Holding a key down presses a button only once.
  document.addEventListener(
    "keydown",
    (event) => {
      const isPress = event.key === "Enter" || event.key === " ";
      if (event.repeat && isPress && event.target instanceof HTMLButtonElement) {
        event.preventDefault();
      }
    },
    true,
  );
}

/** Keys that only move may repeat. */
const REPEATING = new Set(["j", "k", "n", "p"]);
