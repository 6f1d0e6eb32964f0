// Edits from the hub: exact to the byte, one undo step, saved with the editor's own save actions, and only on the version
// they are made for.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import { request, at, closeEverything, file, onDisk, setting, show, type, until } from "./harness";

export function edits(): void {
  afterEach(closeEverything);

  const whole = (path: string, text: string, save = true) =>
    request("edits/apply", { path, edits: { kind: "text", text }, save });

  it("replaces the whole text, saves it, and one undo restores it", async () => {
    const path = file("whole.txt", "one\ntwo\nthree\nfour\n");
    const { document } = await show(path);
    const result = await whole(path, "one\n2\nthree\n4\nfive\n");
    assert.deepEqual([result.applied, result.saved, result.version, result.text], [true, true, document.version, undefined]);
    assert.equal(onDisk(path), "one\n2\nthree\n4\nfive\n");
    await vscode.commands.executeCommand("undo");
    await until("the old text is back", () => document.getText() === "one\ntwo\nthree\nfour\n" || undefined);
  });

  it("leaves what is between two places unchanged: the cursor stays on its word, and one undo takes both back", async () => {
    const path = file("cursor.txt", "head\nmiddle\ntail\n");
    const editor = await show(path);
    const { document } = editor;
    editor.selection = new vscode.Selection(at(1, 1), at(1, 5));
    const places = [
      { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, newText: "new\n" },
      { range: { start: { line: 2, character: 0 }, end: { line: 3, character: 0 } }, newText: "" },
    ];
    const edits = { kind: "ranges", edits: places } as const;
    const result = await request("edits/apply", { path, version: document.version, edits, save: true });
    assert.deepEqual([result.applied, result.saved, result.text], [true, true, undefined]);
    assert.equal(onDisk(path), "new\nhead\nmiddle\n");
    await until("the selection moved along", () => editor.selection.start.line === 2 || undefined);
    assert.equal(document.getText(editor.selection), "iddl");
    await vscode.commands.executeCommand("undo");
    await until("the old text is back", () => document.getText() === "head\nmiddle\ntail\n" || undefined);
  });

  for (const [what, before, after] of [
    ["inside a pair of surrogates", "a😀b\n", "a😁b\n"],
    ["between CR and LF", "a\r\nb\r\n", "a\r\n\r\nb\r\n"],
    ["to nothing", "a\nb\n", ""],
    ["from nothing", "", "a\nb"],
    ["in the last line without an end", "a\nb", "a\nbc"],
    ["of a repeated line", "x\nx\nx\n", "x\nx\n"],
  ] as const) {
    it(`is exact where texts differ ${what}`, async () => {
      const path = file("exact.txt", before);
      await show(path);
      assert.equal((await whole(path, after)).applied, true);
      assert.equal(onDisk(path), after);
    });
  }

  it("keeps CRLF on disk and a byte order mark in front", async () => {
    const path = file("windows.txt", "\uFEFFone\r\ntwo\r\n");
    await show(path);
    const result = await whole(path, "one\r\nzwei\r\n");
    assert.deepEqual([result.applied, result.saved, result.text], [true, true, undefined]);
    assert.equal(onDisk(path), "\uFEFFone\r\nzwei\r\n");
  });

  it("does not change a document with a newer version", async () => {
    const path = file("moved.txt", "old\n");
    const editor = await show(path);
    const { version } = editor.document;
    await type(editor, at(0, 0), "mine ");
    const result = await request("edits/apply", { path, version, edits: { kind: "text", text: "new\n" }, save: true });
    assert.deepEqual([result.applied, result.saved], [false, false]);
    assert.equal(editor.document.getText(), "mine old\n");
    assert.equal(onDisk(path), "old\n");
  });

  it("saves only on request", async () => {
    const path = file("unsaved.txt", "old\n");
    const { document } = await show(path);
    const result = await whole(path, "new\n", false);
    assert.deepEqual([result.applied, result.saved, document.isDirty], [true, false, true]);
    assert.equal(onDisk(path), "old\n");
  });

  it("changes single ranges, all of them positions in the old text", async () => {
    const path = file("ranges.txt", "one\ntwo\nthree\n");
    await show(path);
    const range = (line: number, start: number, end: number) => ({
      start: { line, character: start },
      end: { line, character: end },
    });
    const changes = [
      { range: range(0, 0, 3), newText: "1\n1.5" },
      { range: range(2, 0, 5), newText: "3" },
    ];
    const result = await request("edits/apply", { path, edits: { kind: "ranges", edits: changes }, save: true });
    assert.deepEqual([result.applied, result.saved], [true, true]);
    assert.equal(onDisk(path), "1\n1.5\ntwo\n3\n");
  });

  it("does not touch a file that is not open", async () => {
    const path = file("closed.txt", "old\n");
    assert.equal((await whole(path, "new\n")).applied, false);
    assert.equal(onDisk(path), "old\n");
  });

  it("returns the text after the editor's own save actions", async () => {
    const path = file("trim.txt", "old\n");
    const { document } = await show(path);
    const restore = await setting("files.trimTrailingWhitespace", true);
    try {
      const result = await whole(path, "first  \nnew\t\n");
      assert.deepEqual([result.applied, result.saved], [true, true]);
      assert.equal(result.text, "first\nnew\n");
      assert.equal(onDisk(path), "first\nnew\n");
      assert.equal(result.version, document.version);
    } finally {
      await restore();
    }
  });

  it("changes a document in the background without opening a tab or moving the focus", async () => {
    const [mine, other] = [file("mine.txt", "mine\n"), file("other.txt", "old\n")];
    await show(other);
    await show(mine);
    await whole(other, "new\n");
    assert.equal(onDisk(other), "new\n");
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, mine);
    assert.equal(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).length, 2);
  });
}
