// The files of a review, which the diff editor reads and writes, and its tabs.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ReviewShow } from "../../protocol";
import { request, at, closeEverything, file, pause, until } from "./harness";

const BOM = "\uFEFF";

export function reviews(): void {
  let shown = 0;
  // The hub does not know the reviews of these tests, so its first list would remove them. An unknown review is awaited
  // until that list has arrived.
  before(() => assert.rejects(read("linkspan", "r900", "/nowhere"), { code: "FileNotFound" }));
  afterEach(closeEverything);

  const show = async (path: string, base: string, proposed: string): Promise<ReviewShow> => {
    shown += 1;
    const review: ReviewShow = {
      review: `r90${shown}`,
      revision: 1,
      digest: `r90${shown} as shown`,
      window: "w1",
      agent: "Test agent",
      dialect: "linkspan",
      path,
      label: "a change",
      newFile: false,
      base,
      proposed,
      encoding: "UTF-8",
      hunks: [{ id: "h1", beforeStart: 0, beforeCount: 1, afterStart: 0, afterCount: 1, words: [] }],
      conflicts: [],
      focus: false,
      omitted: false,
      inline: false,
      agentWrites: false,
      ownerGone: false,
    };
    assert.equal(await request("review/show", review), null);
    return review;
  };

  const hide = (review: string) => request("review/hide", { review, reason: { kind: "withdrawn" } });

  it("has both texts, whatever the encoding setting", async () => {
    const path = file("shown.ts", "const a = 1;\n");
    const { review } = await show(path, "const a = 'ä';\n", "const a = 'ö';\n");
    assert.equal(await read("linkspan-base", review, path), `${BOM}const a = 'ä';\n`);
    assert.equal(await read("linkspan", review, path), `${BOM}const a = 'ö';\n`);
    const document = await vscode.workspace.openTextDocument(uriOf("linkspan", review, path));
    assert.deepEqual([document.getText(), document.languageId], ["const a = 'ö';\n", "typescript"]);
    await hide(review);
  });

  it("opens a diff without taking the focus, and closes it with the review", async () => {
    const mine = await vscode.workspace.openTextDocument(vscode.Uri.file(file("mine.txt", "mine\n")));
    await vscode.window.showTextDocument(mine);
    const path = file("diff.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const tab = await until("its tab is open", () => tabOf(review, path));
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, mine.uri.fsPath);
    assert.match(tab.label, /diff\.txt/);
    assert.match(tab.label, /Test agent/);
    await hide(review);
    await until("its tab is closed", () => tabOf(review, path) === undefined || undefined);
  });

  it("shows a newer revision in the same tab", async () => {
    const path = file("newer.txt", "a\n");
    const first = await show(path, "a\n", "b\n");
    await until("its tab is open", () => tabOf(first.review, path));
    const document = await vscode.workspace.openTextDocument(uriOf("linkspan", first.review, path));
    await request("review/show", { ...first, revision: 2, proposed: "c\n" });
    await until("the new text is shown", () => document.getText() === "c\n" || undefined);
    await hide(first.review);
  });

  it("does not allow writing the base", async () => {
    const path = file("base.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const base = uriOf("linkspan-base", review, path);
    const refused = { code: "NoPermissions" };
    await assert.rejects(async () => vscode.workspace.fs.writeFile(base, Buffer.from("mine")), refused);
    assert.equal(await read("linkspan-base", review, path), `${BOM}a\n`);
    await assert.rejects(async () => vscode.workspace.fs.delete(uriOf("linkspan", review, path)), refused);
    await hide(review);
  });

  it("fails to save a text that the hub rejects", async () => {
    const path = file("untaken.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const proposed = uriOf("linkspan", review, path);
    // The hub does not know this review.
    const document = await vscode.workspace.openTextDocument(proposed);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(proposed, at(0, 0), "mine ");
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.equal(await document.save(), false);
    assert.equal(document.isDirty, true);
    assert.equal(await read("linkspan", review, path), `${BOM}b\n`);
    await hide(review);
  });

  it("keeps unsaved text when the review is closed", async () => {
    const path = file("typed.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const tab = await until("its tab is open", () => tabOf(review, path));
    await vscode.window.showTextDocument(uriOf("linkspan", review, path), { viewColumn: tab.group.viewColumn });
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uriOf("linkspan", review, path), at(0, 0), "mine ");
    assert.ok(await vscode.workspace.applyEdit(edit));
    await hide(review);
    await pause(500);
    assert.equal(tabOf(review, path)?.isDirty, true);
    const isProposed = ({ uri }: vscode.TextDocument) => uri.toString() === uriOf("linkspan", review, path).toString();
    assert.equal(vscode.workspace.textDocuments.find(isProposed)?.getText(), "mine b\n");
  });

  it("accepts changes of the agent's state, even for a closed review", async () => {
    const { review } = await show(file("waits.txt", "a\n"), "a\n", "b\n");
    assert.equal(await request("review/waiting", { review, ownerGone: true }), null);
    assert.equal(await request("review/waiting", { review, ownerGone: false }), null);
    await hide(review);
    assert.equal(await request("review/waiting", { review, ownerGone: true }), null);
  });

  it("has no file for a review that the hub does not know", async () => {
    const path = file("unknown.txt", "a\n");
    await assert.rejects(read("linkspan", "r999", path), { code: "FileNotFound" });
    await assert.rejects(async () => vscode.workspace.fs.stat(uriOf("linkspan-base", "r999", path)));
  });
}

function uriOf(scheme: string, review: string, path: string): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${review}${path}` });
}

async function read(scheme: string, review: string, path: string): Promise<string> {
  return Buffer.from(await vscode.workspace.fs.readFile(uriOf(scheme, review, path))).toString("utf8");
}

function tabOf(review: string, path: string): vscode.Tab | undefined {
  const wanted = uriOf("linkspan", review, path).toString();
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.find(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.toString() === wanted);
}
