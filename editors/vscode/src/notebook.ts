// Code for the kernel of the notebook in front: a cell at its end, so that the person sees what ran.

import * as vscode from "vscode";
import { ERRORS } from "../../protocol";
import { pause } from "./background";
import { type Hub, Refusal } from "./hub";

/** Below the time within which the hub expects an answer. */
const LONGEST_MS = 8_000;
const LOOK_MS = 50;
const STDOUT = "application/vnd.code.notebook.stdout";
const STDERR = "application/vnd.code.notebook.stderr";
const ERROR = "application/vnd.code.notebook.error";

export function notebook(_context: vscode.ExtensionContext, hub: Hub): void {
  hub.answers("code/execute", async ({ code }) => {
    const editor = vscode.window.activeNotebookEditor;
    if (editor === undefined) {
      throw new Refusal(ERRORS.NOT_FOUND, "no notebook is in front: open one and choose its kernel");
    }
    const cell = await appendCell(editor.notebook, code);
    const ranges = [{ start: cell.index, end: cell.index + 1 }];
    const uri = editor.notebook.uri;
    await vscode.commands.executeCommand("notebook.cell.execute", { ranges, document: uri, autoReveal: true });
    const deadline = Date.now() + LONGEST_MS;
    while (cell.executionSummary?.success === undefined && Date.now() < deadline) {
      await pause(LOOK_MS);
    }
    if (cell.executionSummary?.success === undefined) {
      throw new Refusal(ERRORS.TIMEOUT, "the cell still runs, or no kernel is chosen: look at the end of the notebook");
    }
    return { outputs: cell.outputs.map(textOf) };
  });
}

async function appendCell(document: vscode.NotebookDocument, code: string): Promise<vscode.NotebookCell> {
  const index = document.cellCount;
  const kin = document.getCells().findLast((cell) => cell.kind === vscode.NotebookCellKind.Code);
  const data = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, code, kin?.document.languageId ?? "python");
  const edit = new vscode.WorkspaceEdit();
  edit.set(document.uri, [vscode.NotebookEdit.insertCells(index, [data])]);
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new Refusal(ERRORS.UNSUPPORTED, "the notebook cannot be changed: it may be read-only");
  }
  return document.cellAt(index);
}

/** The plainest form an output has. */
function textOf({ items }: vscode.NotebookCellOutput): string {
  const forms = [STDOUT, STDERR, ERROR, "text/plain"].map((mime) => items.filter((item) => item.mime === mime));
  const chosen = forms.find((form) => form.length > 0) ?? [];
  const texts = chosen.map(({ mime, data }) => {
    const text = new TextDecoder().decode(data);
    return mime === ERROR ? errorText(text) : text;
  });
  return chosen.length > 0 ? texts.join("") : `[${items.map((item) => item.mime).join(", ")}]`;
}

function errorText(json: string): string {
  const error: unknown = JSON.parse(json);
  const field = (name: string): string =>
    typeof error === "object" && error !== null ? String(new Map(Object.entries(error)).get(name) ?? "") : "";
  return `${field("name")}: ${field("message")}`;
}
