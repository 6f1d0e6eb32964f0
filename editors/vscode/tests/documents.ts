// Documents: which are open, what they hold, saving, closing, opening, scrolling.

import * as assert from "node:assert/strict";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import { ask, at, closeEverything, file, onDisk, show, type, until, workspace } from "./asking";

const LINES = Array.from({ length: 400 }, (_, index) => `line ${index}`).join("\n");

export function documents(): void {
  afterEach(closeEverything);

  it("lists tabs in their order, with what a person sees of them", async () => {
    const [first, second] = [file("first.json", "{}\n"), file("second.txt", "two\nlines\n")];
    await show(first);
    const editor = await show(second);
    await type(editor, at(0, 0), "un");
    editor.selection = new vscode.Selection(at(0, 2), at(0, 0));
    const { documents: listed } = await ask("documents/list", {});
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

  it("lists a document without a file by its name", async () => {
    const document = await vscode.workspace.openTextDocument({ content: "draft", language: "markdown" });
    await vscode.window.showTextDocument(document);
    const { documents: listed } = await ask("documents/list", {});
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
    const listed = await until("both are there", async () => {
      const { documents } = await ask("documents/list", {});
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

  it("gives unsaved text, and says that it is", async () => {
    const path = file("text.txt", "saved\n");
    const editor = await show(path);
    const before = await ask("document/text", { path });
    assert.deepEqual([before.open, before.dirty, before.text, before.language], [true, false, "saved\n", "plaintext"]);
    await type(editor, at(0, 0), "not ");
    const after = await ask("document/text", { path });
    assert.deepEqual([after.open, after.dirty, after.text], [true, true, "not saved\n"]);
    assert.ok((after.version ?? 0) > (before.version ?? 0));
    assert.equal(onDisk(path), "saved\n");
  });

  it("has no text of a file that is not open", async () => {
    const path = file("closed.txt", "on disk\n");
    const answer = await ask("document/text", { path });
    assert.deepEqual([answer.open, answer.dirty, answer.text], [false, false, undefined]);
  });

  it("keeps CRLF, and counts a byte order mark as no text", async () => {
    const path = file("windows.txt", "\uFEFFone\r\ntwo\r\n");
    await show(path);
    assert.equal((await ask("document/text", { path })).text, "one\r\ntwo\r\n");
  });

  it("says which documents are dirty", async () => {
    const path = file("dirty.txt", "x\n");
    assert.deepEqual(await ask("document/dirty", { path }), { open: false, dirty: false, untitled: false });
    const editor = await show(path);
    assert.deepEqual(await ask("document/dirty", { path }), { open: true, dirty: false, untitled: false });
    await type(editor, at(0, 0), "y");
    assert.deepEqual(await ask("document/dirty", { path }), { open: true, dirty: true, untitled: false });
  });

  it("saves an open document, and nothing else", async () => {
    const path = file("save.txt", "x\n");
    assert.deepEqual(await ask("document/save", { path }), { open: false, saved: false });
    await type(await show(path), at(0, 0), "y");
    assert.deepEqual(await ask("document/save", { path }), { open: true, saved: true });
    assert.equal(onDisk(path), "yx\n");
  });

  it("closes a clean document in every group", async () => {
    const path = file("close.txt", "x\n");
    await show(path);
    await show(path, { viewColumn: vscode.ViewColumn.Beside });
    assert.deepEqual(await ask("document/close", { path }), { closed: true });
    assert.deepEqual((await ask("documents/list", {})).documents, []);
  });

  it("does not close what is not saved", async () => {
    const path = file("keep.txt", "x\n");
    await type(await show(path), at(0, 0), "mine ");
    assert.deepEqual(await ask("document/close", { path }), { closed: false });
    assert.equal((await ask("document/text", { path })).text, "mine x\n");
  });

  it("opens beside the person's cursor only where it is asked to", async () => {
    const [mine, other] = [file("mine.txt", "mine\n"), file("other.txt", "other\n")];
    await show(mine);
    const quiet = await ask("document/open", { path: other, preview: false, focus: false });
    assert.deepEqual([quiet.language, quiet.lineCount], ["plaintext", 2]);
    await until("the person is where she was", () => isActive(mine) || undefined);
    await ask("document/open", { path: other, preview: false, focus: true });
    await until("the person is in the opened file", () => isActive(other) || undefined);
  });

  it("selects a range, or what stands between two texts", async () => {
    const path = file("target.txt", "fn one() {}\nfn two() {\n  body\n}\nrest\n");
    const range = { start: { line: 1, character: 3 }, end: { line: 1, character: 6 } };
    const byRange = { path, preview: false, focus: true, target: { kind: "range", range } } as const;
    assert.deepEqual((await ask("document/open", byRange)).selected, range);
    const target = { kind: "text", start: "fn two", end: "}", toEndOfLine: false } as const;
    const byText = await ask("document/open", { path, preview: false, focus: true, target });
    assert.deepEqual(byText.selected, { start: { line: 1, character: 0 }, end: { line: 3, character: 1 } });
    const toEnd = { kind: "text", start: "bo", toEndOfLine: true } as const;
    const wholeLine = await ask("document/open", { path, preview: false, focus: true, target: toEnd });
    assert.deepEqual(wholeLine.selected, { start: { line: 2, character: 2 }, end: { line: 2, character: 6 } });
    const none = { kind: "text", start: "three", toEndOfLine: false } as const;
    const missing = await ask("document/open", { path, preview: false, focus: true, target: none });
    assert.equal(missing.selected, undefined);
  });

  it("does not open what is not there", async () => {
    const path = join(workspace(), "nowhere.txt");
    await assert.rejects(ask("document/open", { path, preview: false, focus: false }), /nowhere\.txt/);
    assert.deepEqual((await ask("documents/list", {})).documents, []);
  });

  it("scrolls a visible document, and says where it is", async () => {
    const path = file("long.txt", LINES);
    const range = { start: { line: 300, character: 0 }, end: { line: 302, character: 0 } };
    assert.deepEqual(await ask("document/reveal", { path, range }), { revealed: false });
    assert.deepEqual(await ask("document/visibleRange", { path }), {});
    await show(path);
    assert.deepEqual(await ask("document/reveal", { path, range }), { revealed: true });
    const seen = await until("line 301 is on screen", async () => {
      const { range: visible } = await ask("document/visibleRange", { path });
      return visible !== undefined && visible.start.line <= 300 && visible.end.line >= 302 ? visible : undefined;
    });
    assert.ok(seen.start.line > 200);
  });
}

function isActive(path: string): boolean {
  return vscode.window.activeTextEditor?.document.uri.fsPath === path;
}
