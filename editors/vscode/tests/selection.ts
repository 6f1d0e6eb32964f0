// Selections: the one there is, and the last one there was.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import { ask, at, closeEverything, file, show, until } from "./asking";

export function selection(): void {
  beforeEach(closeEverything);
  afterEach(closeEverything);

  it("gives the selection of the active document", async () => {
    const path = file("selected.txt", "ab😀cd\nef\n");
    const editor = await show(path);
    editor.selection = new vscode.Selection(at(1, 1), at(0, 1));
    const current = await until("the selection arrived", async () => {
      const now = await ask("selection/current", {});
      return now?.isEmpty === false ? now : undefined;
    });
    assert.deepEqual(current, {
      path,
      text: "b😀cd\ne",
      range: { start: { line: 0, character: 1 }, end: { line: 1, character: 1 } },
      isEmpty: false,
      reversed: true,
    });
  });

  it("tells a bare cursor from a selection", async () => {
    const path = file("cursor.txt", "abc\n");
    const editor = await show(path);
    editor.selection = new vscode.Selection(at(0, 2), at(0, 2));
    const current = await until("the cursor arrived", async () => {
      const now = await ask("selection/current", {});
      return now?.range.start.character === 2 ? now : undefined;
    });
    assert.deepEqual([current.path, current.text, current.isEmpty, current.reversed], [path, "", true, false]);
  });

  it("remembers the last one when nothing is active any more", async () => {
    const path = file("latest.txt", "remember me\n");
    const editor = await show(path);
    editor.selection = new vscode.Selection(at(0, 0), at(0, 8));
    await until("it is known", async () => (await ask("selection/latest", {}))?.text === "remember" || undefined);
    await closeEverything();
    await until("nothing is active", async () => (await ask("selection/current", {})) === null || undefined);
    const latest = await ask("selection/latest", {});
    assert.deepEqual([latest?.path, latest?.text], [path, "remember"]);
  });
}
