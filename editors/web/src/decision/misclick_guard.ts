// Prevents accidental decisions: a press counts only if the state it decides on has been on the screen, unchanged, for
// a moment. A press that comes too early starts the moment again.

/** Longer than it takes to finish a press that was meant for the previous content. */
export const SETTLE_MS = 400;

export class MisclickGuard {
  #since = performance.now();

  /** The content appeared or changed, and is visible from the next frame on. */
  touch(): void {
    this.#since = performance.now();
    requestAnimationFrame(() => {
      this.#since = performance.now();
    });
  }

  /** Whether the user had time to see it. */
  wasSeen(): boolean {
    const now = performance.now();
    const seen = now - this.#since >= SETTLE_MS;
    if (!seen) {
      this.#since = now;
    }
    return seen;
  }
}
