// Runs code in the kernel of the active notebook: in a new cell at its end, where the user sees what ran.

import * as vscode from "vscode";
import { ERRORS } from "../../protocol";
import { until } from "./promises";
import { type Hub, Refusal } from "./hub";
import { refuseUntrusted } from "./attach_params";

/** Below the hub's own time limit for the response. */
const LONGEST_MS = 60_000;
const ERROR = "application/vnd.code.notebook.error";
/** Output types that are plain text. */
const FORMS = ["application/vnd.code.notebook.stdout", "application/vnd.code.notebook.stderr", ERROR, "text/plain"];

export function notebook(_context: vscode.ExtensionContext, hub: Hub): void {
  hub.onRequest("code/execute", async ({ code }) => {
    refuseUntrusted();
    const document = vscode.window.activeNotebookEditor?.notebook;
    if (document === undefined) {
      throw new Refusal(ERRORS.NOT_FOUND, "no notebook is active: open one and choose its kernel");
    }
    const cell = await appendCell(document, code);
    const ranges = [{ start: cell.index, end: cell.index + 1 }];
    await vscode.commands.executeCommand("notebook.cell.execute", { ranges, document: document.uri });
    const isDone = () => cell.executionSummary?.success !== undefined;
    await until(LONGEST_MS, isDone);
    if (!isDone()) {
      throw new Refusal(ERRORS.TIMEOUT, "the last cell of the notebook is still running, or has no kernel; see the notebook");
    }
    return { outputs: cell.outputs.map(textOf) };
  });
}

async function appendCell(document: vscode.NotebookDocument, code: string): Promise<vscode.NotebookCell> {
  const index = document.cellCount;
  const lastCode = document.getCells().findLast((cell) => cell.kind === vscode.NotebookCellKind.Code);
  const data = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, code, lastCode?.document.languageId ?? "python");
  const edit = new vscode.WorkspaceEdit();
  edit.set(document.uri, [vscode.NotebookEdit.insertCells(index, [data])]);
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new Refusal(ERRORS.UNSUPPORTED, "the notebook cannot be changed: it may be read-only");
  }
  return document.cellAt(index);
}

function textOf({ items }: vscode.NotebookCellOutput): string {
  const form = FORMS.find((mime) => items.some((item) => item.mime === mime));
  const texts = items.filter((item) => item.mime === form).map(({ data }) => new TextDecoder().decode(data));
  if (form === undefined) {
    return `[${items.map((item) => item.mime).join(", ")}]`;
  }
  return form === ERROR ? texts.map(errorText).join("\n") : texts.join("");
}

function errorText(json: string): string {
  const error: unknown = JSON.parse(json);
  const fields = new Map<string, unknown>(Object.entries(error ?? {}));
  return `${String(fields.get("name"))}: ${String(fields.get("message"))}`;
}
