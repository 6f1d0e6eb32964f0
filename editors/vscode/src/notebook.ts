// Code for the kernel of the notebook in front: a cell at its end, so that the person sees what ran.

import * as vscode from "vscode";
import { ERRORS } from "../../protocol";
import { until } from "./background";
import { type Hub, Refusal } from "./hub";
import { refuseUntrusted } from "./introduction";

/** Below the time within which the hub expects an answer. */
const LONGEST_MS = 60_000;
const ERROR = "application/vnd.code.notebook.error";
/** Plain forms of an output. */
const FORMS = ["application/vnd.code.notebook.stdout", "application/vnd.code.notebook.stderr", ERROR, "text/plain"];

export function notebook(_context: vscode.ExtensionContext, hub: Hub): void {
  hub.answers("code/execute", async ({ code }) => {
    refuseUntrusted();
    const document = vscode.window.activeNotebookEditor?.notebook;
    if (document === undefined) {
      throw new Refusal(ERRORS.NOT_FOUND, "no notebook is in front: open one and choose its kernel");
    }
    const cell = await appendCell(document, code);
    const ranges = [{ start: cell.index, end: cell.index + 1 }];
    await vscode.commands.executeCommand("notebook.cell.execute", { ranges, document: document.uri });
    const isDone = () => cell.executionSummary?.success !== undefined;
    await until(LONGEST_MS, isDone);
    if (!isDone()) {
      throw new Refusal(ERRORS.TIMEOUT, "the cell at the notebook's end still runs, or has no kernel: look there");
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
