// Diagnostics of a file, and whether they are about the current text.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import { request, at, closeEverything, file, pause, show, type } from "./harness";

export function diagnostics(): void {
  let server: vscode.DiagnosticCollection;
  beforeEach(() => {
    server = vscode.languages.createDiagnosticCollection("linkspan-test");
  });
  afterEach(async () => {
    server.dispose();
    await closeEverything();
  });

  const report = (path: string, ...found: vscode.Diagnostic[]) => server.set(vscode.Uri.file(path), found);
  const one = async (path: string, waitMs?: number) => {
    const { files } = await request("diagnostics/get", waitMs === undefined ? { path } : { path, waitMs });
    assert.equal(files.length, 1);
    assert.equal(files[0]?.path, path);
    return files[0];
  };

  it("returns them in file order, with all fields", async () => {
    const path = file("known.txt", "one\ntwo\n");
    await show(path);
    const late = diagnostic("late", 1, vscode.DiagnosticSeverity.Hint);
    const early = diagnostic("early", 0, vscode.DiagnosticSeverity.Error);
    early.source = "test";
    early.code = { value: "E1", target: vscode.Uri.parse("https://example.org/E1") };
    report(path, late, early);
    const found = await one(path);
    assert.deepEqual(found.diagnostics, [
      {
        message: "early",
        severity: "error",
        range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } },
        source: "test",
        code: "E1",
      },
      {
        message: "late",
        severity: "hint",
        range: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } },
      },
    ]);
  });

  it("returns a requested file without any, and otherwise lists only files with some", async () => {
    const [good, bad] = [file("good.txt", "x\n"), file("bad.txt", "x\n")];
    await show(good);
    await show(bad);
    report(bad, diagnostic("wrong", 0));
    assert.deepEqual((await one(good)).diagnostics, []);
    const { files } = await request("diagnostics/get", {});
    const paths = files.map(({ path }) => path);
    assert.ok(paths.includes(bad));
    assert.ok(!paths.includes(good));
  });

  it("waits for diagnostics of the new text, and returns its version", async () => {
    const path = file("settles.txt", "x\n");
    const editor = await show(path);
    report(path, diagnostic("old", 0));
    await type(editor, at(0, 0), "y");
    const answer = one(path, 5_000);
    await pause(200);
    report(path, diagnostic("new", 0));
    const found = await answer;
    assert.deepEqual(found.diagnostics.map(({ message }) => message), ["new"]);
    assert.deepEqual([found.settled, found.version], [true, editor.document.version]);
  });

  it("is not settled when nothing arrives in time", async () => {
    const path = file("silent.txt", "x\n");
    const editor = await show(path);
    report(path, diagnostic("old", 0));
    await pause(1_500);
    await type(editor, at(0, 0), "y");
    const started = Date.now();
    const found = await one(path, 400);
    assert.ok(Date.now() - started < 3_000);
    assert.equal(found.settled, false);
  });

  it("does not return diagnostics of the old text for the new one", async () => {
    const path = file("moves.txt", "x\n");
    const editor = await show(path);
    report(path, diagnostic("first", 0));
    await type(editor, at(0, 0), "y");
    const answer = one(path, 5_000);
    await pause(100);
    report(path, diagnostic("second", 0));
    await type(editor, at(0, 0), "z");
    await pause(100);
    report(path, diagnostic("third", 0));
    const found = await answer;
    assert.deepEqual(found.diagnostics.map(({ message }) => message), ["third"]);
    assert.equal(found.version, editor.document.version);
  });
}

function diagnostic(
  message: string,
  line: number,
  severity: vscode.DiagnosticSeverity = vscode.DiagnosticSeverity.Warning,
): vscode.Diagnostic {
  return new vscode.Diagnostic(new vscode.Range(at(line, 0), at(line, 3)), message, severity);
}
