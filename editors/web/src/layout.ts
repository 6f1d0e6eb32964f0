// Side by side where there is room for it, unless the person wants it otherwise.

import type { Layout } from "./diff/view";
import { remember, remembered } from "./settings";

const SPLIT_FROM_PX = 1000;

export function fittingLayout(width: number): Layout {
  const wished = remembered("layout");
  if (wished === "split" || wished === "unified") {
    return wished;
  }
  return width >= SPLIT_FROM_PX ? "split" : "unified";
}

/** A wish for what fits anyway is none. */
export function wishLayout(layout: Layout, width: number): void {
  remember("layout", null);
  if (fittingLayout(width) !== layout) {
    remember("layout", layout);
  }
}
