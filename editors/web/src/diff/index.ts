// The exports of `/diff.js`. The diff gets texts and a draft and returns a verdict; it knows neither the connection nor
// the list. The page imports only the types of `view.ts`, so that this bundle loads when the first review is opened.

export { openDiff } from "./diff_session";
export { colourCode } from "./code_colours";
export type { DiffOptions, DiffView, Draft, Layout } from "./view";
