// No decision is stolen: what decides counts only when what it decides on has been on the screen, unchanged, for a
// moment. A press that came too early begins the moment anew.

/** Longer than it takes to press what was there before. */
export const MOMENT_MS = 400;

export class Steady {
  #since = performance.now();

  /** What is decided on came or changed, and is seen from the next frame on. */
  touch(): void {
    this.#since = performance.now();
    requestAnimationFrame(() => {
      this.#since = performance.now();
    });
  }

  /** Whether the person has had the time to see it. */
  wasSeen(): boolean {
    const now = performance.now();
    const seen = now - this.#since >= MOMENT_MS;
    if (!seen) {
      this.#since = now;
    }
    return seen;
  }
}
