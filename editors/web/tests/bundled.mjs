// Bundles the page's TypeScript so that Node can import it, for tests without a browser.

import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const web = dirname(dirname(fileURLToPath(import.meta.url)));

/** `contents`: the exports, with paths relative to `editors/web`. */
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
