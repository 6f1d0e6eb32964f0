// Makes the page's own TypeScript something that Node can import, for tests that need no browser.

import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const web = dirname(dirname(fileURLToPath(import.meta.url)));

/** `contents`: what to export, as seen from `editors/web`. */
export async function bundled(contents) {
  const folder = await mkdtemp(join(web, "node_modules", ".bundled-"));
  try {
    const outfile = join(folder, "bundled.mjs");
    const stdin = { contents, resolveDir: web, loader: "ts" };
    await build({ stdin, bundle: true, format: "esm", platform: "node", outfile, logLevel: "warning" });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(folder, { recursive: true });
  }
}
