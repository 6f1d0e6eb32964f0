// The files of a review, which the diff editor reads and writes, and its tabs.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ReviewShow } from "../../protocol";
import { request, at, closeEverything, file, pause, setting, until } from "./harness";

const BOM = "\uFEFF";
const PROPOSED = "linkspan";
const BASE = "linkspan-base";

export function reviews(): void {
  let shown = 0;
  // The hub does not know the reviews of these tests, so its first list would remove them. An unknown review is awaited
  // until that list has arrived.
  before(() => assert.rejects(read(PROPOSED, "r900", "/nowhere"), { code: "FileNotFound" }));
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
    for (const [name, value] of [["files.encoding", "iso88591"], ["files.autoGuessEncoding", true]] as const) {
      const restore = await setting(name, value);
      const path = file("shown.ts", "const a = 1;\n");
      const { review } = await show(path, "const a = 'ä';\n", "const a = 'ö';\n");
      assert.equal(await read(BASE, review, path), `${BOM}const a = 'ä';\n`);
      assert.equal(await read(PROPOSED, review, path), `${BOM}const a = 'ö';\n`);
      const document = await vscode.workspace.openTextDocument(uriOf(PROPOSED, review, path));
      assert.deepEqual([document.getText(), document.languageId], ["const a = 'ö';\n", "typescript"]);
      await hide(review);
      await restore();
    }
  });

  it("has a byte order mark only where VS Code would misread the text without it", async () => {
    const path = file("plain.txt", "a\n");
    for (const text of ["ö\n", `${BOM}ö\n`, "a\0b\n"]) {
      const { review } = await show(path, "a\n", text);
      const wanted = text === "ö\n" ? text : BOM + text;
      assert.equal(await read(PROPOSED, review, path), wanted);
      await hide(review);
      await until("its tab is closed", () => tabOf(path) === undefined || undefined);
    }
  });

  it("shows the file itself on the left while it has the text of the base", async () => {
    const path = file("left.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const tab = await until("its tab is open", () => tabOf(path));
    assert.equal(leftOf(tab), vscode.Uri.file(path).toString());
    const other = await show(file("other.txt", "changed\n"), "a\n", "b\n");
    const base = uriOf(BASE, other.review, other.path).toString();
    await until("its tab is open", () => leftOf(tabOf(other.path)) === base || undefined);
    await hide(other.review);
    // The user changes the file: the left side stays what the agent saw.
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, at(0, 0), "mine ");
    assert.ok(await vscode.workspace.applyEdit(edit));
    const own = uriOf(BASE, review, path).toString();
    await until("the left side is the base", () => leftOf(tabOf(path)) === own || undefined);
    await until("there is one tab", () => tabsOf(path).length === 1 || undefined);
    assert.equal(await read(BASE, review, path), "a\n");
    await hide(review);
  });

  it("shows each of two changes of one file in a document of its own", async () => {
    const path = file("again.txt", "a\n");
    const first = await show(path, "a\n", "b\n");
    await until("its tab is open", () => tabOf(path));
    const second = await show(path, "a\n", "c\n");
    await until("both tabs are open", () => tabsOf(path).length === 2 || undefined);
    const texts = [await read(PROPOSED, first.review, path), await read(PROPOSED, second.review, path)];
    assert.deepEqual(texts, ["b\n", "c\n"]);
    await hide(first.review);
    await hide(second.review);
    await until("both tabs are closed", () => tabOf(path) === undefined || undefined);
  });

  it("opens a diff without taking the focus, and closes it with the review", async () => {
    const mine = await vscode.workspace.openTextDocument(vscode.Uri.file(file("mine.txt", "mine\n")));
    await vscode.window.showTextDocument(mine);
    const path = file("diff.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const tab = await until("its tab is open", () => tabOf(path));
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, mine.uri.fsPath);
    assert.match(tab.label, /diff\.txt/);
    assert.match(tab.label, /Test agent/);
    await hide(review);
    await until("its tab is closed", () => tabOf(path) === undefined || undefined);
  });

  it("leaves no tab of a change that is closed before its tab is there", async () => {
    const path = file("gone.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    await hide(review);
    await pause(1_500);
    assert.equal(tabOf(path), undefined);
  });

  it("shows a newer revision in the same tab", async () => {
    const path = file("newer.txt", "a\n");
    const first = await show(path, "a\n", "b\n");
    await until("its tab is open", () => tabOf(path));
    const document = await vscode.workspace.openTextDocument(uriOf(PROPOSED, first.review, path));
    await request("review/show", { ...first, revision: 2, proposed: "c\n" });
    await until("the new text is shown", () => document.getText() === "c\n" || undefined);
    await hide(first.review);
  });

  it("does not allow writing the base", async () => {
    const path = file("base.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const base = uriOf(BASE, review, path);
    const refused = { code: "NoPermissions" };
    await assert.rejects(async () => vscode.workspace.fs.writeFile(base, Buffer.from("mine")), refused);
    assert.equal(await read(BASE, review, path), "a\n");
    await assert.rejects(async () => vscode.workspace.fs.delete(uriOf(PROPOSED, review, path)), refused);
    await hide(review);
  });

  it("fails to save a text that the hub rejects", async () => {
    const path = file("untaken.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const proposed = uriOf(PROPOSED, review, path);
    // The hub does not know this review.
    const document = await vscode.workspace.openTextDocument(proposed);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(proposed, at(0, 0), "mine ");
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.equal(await document.save(), false);
    assert.equal(document.isDirty, true);
    assert.equal(await read(PROPOSED, review, path), "b\n");
    await hide(review);
  });

  it("keeps unsaved text when the review is closed", async () => {
    const path = file("typed.txt", "a\n");
    const { review } = await show(path, "a\n", "b\n");
    const tab = await until("its tab is open", () => tabOf(path));
    await vscode.window.showTextDocument(uriOf(PROPOSED, review, path), { viewColumn: tab.group.viewColumn });
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uriOf(PROPOSED, review, path), at(0, 0), "mine ");
    assert.ok(await vscode.workspace.applyEdit(edit));
    await hide(review);
    await pause(500);
    assert.equal(tabOf(path)?.isDirty, true);
    const isProposed = ({ uri }: vscode.TextDocument) => uri.toString() === uriOf(PROPOSED, review, path).toString();
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
    await assert.rejects(read(PROPOSED, "r999", path), { code: "FileNotFound" });
    await assert.rejects(async () => vscode.workspace.fs.stat(uriOf(BASE, "r999", path)));
  });
}

function uriOf(scheme: string, review: string, path: string): vscode.Uri {
  const shown = vscode.workspace.asRelativePath(vscode.Uri.file(path), true).replace(/^\/*/, "/");
  return vscode.Uri.from({ scheme, path: shown, query: review });
}

async function read(scheme: string, review: string, path: string): Promise<string> {
  return Buffer.from(await vscode.workspace.fs.readFile(uriOf(scheme, review, path))).toString("utf8");
}

function tabOf(path: string): vscode.Tab | undefined {
  return tabsOf(path)[0];
}

/** Those of all reviews of a file. */
function tabsOf(path: string): vscode.Tab[] {
  const wanted = uriOf(PROPOSED, "", path);
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const isWanted = ({ scheme, path: shown }: vscode.Uri): boolean => scheme === wanted.scheme && shown === wanted.path;
  return tabs.filter(({ input }) => input instanceof vscode.TabInputTextDiff && isWanted(input.modified));
}

function leftOf(tab: vscode.Tab | undefined): string | undefined {
  return tab?.input instanceof vscode.TabInputTextDiff ? tab.input.original.toString() : undefined;
}
