// What this browser remembers of a person's wishes. Nothing here is secret, and a browser that remembers nothing is
// fine.

export type Setting = "theme" | "layout" | "keys" | "notify";

export function remembered(setting: Setting): string | null {
  try {
    return localStorage.getItem(`linkspan-${setting}`);
  } catch {
    return null;
  }
}

/** `null` forgets it. */
export function remember(setting: Setting, value: string | null): void {
  try {
    if (value === null) {
      localStorage.removeItem(`linkspan-${setting}`);
    } else {
      localStorage.setItem(`linkspan-${setting}`, value);
    }
  } catch {
    // Storage is blocked: the wish holds until the page is closed.
  }
}
