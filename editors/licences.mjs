// The licences of what a bundle holds of other people's packages: they go where the code goes.

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The licence texts of the packages that these inputs of a bundle (from `folder`) belong to, each text once. */
export async function licencesOf(folder, inputs) {
  const packages = new Set(inputs.map((input) => /^node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean));
  const packagesByText = new Map();
  for (const path of [...packages].sort()) {
    const { name, version } = JSON.parse(await readFile(join(folder, path, "package.json"), "utf8"));
    const licence = (await readdir(join(folder, path))).find((file) => /^licen[cs]e/i.test(file));
    if (licence === undefined) {
      throw new Error(`${name} has no licence file`);
    }
    const text = (await readFile(join(folder, path, licence), "utf8")).trim();
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version}`]);
  }
  const parts = [...packagesByText].map(([text, names]) => `${names.join(", ")}\n\n${text}`);
  return parts.join("\n\n----\n\n");
}
