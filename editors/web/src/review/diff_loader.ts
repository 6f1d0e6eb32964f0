// Loads the code of the diff when it is first needed, so that the list does not wait for it.

import type { OpenDiff } from "../diff/view";

interface DiffModule {
  openDiff: OpenDiff;
  colourCode(text: string, language: string): Array<{ from: number; to: number; name: string }>;
}

let loading: Promise<DiffModule> | null = null;
let attempts = 0;

/** Code that shows changes is served elsewhere than from the page's own address. */
let from: string | null = null;

export function loadDiffFrom(address: string): void {
  from = address;
}

export function loadDiff(): Promise<OpenDiff> {
  return loadModule().then(({ openDiff }) => openDiff);
}

/** Syntax colours of a piece of code. */
export async function colourCode(text: string, language: string): Promise<ReturnType<DiffModule["colourCode"]>> {
  const module = await loadModule();
  return module.colourCode(text, language);
}

function loadModule(): Promise<DiffModule> {
  loading ??= fetchDiff().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function fetchDiff(): Promise<DiffModule> {
  // A browser may cache a failed module under its address; a different fragment makes it a new module.
  const base = from ?? "/diff.js";
  const address: string = attempts === 0 ? base : `${base}#${attempts}`;
  attempts += 1;
  return (await import(address)) as DiffModule;
}

/** The nonce that the page's content security policy requires for style elements. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";
}
