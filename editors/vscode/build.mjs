// Bundles the extension into `dist/extension.js`, and its tests into `out/tests.js`, which an extension host can run.

import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf } from "../licences.mjs";

const here = dirname(fileURLToPath(import.meta.url));

// The oldest VS Code that we support runs extensions on Node 20.
const settings = {
  absWorkingDir: here,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  charset: "utf8",
  logLevel: "warning",
};

await checkVersion();
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

// The Chat view: the page's own parts, and the document around them.
const web = join(here, "../web");
const webview = join(here, "dist/webview");
await mkdir(webview, { recursive: true });
await build({
  ...settings,
  absWorkingDir: web,
  entryPoints: ["src/chat/webview.ts"],
  outfile: join(webview, "webview.js"),
  format: "esm",
  platform: "browser",
  target: "es2022",
  minify: true,
  sourcemap: false,
});
for (const file of ["dist/diff.js", "src/style.css", "src/chat/chat.css", "src/chat/webview.css"]) {
  await copyFile(join(web, file), join(webview, basename(file)));
}
const page = await readFile(join(web, "src/index.html"), "utf8");
const sprite = /<svg class="sprite"[^]*?<\/svg>/.exec(page)[0];
const template = await readFile(join(web, "src/chat/webview.html"), "utf8");
await writeFile(join(webview, "webview.html"), template.replace("__SPRITE__", sprite));

// Mocha reads its own files at run time, so it is not bundled.
await build({
  ...settings,
  entryPoints: ["tests/index.ts"],
  outfile: "out/tests.js",
  external: ["vscode", "mocha"],
  sourcemap: "inline",
});

/** The extension contains the program of the same version. */
async function checkVersion() {
  const { version } = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
  const manifest = await readFile(join(here, "../../Cargo.toml"), "utf8");
  const program = /^\[workspace\.package\][^[]*?^version = "([^"]+)"/ms.exec(manifest)?.[1];
  if (version !== program) {
    throw new Error(
      `editors/vscode/package.json has version ${version}, Cargo.toml has ${program}: give both the same`,
    );
  }
}
