// Bundles the extension into `dist/extension.js`, and its tests into `out/tests.js`, which an extension host can run.

import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf } from "../licences.mjs";

const here = dirname(fileURLToPath(import.meta.url));

// Oldest VS Code we support runs extensions on Node 20.
const settings = {
  absWorkingDir: here,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  charset: "utf8",
  logLevel: "warning",
};

await sameVersionAsTheProgram();
const extension = await build({
  ...settings,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  external: ["vscode"],
  minify: true,
  sourcemap: false,
  legalComments: "none",
  metafile: true,
});
const licences = await licencesOf(here, Object.keys(extension.metafile.inputs));
await writeFile(join(here, "dist/extension.js.LEGAL.txt"), `${licences}\n`);

// Mocha reads files of its own: it stays where it is installed.
await build({
  ...settings,
  entryPoints: ["tests/index.ts"],
  outfile: "out/tests.js",
  external: ["vscode", "mocha"],
  sourcemap: "inline",
});

/** One version for everything: the extension carries the program of its own version. */
async function sameVersionAsTheProgram() {
  const { version } = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
  const manifest = await readFile(join(here, "../../Cargo.toml"), "utf8");
  const program = /^\[workspace\.package\][^[]*?^version = "([^"]+)"/ms.exec(manifest)?.[1];
  if (version !== program) {
    throw new Error(
      `editors/vscode/package.json says version ${version}, Cargo.toml says ${program}: give both the same`,
    );
  }
}
