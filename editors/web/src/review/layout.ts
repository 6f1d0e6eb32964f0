// Side by side if there is room for it, unless the user chose otherwise.

import type { Layout } from "../diff/view";
import { remember, remembered } from "../shell/settings";

const SPLIT_FROM_PX = 1000;

export function fittingLayout(width: number): Layout {
  const wished = remembered("layout");
  if (wished === "split" || wished === "unified") {
    return wished;
  }
  return width >= SPLIT_FROM_PX ? "split" : "unified";
}

/** Choosing the layout that fits anyway removes the preference. */
export function rememberLayout(layout: Layout, width: number): void {
  remember("layout", null);
  if (fittingLayout(width) !== layout) {
    remember("layout", layout);
  }
}
