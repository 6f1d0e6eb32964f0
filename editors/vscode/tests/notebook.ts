// Code in the kernel of the active notebook; the kernel is a few lines of this file.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import { request, closeEverything, file, until } from "./harness";

const EMPTY = JSON.stringify({ cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 });

export function notebook(): void {
  let kernel: vscode.NotebookController;
  before(() => {
    kernel = vscode.notebooks.createNotebookController("linkspan-test", "jupyter-notebook", "Echo");
    kernel.supportedLanguages = ["python"];
    kernel.executeHandler = async (cells) => {
      for (const cell of cells) {
        await execute(kernel, cell);
      }
    };
  });
  after(async () => {
    kernel.dispose();
    await closeEverything();
  });

  it("fails when no notebook is active", async () => {
    await closeEverything();
    await assert.rejects(request("code/execute", { code: "1" }), /notebook/i);
  });

  it("runs code in a new cell and returns its outputs as text", async () => {
    const book = await open(kernel);
    const { outputs } = await request("code/execute", { code: "print" });
    assert.deepEqual(outputs, ["you said: print", "to the error stream"]);
    assert.equal(book.cellAt(book.cellCount - 1).document.getText(), "print");
  });

  it("returns an error as an output", async () => {
    await open(kernel);
    const { outputs } = await request("code/execute", { code: "raise" });
    assert.match(outputs.join("\n"), /Trouble: raised/);
  });
}

async function open(kernel: vscode.NotebookController): Promise<vscode.NotebookDocument> {
  const uri = vscode.Uri.file(file("book.ipynb", EMPTY));
  const book = await vscode.workspace.openNotebookDocument(uri);
  await vscode.window.showNotebookDocument(book);
  const chosen = { id: kernel.id, extension: "linkspan.linkspan" };
  await vscode.commands.executeCommand("notebook.selectKernel", chosen);
  await until("the notebook is active", () => vscode.window.activeNotebookEditor?.notebook === book || undefined);
  return book;
}

async function execute(kernel: vscode.NotebookController, cell: vscode.NotebookCell): Promise<void> {
  const execution = kernel.createNotebookCellExecution(cell);
  execution.start(Date.now());
  const code = cell.document.getText();
  const item = vscode.NotebookCellOutputItem;
  const said =
    code === "raise"
      ? [item.error(new TypeError("Trouble: raised"))]
      : [item.text(`you said: ${code}`), item.stderr("to the error stream")];
  await execution.replaceOutput(said.map((one) => new vscode.NotebookCellOutput([one])));
  execution.end(code !== "raise", Date.now());
}
