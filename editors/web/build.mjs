// Bundles the page's scripts: `node build.mjs [--outdir DIR]`. The result depends on nothing but the sources and the
// lock file, so that a fresh build can be compared with `dist` byte for byte. Document, style and icon are served as
// they are in `src`.

import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { outdir: { type: "string" } } });
const outdir = values.outdir === undefined ? join(here, "dist") : resolve(values.outdir);

const { outputFiles, metafile } = await build({
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
  logLevel: "warning",
  metafile: true,
  write: false,
});

await mkdir(outdir, { recursive: true });
for (const file of outputFiles) {
  const { inputs } = metafile.outputs[relative(here, file.path)];
  await writeFile(file.path, file.text + (await licencesOf(Object.keys(inputs))));
}

/** The licences of the packages that these files are from, as a comment: they go where the code goes. */
async function licencesOf(inputs) {
  const folders = new Set(inputs.map((input) => /^node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean));
  const packagesByText = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version } = JSON.parse(await readFile(join(here, folder, "package.json"), "utf8"));
    const licence = (await readdir(join(here, folder))).find((file) => /^licen[cs]e/i.test(file));
    if (licence === undefined) {
      throw new Error(`${name} has no licence file`);
    }
    const text = (await readFile(join(here, folder, licence), "utf8")).trim().replaceAll("*/", "* /");
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version}`]);
  }
  const parts = [...packagesByText].map(([text, packages]) => `${packages.join(", ")}\n\n${text}`);
  return parts.length === 0 ? "" : `/*\n${parts.join("\n\n----\n\n")}\n*/\n`;
}
