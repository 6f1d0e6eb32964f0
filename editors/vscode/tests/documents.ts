// Documents: listing, reading, saving, closing, opening, scrolling.

import * as assert from "node:assert/strict";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import { request, at, closeEverything, file, onDisk, show, type, until, workspace } from "./harness";

const LINES = Array.from({ length: 400 }, (_, index) => `line ${index}`).join("\n");

export function documents(): void {
  afterEach(closeEverything);

  it("lists tabs in order, with their visible state", async () => {
    const [first, second] = [file("first.json", "{}\n"), file("second.txt", "two\nlines\n")];
    await show(first);
    const editor = await show(second);
    await type(editor, at(0, 0), "un");
    editor.selection = new vscode.Selection(at(0, 2), at(0, 0));
    const { documents: listed } = await request("documents/list", {});
    assert.deepEqual(
      listed.map(({ path, active, dirty, untitled, pinned, preview, language, lineCount }) => [
        path, active, dirty, untitled, pinned, preview, language, lineCount,
      ]),
      [
        [first, false, false, false, false, false, "json", 2],
        [second, true, true, false, false, false, "plaintext", 3],
      ],
    );
    assert.equal(listed[1]?.label, basename(second));
    assert.equal(listed[1].groupIndex, 0);
    assert.equal(listed[1].groupActive, true);
    assert.deepEqual(listed[1].selection, {
      range: { start: { line: 0, character: 0 }, end: { line: 0, character: 2 } },
      reversed: true,
    });
  });

  it("lists an untitled document by its name", async () => {
    const document = await vscode.workspace.openTextDocument({ content: "draft", language: "markdown" });
    await vscode.window.showTextDocument(document);
    const { documents: listed } = await request("documents/list", {});
    assert.deepEqual(
      listed.map(({ untitled, dirty, language }) => ({ untitled, dirty, language })),
      [{ untitled: true, dirty: true, language: "markdown" }],
    );
  });

  it("lists both groups of a split editor", async () => {
    const [left, right] = [file("left.txt", "l"), file("right.txt", "r")];
    await show(left);
    await show(right, { viewColumn: vscode.ViewColumn.Beside });
    // The window arranges its groups a moment after the editor is shown.
    const listed = await until("both are listed", async () => {
      const { documents } = await request("documents/list", {});
      return documents.some(({ groupIndex }) => groupIndex === 1) ? documents : undefined;
    });
    assert.deepEqual(
      listed.map(({ path, groupIndex, groupActive, viewColumn }) => [path, groupIndex, groupActive, viewColumn]),
      [
        [left, 0, false, 1],
        [right, 1, true, 2],
      ],
    );
  });

  it("returns unsaved text and its dirty state", async () => {
    const path = file("text.txt", "saved\n");
    const editor = await show(path);
    const before = await request("document/text", { path });
    assert.deepEqual([before.open, before.dirty, before.text, before.language], [true, false, "saved\n", "plaintext"]);
    await type(editor, at(0, 0), "not ");
    const after = await request("document/text", { path });
    assert.deepEqual([after.open, after.dirty, after.text], [true, true, "not saved\n"]);
    assert.ok((after.version ?? 0) > (before.version ?? 0));
    assert.equal(onDisk(path), "saved\n");
  });

  it("returns no text for a file that is not open", async () => {
    const path = file("closed.txt", "on disk\n");
    const answer = await request("document/text", { path });
    assert.deepEqual([answer.open, answer.dirty, answer.text], [false, false, undefined]);
  });

  it("keeps CRLF, and leaves out a byte order mark", async () => {
    const path = file("windows.txt", "\uFEFFone\r\ntwo\r\n");
    await show(path);
    assert.equal((await request("document/text", { path })).text, "one\r\ntwo\r\n");
  });

  it("reports which documents are dirty", async () => {
    const path = file("dirty.txt", "x\n");
    assert.deepEqual(await request("document/dirty", { path }), { open: false, dirty: false, untitled: false });
    const editor = await show(path);
    assert.deepEqual(await request("document/dirty", { path }), { open: true, dirty: false, untitled: false });
    await type(editor, at(0, 0), "y");
    assert.deepEqual(await request("document/dirty", { path }), { open: true, dirty: true, untitled: false });
  });

  it("saves only open documents", async () => {
    const path = file("save.txt", "x\n");
    assert.deepEqual(await request("document/save", { path }), { open: false, saved: false });
    await type(await show(path), at(0, 0), "y");
    assert.deepEqual(await request("document/save", { path }), { open: true, saved: true });
    assert.equal(onDisk(path), "yx\n");
  });

  it("closes a clean document in every group", async () => {
    const path = file("close.txt", "x\n");
    await show(path);
    await show(path, { viewColumn: vscode.ViewColumn.Beside });
    assert.deepEqual(await request("document/close", { path }), { closed: true });
    assert.deepEqual((await request("documents/list", {})).documents, []);
  });

  it("does not close an unsaved document", async () => {
    const path = file("keep.txt", "x\n");
    await type(await show(path), at(0, 0), "mine ");
    assert.deepEqual(await request("document/close", { path }), { closed: false });
    assert.equal((await request("document/text", { path })).text, "mine x\n");
  });

  it("takes the focus only on request", async () => {
    const [mine, other] = [file("mine.txt", "mine\n"), file("other.txt", "other\n")];
    await show(mine);
    const quiet = await request("document/open", { path: other, preview: false, focus: false });
    assert.deepEqual([quiet.language, quiet.lineCount], ["plaintext", 2]);
    await until("the focus is still in the user's file", () => isActive(mine) || undefined);
    await request("document/open", { path: other, preview: false, focus: true });
    await until("the focus is in the opened file", () => isActive(other) || undefined);
  });

  it("selects a range, or the text between two strings", async () => {
    const path = file("target.txt", "fn one() {}\nfn two() {\n  body\n}\nrest\n");
    const range = { start: { line: 1, character: 3 }, end: { line: 1, character: 6 } };
    const byRange = { path, preview: false, focus: true, target: { kind: "range", range } } as const;
    assert.deepEqual((await request("document/open", byRange)).selected, range);
    const target = { kind: "text", start: "fn two", end: "}", toEndOfLine: false } as const;
    const byText = await request("document/open", { path, preview: false, focus: true, target });
    assert.deepEqual(byText.selected, { start: { line: 1, character: 0 }, end: { line: 3, character: 1 } });
    const toEnd = { kind: "text", start: "bo", toEndOfLine: true } as const;
    const wholeLine = await request("document/open", { path, preview: false, focus: true, target: toEnd });
    assert.deepEqual(wholeLine.selected, { start: { line: 2, character: 2 }, end: { line: 2, character: 6 } });
    const none = { kind: "text", start: "three", toEndOfLine: false } as const;
    const missing = await request("document/open", { path, preview: false, focus: true, target: none });
    assert.equal(missing.selected, undefined);
  });

  it("does not open a missing file", async () => {
    const path = join(workspace(), "nowhere.txt");
    await assert.rejects(request("document/open", { path, preview: false, focus: false }), /nowhere\.txt/);
    assert.deepEqual((await request("documents/list", {})).documents, []);
  });

  it("scrolls a visible document, and reports the visible range", async () => {
    const path = file("long.txt", LINES);
    const range = { start: { line: 300, character: 0 }, end: { line: 302, character: 0 } };
    assert.deepEqual(await request("document/reveal", { path, range }), { revealed: false });
    assert.deepEqual(await request("document/visibleRange", { path }), {});
    await show(path);
    assert.deepEqual(await request("document/reveal", { path, range }), { revealed: true });
    const seen = await until("line 301 is on screen", async () => {
      const { range: visible } = await request("document/visibleRange", { path });
      return visible !== undefined && visible.start.line <= 300 && visible.end.line >= 302 ? visible : undefined;
    });
    assert.ok(seen.start.line > 200);
  });
}

function isActive(path: string): boolean {
  return vscode.window.activeTextEditor?.document.uri.fsPath === path;
}
