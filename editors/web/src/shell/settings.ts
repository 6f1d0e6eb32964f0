// Preferences stored in this browser. Nothing here is secret, and the page works without storage.

export type Setting = "theme" | "layout" | "keys" | "notify";

export function remembered(setting: Setting): string | null {
  try {
    return localStorage.getItem(`linkspan-${setting}`);
  } catch {
    return null;
  }
}

/** `null` removes it. */
export function remember(setting: Setting, value: string | null): void {
  try {
    if (value === null) {
      localStorage.removeItem(`linkspan-${setting}`);
    } else {
      localStorage.setItem(`linkspan-${setting}`, value);
    }
  } catch {
    // Storage is blocked: the preference lasts until the page is closed.
  }
}
