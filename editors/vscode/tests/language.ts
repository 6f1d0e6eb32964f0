// Language features and formatting from VS Code's own TypeScript and JSON servers.

import * as assert from "node:assert/strict";
import { request, at, closeEverything, file, onDisk, show, type, until } from "./harness";

const SOURCE = "/** Adds. */\nexport function add(a: number, b: number) {\n  return a + b;\n}\n\nadd(1, add(2, 3));\n";
const CALL = { line: 5, character: 1 };

export function language(): void {
  let path: string;
  before(async function () {
    // The server starts with its first file.
    this.timeout(60_000);
    path = file("language.ts", SOURCE);
    await show(path);
    await until("the TypeScript server knows the file", async () => {
      const { contents } = await request("language/hover", { path, position: CALL });
      return contents.length > 0 || undefined;
    });
  });
  after(closeEverything);

  it("returns the hover text at a position", async () => {
    const { contents, range } = await request("language/hover", { path, position: CALL });
    assert.match(contents.join("\n"), /function add\(a: number, b: number\)/);
    assert.match(contents.join("\n"), /Adds\./);
    assert.deepEqual(range, { start: { line: 5, character: 0 }, end: { line: 5, character: 3 } });
  });

  it("returns nothing for an empty line", async () => {
    assert.deepEqual(await request("language/hover", { path, position: { line: 4, character: 0 } }), { contents: [] });
  });

  it("finds the definition", async () => {
    const { locations } = await request("language/definition", { path, position: CALL });
    assert.deepEqual(locations.map((found) => [found.path, found.range.start.line]), [[path, 1]]);
  });

  it("finds references, with and without the declaration", async () => {
    const lines = async (includeDeclaration: boolean) => {
      const { locations } = await request("language/references", { path, position: CALL, includeDeclaration });
      return locations.map(({ range }) => range.start.line).sort();
    };
    assert.deepEqual(await lines(true), [1, 5, 5]);
    assert.deepEqual(await lines(false), [5, 5]);
  });

  it("lists the symbols of a file", async () => {
    const { symbols } = await request("language/symbols", { kind: "document", path });
    const add = symbols.find(({ name }) => name === "add");
    assert.deepEqual([add?.symbolKind, add?.location.path, add?.location.range.start.line], ["function", path, 1]);
  });

  it("finds symbols of the workspace by a part of their name", async () => {
    const found = await until("the server has read all files", async () => {
      const { symbols } = await request("language/symbols", { kind: "workspace", query: "add" });
      return symbols.find((symbol) => symbol.name === "add" || symbol.name === "add()");
    });
    assert.equal(found.location.path, path);
  });

  it("returns the edits of a rename without applying them", async () => {
    const { files } = await request("language/rename", { path, position: CALL, newName: "sum" });
    assert.deepEqual(files.map((changed) => [changed.path, changed.edits.length]), [[path, 3]]);
    assert.ok(files[0]?.edits.every(({ newText }) => newText === "sum"));
    assert.equal((await request("document/text", { path })).text, SOURCE);
  });

  it("answers about a file that no tab shows", async () => {
    const hidden = file("hidden.ts", "export const hidden: number = 1;\n");
    const { symbols } = await request("language/symbols", { kind: "document", path: hidden });
    assert.deepEqual(symbols.map(({ name }) => name), ["hidden"]);
    assert.ok(!(await request("documents/list", {})).documents.some((document) => document.path === hidden));
  });

  it("returns the edits of formatting without applying them", async () => {
    const text = '{"a":1,\n"b":[1,2]}';
    const messy = file("messy.json", text);
    const editor = await show(messy);
    const edits = await until("the JSON formatter is ready", async () => {
      const answer = await request("document/format", { path: messy }).catch(() => undefined);
      return answer !== undefined && answer.edits.length > 0 ? answer.edits : undefined;
    });
    assert.equal(editor.document.getText(), text);
    assert.equal(onDisk(messy), text);
    await request("edits/apply", { path: messy, edits: { kind: "ranges", edits }, save: false });
    assert.match(editor.document.getText(), /^\{\n\s+"a": 1,\n/);
    assert.deepEqual((await request("document/format", { path: messy })).edits, []);
    await closeEverything();
  });

  it("formats only the given range", async () => {
    const messy = file("part.ts", "const a   =  1;\nconst b   =  2;\n");
    const editor = await show(messy);
    await type(editor, at(2, 0), "");
    const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 15 } };
    const edits = await until("the TypeScript formatter is ready", async () => {
      const found = (await request("document/format", { path: messy, range })).edits;
      return found.length > 0 ? found : undefined;
    });
    await request("edits/apply", { path: messy, edits: { kind: "ranges", edits }, save: false });
    assert.equal(editor.document.getText(), "const a   =  1;\nconst b = 2;\n");
  });
}
