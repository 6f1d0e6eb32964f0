// Makes the VSIX: `npm run package -- [--target T] [--binary PATH] [--out FILE]`. There is one for each platform, with the
// program for that platform inside. Defaults: this machine's platform, and the release build of this repository.

import { chmod, copyFile, mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { execFileSync } from "node:child_process";
import { createVSIX } from "@vscode/vsce";
import { platformOf } from "./platform.mjs";

/** VS Code's names of platforms, and the programs that run on each. */
const TARGETS = {
  "linux-x64": ["linux x64", "linux-static x64"],
  "linux-arm64": ["linux arm64", "linux-static arm64"],
  "alpine-x64": ["linux-static x64"],
  "alpine-arm64": ["linux-static arm64"],
  "darwin-x64": ["darwin x64", "darwin universal"],
  "darwin-arm64": ["darwin arm64", "darwin universal"],
};

const here = dirname(fileURLToPath(import.meta.url));

try {
  await pack();
} catch (error) {
  process.stderr.write(`No VSIX was made: ${error.message}\n`);
  process.exitCode = 1;
}

async function pack() {
  const { values } = parseArgs({
    options: { target: { type: "string" }, binary: { type: "string" }, out: { type: "string" } },
  });
  const target = values.target ?? `${process.platform}-${process.arch}`;
  if (!(target in TARGETS)) {
    throw new Error(`there is no target ${target}; give one of ${Object.keys(TARGETS).join(", ")} with --target`);
  }
  const binary = resolve(values.binary ?? join(here, "../../target", rustTarget(target), "release/linkspan"));
  await checkBinary(binary, target);

  execFileSync(process.execPath, ["build.mjs"], { cwd: here, stdio: ["ignore", "inherit", "inherit"] });
  await rm(join(here, "bin"), { recursive: true, force: true });
  await mkdir(join(here, "bin"));
  await copyFile(binary, join(here, "bin/linkspan"));
  await chmod(join(here, "bin/linkspan"), 0o755);
  const licences = ["LICENSE-MIT", "LICENSE-APACHE"].map((name) => readFile(join(here, "../..", name), "utf8"));
  const choice = "Linkspan is licensed under the MIT License or the Apache License 2.0, at your option.";
  await writeFile(join(here, "LICENSE"), [choice, ...(await Promise.all(licences))].join("\n\n----\n\n"));

  const { version } = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
  const out = resolve(values.out ?? join(here, `linkspan-${target}-${version}.vsix`));
  await createVSIX({ cwd: here, target, packagePath: out, dependencies: false, allowMissingRepository: true });
  process.stdout.write(`${relative(process.cwd(), out)}\n`);
}

/** Rust's name of the platform. */
function rustTarget(target) {
  const [system, machine] = target.split("-");
  const processor = machine === "arm64" ? "aarch64" : "x86_64";
  return `${processor}-${system === "darwin" ? "apple-darwin" : "unknown-linux-gnu"}`;
}

async function checkBinary(binary, target) {
  const remedy = "build it with `cargo build --release`, or pass another with --binary";
  let file;
  try {
    file = await open(binary);
  } catch (error) {
    throw new Error(`the program ${binary} cannot be read (${error.code}); ${remedy}`);
  }
  try {
    const head = Buffer.alloc(4096);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const found = platformOf(head.subarray(0, bytesRead));
    if (!TARGETS[target].includes(found)) {
      const platform = found ?? "an unknown kind of file";
      throw new Error(`${binary} is ${platform}, but ${target} needs ${TARGETS[target].join(" or ")}; ${remedy}`);
    }
  } finally {
    await file.close();
  }
}
