// Selections: the current and the latest.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import { request, at, closeEverything, file, show, until } from "./harness";

export function selection(): void {
  beforeEach(closeEverything);
  afterEach(closeEverything);

  it("returns the selection of the active document", async () => {
    const path = file("selected.txt", "ab😀cd\nef\n");
    const editor = await show(path);
    editor.selection = new vscode.Selection(at(1, 1), at(0, 1));
    const current = await until("the selection arrived", async () => {
      const now = await request("selection/current", {});
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

  it("distinguishes a cursor from a selection", async () => {
    const path = file("cursor.txt", "abc\n");
    const editor = await show(path);
    editor.selection = new vscode.Selection(at(0, 2), at(0, 2));
    const current = await until("the cursor arrived", async () => {
      const now = await request("selection/current", {});
      return now?.range.start.character === 2 ? now : undefined;
    });
    assert.deepEqual([current.path, current.text, current.isEmpty, current.reversed], [path, "", true, false]);
  });

  it("remembers the latest one when no editor is active", async () => {
    const path = file("latest.txt", "remember me\n");
    const editor = await show(path);
    editor.selection = new vscode.Selection(at(0, 0), at(0, 8));
    await until("it is known", async () => (await request("selection/latest", {}))?.text === "remember" || undefined);
    await closeEverything();
    await until("nothing is active", async () => (await request("selection/current", {})) === null || undefined);
    const latest = await request("selection/latest", {});
    assert.deepEqual([latest?.path, latest?.text], [path, "remember"]);
  });
}
