// Loads the code of the diff when it is first needed, so that the list does not wait for it.

import type { OpenDiff } from "../diff/view";

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
  // A browser may cache a failed module under its address; a different fragment makes it a new module.
  const address: string = attempts === 0 ? "/diff.js" : `/diff.js#${attempts}`;
  attempts += 1;
  const module = (await import(address)) as { openDiff: OpenDiff };
  return module.openDiff;
}

/** The nonce that the page's content security policy requires for style elements. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";
}
