// Bundles the page's scripts: `node build.mjs [--outdir DIR]`. The result depends on nothing but the sources and the
// lock file, so that a fresh build can be compared with `dist` byte for byte. Document, style and icon are served as
// they are in `src`.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { licencesOf } from "../licences.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { outdir: { type: "string" } } });
const outdir = values.outdir === undefined ? join(here, "dist") : resolve(values.outdir);

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/app.ts", chat: "src/chat/index.ts", diff: "src/diff/index.ts" },
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
  logLevel: "warning",
  metafile: true,
  write: false,
});

await mkdir(outdir, { recursive: true });
for (const file of outputFiles) {
  const { inputs } = metafile.outputs[relative(here, file.path)];
  const licences = await licencesOf(here, Object.keys(inputs));
  const comment = licences === "" ? "" : `/*\n${licences.replaceAll("*/", "* /")}\n*/\n`;
  await writeFile(file.path, file.text + comment);
}
