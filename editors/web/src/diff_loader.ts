// Loads the code of the diff when it is first needed: the list does not wait for it.

import type { OpenDiff } from "./diff/view";

let loading: Promise<OpenDiff> | null = null;
let attempts = 0;

export function loadDiff(): Promise<OpenDiff> {
  loading ??= fetchDiff().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function fetchDiff(): Promise<OpenDiff> {
  // A module that failed once may fail for good under its address; the fragment makes another of it.
  const address: string = attempts === 0 ? "/diff.js" : `/diff.js#${attempts}`;
  attempts += 1;
  const module = (await import(address)) as { openDiff: OpenDiff };
  return module.openDiff;
}

/** What the page's policy asks of style elements. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";
}
