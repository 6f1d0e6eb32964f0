// What `/diff.js` gives the page.

export { openDiff } from "./open";
export type { DiffOptions, DiffView, Draft, Layout } from "./view";
