// Light, dark, or the system's theme.

import { button, icon, setText } from "./dom";
import { remember, remembered } from "./settings";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function chosen(): Theme {
  const theme = remembered("theme");
  return theme === "light" || theme === "dark" ? theme : "auto";
}

function apply(theme: Theme): void {
  if (theme === "auto") {
    delete document.documentElement.dataset["theme"];
  } else {
    document.documentElement.dataset["theme"] = theme;
  }
}

export function applyTheme(): void {
  apply(chosen());
}

export function themeButton(announce: (text: string) => void): HTMLButtonElement {
  let theme = chosen();
  const label = document.createElement("span");
  label.className = "unseen";
  const made = button("theme", [icon(`theme-${theme}`), label], () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
    remember("theme", theme === "auto" ? null : theme);
    apply(theme);
    paint();
    announce(`Theme: ${theme}`);
  });
  made.className = "quiet";
  const paint = (): void => {
    made.firstChild?.replaceWith(icon(`theme-${theme}`));
    setText(label, `Theme: ${theme}`);
    made.title = `Theme: ${theme}`;
  };
  paint();
  return made;
}
