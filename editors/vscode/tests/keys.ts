// The keys that the walkthrough names are those that the extension binds, and none is left out.

import * as assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";

interface Binding {
  key: string;
  mac: string;
}

export function keys(): void {
  it("are in the walkthrough as they are bound", () => {
    const extension = vscode.extensions.getExtension("linkspan.linkspan");
    assert.ok(extension !== undefined);
    const { contributes } = extension.packageJSON as { contributes: { keybindings: Binding[] } };
    const bound = contributes.keybindings.map(({ key, mac }) => `${key} | ${mac}`);
    const folder = join(extension.extensionPath, "media/walkthrough");
    const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
    // The last two cells of a row.
    const rows = text.matchAll(/\| ([^|\n]*\+[^|\n]*|[^|\n]* [A-Z]) \| ([^|\n]*(?:Ctrl|Cmd)\+[^|\n]*) \|$/gm);
    const named = [...rows].map(([, key, mac]) => `${key?.toLowerCase()} | ${mac?.toLowerCase()}`).sort();
    assert.deepEqual(named, [...new Set(bound)].sort());
  });
}
