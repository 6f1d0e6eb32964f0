// Builds the page: `node build.mjs [--outdir DIR]`. The result depends on nothing but the sources and the lock file,
// so that a fresh build can be compared with `dist` byte for byte.

import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { outdir: { type: "string" } } });
const outdir = values.outdir === undefined ? join(here, "dist") : resolve(values.outdir);

await mkdir(outdir, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/app.ts", diff: "src/diff/index.ts" },
  outdir,
  bundle: true,
  splitting: false,
  format: "esm",
  platform: "browser",
  target: "es2022",
  charset: "utf8",
  minify: true,
  sourcemap: false,
  legalComments: "eof",
  // `/diff.js` is asked from the hub at run time.
  external: ["/diff.js"],
  logLevel: "warning",
});
for (const name of ["index.html", "style.css", "icon.svg"]) {
  await copyFile(join(here, "src", name), join(outdir, name));
}
